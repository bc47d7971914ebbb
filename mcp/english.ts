import type { ErrorAnswer, ErrorCode, Reason } from '../api/http/refusals.ts';
import { pln } from './sent.ts';
import type { Tool } from './tool.ts';

const RETRY_SAFE =
  'This is temporary. Wait 5 seconds, then make the same call with the same arguments: what was sent is not sent twice.';
const REPEATING_DOES_NOT_HELP = 'Tell the user; repeating the call does not help.';

const BY_CODE: Readonly<Partial<Record<ErrorCode, string>>> = {
  insufficient_funds:
    'Nothing was sent or charged. Tell the user that the balance does not cover it; do not repeat it before the account is topped up.',
  provider_error: RETRY_SAFE,
  internal_error: RETRY_SAFE,
  forbidden: REPEATING_DOES_NOT_HELP,
  unauthorized: REPEATING_DOES_NOT_HELP,
};

const BY_REASON: Readonly<Partial<Record<Reason, string>>> = {
  idempotency_in_progress:
    'Wait 5 seconds, then make the same call with the same arguments: it answers what the first one did. Give no new `idempotency_key`, which would send twice.',
  idempotency_other_content:
    'Repeat the earlier call exactly, or give a new `idempotency_key` if this is meant to be another send.',
  test_key_on_live_account:
    'A test key only reads on a live account. Tell the user: a live key has to be configured.',
};

/** The tool that lists what a field may name. */
const LISTED_BY: Readonly<Partial<Record<Reason, string>>> = {
  message_unknown: 'list_messages',
  group_unknown: 'list_groups',
  group_empty: 'list_contacts',
  template_unknown: 'list_templates',
  contact_unknown: 'list_contacts',
  number_not_listed: 'list_blacklist',
  sender_inactive: 'list_senders',
};

/** What to do after an error, in English: tool, field, and how long to wait. */
export function nextStep({ code, problem, param }: ErrorAnswer, tool: Tool): string {
  if ('seconds' in problem) return `Wait ${problem.seconds} seconds, then call \`${tool.name}\` again.`;
  if (problem.reason === 'scope_missing')
    return `The key lacks the scope "${problem.scope}". Tell the user: a key with it has to be configured.`;
  if (problem.reason === 'tool_budget_reached')
    return `Nothing was sent or charged. Through tools this key may charge ${pln(problem.limitGrosze)} net a Polish calendar day, and what is left of today does not cover ${pln(problem.costGrosze)}. Tell the user: wait for the next day, send less, or have the operator raise the budget.`;
  const { properties = {} } = tool.inputSchema;
  const field = param !== null && Object.hasOwn(properties, param) ? param : null;
  if (problem.reason === 'field_unknown' && field === null)
    return `Leave it out and call \`${tool.name}\` again. Its fields: ${Object.keys(properties).join(', ') || 'none'}.`;
  const listing = LISTED_BY[problem.reason];
  const known = BY_REASON[problem.reason] ?? BY_CODE[code];
  if (listing === undefined && known !== undefined) return known;
  const correct = `${field === null ? 'Correct the call' : `Correct \`${field}\``} and call \`${tool.name}\` again.`;
  return listing === undefined ? correct : `Find the right one with \`${listing}\`. ${correct}`;
}
