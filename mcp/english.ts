import type { ErrorAnswer, ErrorCode, Problem, Reason } from '../api/http/refusals.ts';
import { visible } from './present.ts';
import { pln } from './sent.ts';
import type { Tool } from './tool.ts';

const SENTENCES: Readonly<Partial<Record<Reason, string>>> = {
  recipient_malformed:
    'A number in `to` is malformed: +48500100200, 48500100200 or 500100200, without blanks; groups as "group:Klienci".',
  recipients_malformed:
    'Numbers in `to` are malformed: +48500100200, 48500100200 or 500100200, without blanks.',
  number_malformed: 'The number is malformed: +48500100200, 48500100200 or 500100200, without blanks.',
  recipient_too_long: 'A number in `to` looks Polish with a digit too many; foreign ones need a plus.',
  polish_number_too_long: 'The number looks Polish with a digit too many; foreign ones need a plus.',
  instant_malformed: 'The time must be ISO 8601 with Z or an offset, as 2026-11-24T09:00:00+01:00.',
  window_malformed: 'Sending hours are HH:MM-HH:MM in Polish time, at least 15 minutes wide.',
  sender_inactive: 'The sender is not an active one of the account.',
  insufficient_funds: 'The balance does not cover the whole call. Nothing was sent or charged.',
  statement_overdue: 'A monthly statement is overdue. Nothing was sent or charged.',
  idempotency_other_content: 'The `idempotency_key` was used for another send within 24 hours.',
  idempotency_in_progress: 'The same send is still under way.',
  not_cancellable: 'Only scheduled messages can be cancelled, up to 30 seconds before they are sent.',
  text_blank: 'The text is blank.',
  text_empty: 'The text is empty for a recipient.',
  template_type: 'The template is of another type than the call sends.',
  send_abandoned: 'The send could not be accepted. Nothing was sent or charged.',
  send_unresolved: 'It is not known whether the send was accepted.',
  unavailable: 'The service is out of reach for a moment.',
  timed_out: 'The service did not answer in time.',
  internal: 'A fault of the service.',
  account_suspended: 'The account is suspended.',
  account_closed: 'The account is closed.',
};

/** What a problem is, in English: its sentence, or its reason in words, with its data. */
export function inEnglish(problem: Problem): string {
  const { reason, ...data } = problem;
  const sentence = SENTENCES[reason];
  if (sentence !== undefined && Object.keys(data).length === 0) return sentence;
  const words = sentence ?? `${reason[0]!.toUpperCase()}${reason.slice(1).replaceAll('_', ' ')}.`;
  const known = Object.entries(data).filter(([, value]) => value !== null);
  const details = known.map(([name, value]) => `${name}: ${visible(JSON.stringify(value)).slice(0, 200)}`);
  return details.length === 0 ? words : `${words} (${details.join(', ')})`;
}

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
