import {
  type AccountSettings,
  activeSenders,
  isActiveSender,
  readAccount,
  changeSettings as store,
} from '../db/accounts/accounts.ts';
import { KeywordUnavailableError } from '../db/accounts/keywords.ts';
import type { Sql } from '../db/connection.ts';
import { restrictionOf } from '../domain/keywords.ts';
import { Refused } from '../domain/refusals.ts';
import { parseSendWindow } from '../domain/sendWindow.ts';
import type { OperationContext } from './context.ts';
import { ChangesTooManyError } from '../db/accounts/audit.ts';

const UNAVAILABLE = {
  taken: 'prefix_taken',
  resting: 'prefix_resting',
  too_many: 'prefix_changes',
} as const satisfies Record<KeywordUnavailableError['why'], string>;

/**
 * Changes an account's settings (v2.3.0, Account and senders; the confirmation thresholds of MCP tools are our addition). Undefined leaves
 * a setting, null clears it.
 * @throws Refused for invalid or no settings and for too many changes in a day; nothing is changed then
 */
export async function changeSettings({
  services: { sql, settings: installation },
  caller,
  input: settings,
}: OperationContext<AccountSettings>): Promise<void> {
  if (Object.values(settings).every((value) => value === undefined))
    throw new Refused({ reason: 'settings_empty' });
  refuseAbove(settings.toolConfirmRecipients, installation.MCP_CONFIRM_RECIPIENTS, 'tool_confirm_recipients');
  refuseAbove(settings.toolConfirmGrosze, installation.MCP_CONFIRM_GROSZE, 'tool_confirm_grosze');
  await requireUsable(sql, caller.accountId, settings);
  try {
    await store(sql, caller, settings, refuseGuarded);
  } catch (error) {
    if (error instanceof KeywordUnavailableError) throw unavailable(UNAVAILABLE[error.why]);
    throw changesRefusal(error) ?? error;
  }
}

/** Checks that a default sender is active and a send window parses. @throws Refused */
export async function requireUsable(
  sql: Sql,
  accountId: string,
  { senderName: sender, sendWindow: window }: Pick<AccountSettings, 'senderName' | 'sendWindow'>,
): Promise<void> {
  if (typeof sender === 'string' && !(await isActiveSender(sql, accountId, sender))) {
    throw new Refused({ reason: 'sender_inactive', sender }, 'sender_name');
  }
  if (typeof window === 'string' && parseSendWindow(window) === null) {
    throw new Refused({ reason: 'window_malformed', field: 'send_window' }, 'send_window');
  }
}

// An account may only be stricter than the installation.
function refuseAbove(given: number | null | undefined, max: number, field: string): void {
  if (typeof given === 'number' && given > max)
    throw new Refused({ reason: 'number_out_of_range', field, min: 0, max }, field);
}

/** Opt-out words are reserved; everyday words need staff approval. */
function refuseGuarded(keyword: string, allowed: boolean): void {
  const guard = restrictionOf(keyword);
  if (guard === 'opt_out') throw unavailable('prefix_reserved');
  if (guard === 'everyday' && !allowed) throw unavailable('prefix_everyday');
}

function unavailable(
  reason: 'prefix_reserved' | 'prefix_everyday' | (typeof UNAVAILABLE)[keyof typeof UNAVAILABLE],
): Refused {
  return new Refused({ reason }, 'inbound_prefix');
}

/**
 * Lists active senders (v2.3.0, Sender list item), and the current one, which is used when a send names none. An inactive default falls
 * back to the installation's.
 */
export async function listSenders({
  services: { sql, settings },
  caller: { accountId },
}: Pick<OperationContext<unknown>, 'services' | 'caller'>) {
  const [account, names] = await Promise.all([readAccount(sql, accountId), activeSenders(sql, accountId)]);
  const chosen = names.find((name) => name === account?.senderName);
  return {
    senders: names.map((name) => ({ name, is_default: name === chosen })),
    current: chosen ?? settings.DEFAULT_SENDER,
  };
}

/** The refusal for a ChangesTooManyError; null for any other error. */
export function changesRefusal(error: unknown): Refused | null {
  if (!(error instanceof ChangesTooManyError)) return null;
  return new Refused({ reason: 'changes_too_many', limit: error.limit, seconds: error.seconds });
}
