import { denialReason } from '../api/http/authentication.ts';
import type { Endpoint } from '../api/http/endpoint.ts';
import type { Caller } from '../operations/context.ts';
import { SUBSETS, type Tool } from './tool.ts';
import { accountTools, reportTools } from './tools/account.ts';
import { contactTools } from './tools/contacts.ts';
import { smsTools } from './tools/sms.ts';

/** All tools in the order of listing (v2.3.0, What the service does). */
export const tools: readonly Tool[] = [...smsTools, ...accountTools, ...contactTools, ...reportTools];

/** The tools of a path: all of `/mcp`, or of a subset. */
export function toolsAt(path: string): readonly Tool[] {
  const subset = SUBSETS.find((name) => path === `/mcp/${name}`);
  return subset === undefined ? tools : tools.filter(({ subsets }) => subsets.includes(subset));
}

/** Whether the key may use a tool or resource; others are not listed. */
export function mayUse(caller: Caller, { endpoint }: { endpoint: Endpoint }): boolean {
  return denialReason(endpoint, caller) === null;
}
