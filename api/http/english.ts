import { visible } from '../../domain/text.ts';
import type { Problem, Reason } from './refusals.ts';

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
  sender_malformed:
    'A sender is 1 to 11 letters without diacritics, digits, blanks or . & _ -, one letter at least; or a number of 3 to 15 digits.',
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
  const sentence = SENTENCES[reason];
  if (sentence !== undefined && Object.keys(data).length === 0) return sentence;
  const words = sentence ?? `${reason[0]!.toUpperCase()}${reason.slice(1).replaceAll('_', ' ')}.`;
  const known = Object.entries(data).filter(([, value]) => value !== null);
  const details = known.map(([name, value]) => `${name}: ${visible(JSON.stringify(value)).slice(0, 200)}`);
  return details.length === 0 ? words : `${words} (${details.join(', ')})`;
}
