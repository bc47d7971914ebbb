import { createHash } from 'node:crypto';
import type { Estimate } from '../../api/messages/estimate.ts';
import { parsePolishTime } from '../../domain/calendar.ts';
import { withoutSeparators } from '../../domain/msisdn.ts';
import { filled } from '../ask.ts';

/** What is written into the form, by field: the API's names, and `param-` before the name of a placeholder. */
export type Typed = ReadonlyMap<string, string>;

export const FIELDS = ['to', 'groups', 'text', 'template_id', 'from', 'send_at', 'send_window'] as const;
/** What fields of placeholders begin with. */
export const PARAM = 'param-';

/** Bytes: as many numbers as the API takes at once and the longest text, in the encoding of forms. */
export const FORM_BYTES = 96 * 1024;

/** Everything typed, and nothing else that a form or an address holds. */
export function typedIn(fields: ReadonlyMap<string, string> | URLSearchParams): Typed {
  const params = [...fields.keys()].filter((name) => name.startsWith(PARAM));
  return new Map(Object.entries(filled(fields, [...FIELDS, ...params])));
}

/** The body of a send, as the API takes it; null if there is no such time in Poland. A template takes the place of a text. */
export function bodyOf(typed: Typed) {
  const { to = '', groups, text, template_id, send_at, ...options } = filled(typed, FIELDS);
  const numbers = to.split(/[\n\t,;]/).map(withoutSeparators);
  const group = groups === undefined ? [] : [`group:${groups}`];
  const recipients = [...new Set([...numbers, ...group])].filter((one) => one !== '');
  const sendAt = send_at === undefined ? undefined : parsePolishTime(send_at);
  if (sendAt === null) return null;
  return {
    ...options,
    // One number is no list: refusals need not say which.
    to: recipients.length === 1 ? recipients[0]! : recipients,
    ...(template_id === undefined ? { text } : { template_id, params: paramsOf(typed) }),
    ...(sendAt === undefined ? {} : { send_at: new Date(sendAt).toISOString() }),
  };
}

function paramsOf(typed: Typed): Record<string, string> {
  const params = [...typed].filter(([name]) => name.startsWith(PARAM));
  return Object.fromEntries(params.map(([name, value]) => [name.slice(PARAM.length), value]));
}

/**
 * What a person agrees to: who gets which text, when and at what cost, and that today (UTC): by tomorrow nobody would know that it was sent
 * already. Another digest of the same form is another send.
 * @param now epoch milliseconds
 */
export function digestOf({ messages, test_mode }: Estimate, now: number): string {
  const shown = messages.map(({ to, from, text, status, cost_grosze, send_at }) => [
    ...[to, from, text, status, cost_grosze, send_at],
  ]);
  return createHash('sha256')
    .update(JSON.stringify([test_mode, shown, new Date(now).toISOString().slice(0, 10)]))
    .digest('base64url');
}
