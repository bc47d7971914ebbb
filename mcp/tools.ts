import { isReading } from '../api/http/authentication.ts';
import type { Caller } from '../operations/asked.ts';
import { SUBSETS, type Subset, type Tool } from './tool.ts';
import { accountTools } from './tools/account.ts';
import { contactTools } from './tools/contacts.ts';
import { reportTools } from './tools/reports.ts';
import { smsTools } from './tools/sms.ts';

/** All tools, in the order in which they are listed (v2.3.0, What the service does). */
export const tools: readonly Tool[] = [...smsTools, ...accountTools, ...contactTools, ...reportTools];

/** The tools of a path: all of `/mcp`, or of the subset it names. */
export function toolsAt(path: string): readonly Tool[] {
  const subset = SUBSETS.find((name) => path === `/mcp/${name}`);
  return subset === undefined ? tools : tools.filter(({ subsets }) => hasSubset(subsets, subset));
}

const hasSubset = (subsets: readonly Subset[], subset: Subset): boolean => subsets.includes(subset);

/** Whether the key may use the tool: what it may not is not listed. */
export function mayUse({ scopes, readOnly }: Caller, { endpoint }: Tool): boolean {
  if (endpoint.scope !== null && !scopes.includes(endpoint.scope)) return false;
  return !readOnly || isReading(endpoint);
}
