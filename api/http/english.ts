import type { OfReason } from '../../domain/refusals.ts';
import { visible } from '../../domain/text.ts';
import type { Problem, Reason } from './refusals.ts';

type Sentences = { readonly [R in Reason]?: string | ((problem: OfReason<Problem, R>) => string) };

const counted = { characters: ' characters', items: ' items', value: '' } as const;
const place = (index: number | null): string => (index === null ? '' : ` (number ${index + 1} in the list)`);
const quoted = (text: string): string => visible(JSON.stringify(text)).slice(0, 200);

const SENTENCES: Sentences = {
  field_missing: ({ field }) => `\`${field}\` is missing.`,
  field_blank: ({ field }) => `\`${field}\` shows nothing.`,
  field_malformed: ({ field }) => `\`${field}\` is malformed.`,
  field_too_short: ({ field, limit, unit }) =>
    `\`${field}\` is too short: at least ${limit}${counted[unit]}.`,
  field_too_long: ({ field, limit, unit }) => `\`${field}\` is too long: at most ${limit}${counted[unit]}.`,
  characters_forbidden: ({ field }) => `\`${field}\` has characters that are not allowed.`,
  number_out_of_range: ({ field, min, max }) =>
    `\`${field}\` has to be a whole number from ${min} to ${max}.`,
  one_of: ({ field, values }) => `\`${field}\` has to be one of: ${values.join(', ')}.`,
  address_malformed: ({ field }) => `\`${field}\` is no e-mail address.`,
  day_malformed: ({ field }) => `\`${field}\` is no day: 2026-11-24.`,
  period_reversed: 'The first day cannot come after the last one.',
  alert_addresses_too_many: ({ limit }) => `Alerts go to ${limit} addresses at most.`,
  period_too_long: ({ limit }) => `The period is too long: at most ${limit} days.`,
  recipients_too_many: ({ limit }) => `Too many recipients: at most ${limit}.`,
  recipient_unverified: ({ index }) =>
    `A test account sends to its own verified numbers only; this one is not verified${place(index)}.`,
  no_route: ({ index }) => `Messages to this number are not available${place(index)}.`,
  text_too_long: ({ parts, limit, index }) =>
    `The text is too long${place(index)}: ${parts} parts, at most ${limit}.`,
  group_unknown: ({ group }) => `There is no group ${quoted(group)}.`,
  group_empty: ({ group }) => `The group ${quoted(group)} is empty.`,
  group_exists: ({ group }) => `There is a group ${quoted(group)} already.`,
  contact_number_taken: 'Another contact has the number.',
  quota_reached: ({ quota, limit }) =>
    `The account has as many ${quota.replaceAll('_', ' ')} as it may: ${limit}.`,
  rate_limited: ({ seconds }) => `Too many requests. Try again in ${seconds} seconds.`,
  changes_too_many: ({ limit, seconds }) =>
    `The account has made ${limit} changes in 24 hours. Try again in ${Math.ceil(seconds / 3600)} hours.`,
  url_malformed: 'The address is malformed.',
  url_scheme: 'The address has to begin with https://.',
  url_private: 'The address has to be public.',
  recipient_malformed:
    'A number in `to` is malformed: +48500100200, 48500100200 or 500100200, without blanks; groups as "group:Klienci".',
  recipients_malformed:
    'Numbers in `to` are malformed: +48500100200, 48500100200 or 500100200, without blanks.',
  number_malformed: 'The number is malformed: +48500100200, 48500100200 or 500100200, without blanks.',
  recipient_too_long: 'A number in `to` looks Polish with a digit too many; foreign ones need a plus.',
  polish_number_too_long: 'The number looks Polish with a digit too many; foreign ones need a plus.',
  instant_malformed: 'The time must be ISO 8601 with Z or an offset, as 2026-11-24T09:00:00+01:00.',
  window_malformed: 'Sending hours are HH:MM-HH:MM in Polish time, at least 15 minutes wide.',
  sender_malformed:
    'A sender is 1 to 11 letters without diacritics, digits, blanks or . & _ -, one letter at least; or a number of 3 to 15 digits.',
  nip_malformed: 'This is no NIP. It has ten digits; check them for a typing error.',
  postal_code_malformed: 'A postal code looks like 00-000.',
  sender_known: 'The sender is active already, or waits for a decision.',
  sender_requests_too_many: 'As many requests for senders wait for a decision as may; wait for the answers.',
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
  const known = SENTENCES[reason];
  // Each function takes the problem of its own reason, which TypeScript cannot infer through the index.
  if (typeof known === 'function') return (known as (problem: Problem) => string)(problem);
  if (known !== undefined && Object.keys(data).length === 0) return known;
  const words = known ?? `${reason[0]!.toUpperCase()}${reason.slice(1).replaceAll('_', ' ')}.`;
  const given = Object.entries(data).filter(([, value]) => value !== null);
  const details = given.map(([name, value]) => `${name}: ${visible(JSON.stringify(value)).slice(0, 200)}`);
  return details.length === 0 ? words : `${words} (${details.join(', ')})`;
}
