import type { Estimate } from '../api/messages/estimate.ts';
import type { MessageRecord } from '../domain/records.ts';
import { visible } from '../domain/text.ts';
import { fitting, localTime, nightHours, ROWS_MAX } from './present.ts';

type Shown = Pick<
  MessageRecord,
  'to' | 'from' | 'status' | 'text' | 'parts' | 'cost_grosze' | 'send_at' | 'error'
> & { id?: string; reference?: string | null };

const QUOTED_MAX = 1_000;
const ENDED_BADLY = new Set(['failed', 'undelivered', 'expired', 'rejected', 'cancelled']);

/** A send as sums, and its first messages. */
export function sentBody(messages: readonly Shown[]) {
  const rejected = messages.filter(({ status }) => status === 'rejected');
  const accepted = messages.length - rejected.length;
  const times = messages.flatMap(({ send_at }) => (send_at === null ? [] : [send_at])).sort();
  const { from, reference = null } = messages[0]!;
  const rows = fitting(messages.slice(0, ROWS_MAX), rowOf);
  return {
    count: messages.length,
    accepted,
    total_parts: sum(messages, ({ status, parts }) => (status === 'rejected' ? 0 : parts)),
    total_cost_grosze: sum(messages, ({ cost_grosze }) => cost_grosze),
    from,
    reference,
    send_at: times[0] ?? null,
    ...(times.length > 1 && times.at(-1) !== times[0] ? { last_send_at: times.at(-1) } : {}),
    ...(rows.length < messages.length ? { next: restOf(messages.length, rows.length, reference) } : {}),
    statuses: tally(messages.map(({ status }) => status)),
    ...(rejected.length > 0
      ? { rejected: rejected.length, rejected_by_reason: tally(rejected.map(({ error }) => error ?? '')) }
      : {}),
    messages: rows,
  };
}

function restOf(count: number, shown: number, reference: string | null): string {
  const all = `\`messages\` shows ${shown} of ${count}.`;
  return reference === null
    ? all
    : `${all} List the rest with \`list_messages\`, \`reference\` "${visible(reference)}".`;
}

function rowOf({ id, to, status, text, parts, cost_grosze, send_at, error }: Shown) {
  const known = { ...(id === undefined ? {} : { id }), to, status, text, parts, cost_grosze };
  return { ...known, ...(send_at === null ? {} : { send_at }), ...(error === null ? {} : { error }) };
}

/** What a send would be. @param body of the send */
export function planned({ messages }: Estimate, body: unknown) {
  const { reference = null } = body as { reference?: string };
  return sentBody(messages.map((message) => ({ ...message, reference })));
}

/** The state of a send that is not repeated, and how to send anew, in English. */
export function replayNotice(messages: readonly Shown[]): string {
  const bad = messages.filter(({ status }) => ENDED_BADLY.has(status)).length;
  const anew =
    bad === 0
      ? ''
      : ` ${bad} did not get there: to send anew on purpose, call again with a new \`idempotency_key\`.`;
  return `This was sent by an earlier call and was not sent again; what is below is its state now.${anew}`;
}

/** A send in English: how many, cost, sender, time, recipients and text. @param body of the send, to say what is not in the estimate */
export function describeSend({ accepted, total_cost_grosze, messages }: Estimate, body: unknown): string {
  const head = `It would go to ${accepted} recipient${accepted === 1 ? '' : 's'} and cost ${pln(total_cost_grosze)} net.`;
  const going = messages.filter(({ status }) => status !== 'rejected');
  if (going.length === 0) return head;
  const [first] = going;
  const times = going.flatMap(({ send_at }) => (send_at === null ? [] : [send_at])).sort();
  const when = times[0] === undefined ? 'at once' : localTime(Date.parse(times[0]));
  const { send_window: window } = body as { send_window?: string };
  const hours = window === undefined ? null : nightHours(window);
  const named = going.slice(0, 3).map(({ to }) => to);
  const others = going.length - named.length;
  return [
    `${head} From: ${visible(first!.from ?? 'a number of the network')}. When: ${when}.`,
    ...(hours === null ? [] : [hours]),
    `To: ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`,
    `Text${going.length > 1 ? ' to the first' : ''}: ${JSON.stringify(visible(first!.text).slice(0, QUOTED_MAX))}.`,
  ].join(' ');
}

/** Grosze as PLN. */
export const pln = (grosze: number): string => `${(grosze / 100).toFixed(2)} PLN`;

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function tally(values: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Object.fromEntries(counts);
}
