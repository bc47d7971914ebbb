import { z } from 'zod';
import {
  EARLIER_SEND_AT_HORIZON_MS,
  EARLIER_STATUS_OF,
  EARLIER_STATUSES,
  IDX_MAX,
} from '../../domain/earlier.ts';
import { Refused } from '../../domain/refusals.ts';
import {
  documented,
  EXAMPLE_INSTANT,
  exampleId,
  filledText,
  identifier,
  instant,
  issue,
  msisdn,
  omissible,
  senderName,
  timestamp,
} from '../fields.ts';
import type { NewMessage } from '../../db/messages/accept.ts';

const SENDER_MAX = 11;
const MESSAGE_MAX = 10_000;
const DAYS = EARLIER_SEND_AT_HORIZON_MS / (24 * 3_600_000);

export const to = documented(msisdn, 'The recipient, with country prefix.', '+48500100200');

export const message = documented(
  filledText.max(MESSAGE_MAX),
  'The text: up to 70 characters are one part with `utf-8`, up to 160 with `gsm`; longer texts are concatenated, of 67 or 153 characters a part.',
  'Dzień dobry!',
);

export const from = documented(
  omissible(senderName.max(SENDER_MAX)),
  'An active sender of the account; its default when left out.',
  'SKLEP',
);

/** At most 60 days ahead (v1.2.0, Limits); a time in the past means now. */
export const date = documented(
  omissible(
    instant.refine(
      (at) => at <= Date.now() + EARLIER_SEND_AT_HORIZON_MS,
      issue({ reason: 'send_at_too_far', days: DAYS }),
    ),
  ),
  'When to send, at most 60 days ahead; at once when left out.',
  '2026-12-24T09:00:00+01:00',
);

export const encoding = documented(
  omissible(z.enum(['utf-8', 'gsm'])),
  '`utf-8` keeps all letters; `gsm` takes those of GSM-7 alone.',
  'utf-8',
);

/** The caller's identifier, also the idempotency key. */
export const idx = documented(
  omissible(identifier.min(1).max(IDX_MAX)),
  'Your own identifier, which comes back in webhooks. The same item again within 24 hours is not sent again; another one with it is refused.',
  'zam-1042',
);

/** Names of an operation's fields in a request of this interface. */
export type FieldNames = Readonly<Record<string, string>>;

/** Renames the fields in refusals of `work`. @throws Refused */
export async function withRequestFieldNames<T>(names: FieldNames, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Refused ? renameFields(error, (field) => names[field] ?? field) : error;
  }
}

/** The refusal with its fields renamed. */
export function renameFields({ refusal, param, cause }: Refused, nameOf: (field: string) => string): Refused {
  const named = 'field' in refusal ? { ...refusal, field: nameOf(refusal.field) } : refusal;
  return new Refused(named, param === null ? undefined : nameOf(param), cause);
}

/** The envelope of successful responses (v1.2.0, Endpoints). */
export function successSchema<Schema extends z.ZodType>(data: Schema) {
  return z.strictObject({
    success: documented(z.literal(true), 'Always true: what went wrong is answered as an error.', true),
    data: data.describe('What was asked for.'),
  });
}

/** A 200 in that envelope. */
export function successResponse<Data>(data: Data) {
  return { status: 200 as const, body: { success: true as const, data } };
}

export const earlierStatus = z.enum(EARLIER_STATUSES);

/** v1.2.0, Message. */
const sentMessage = z.strictObject({
  id: documented(z.string(), 'The id of the message.', exampleId('msg')),
  to: documented(z.string(), 'The recipient, E.164 with plus.', '+48500100200'),
  status: documented(earlierStatus, 'What the message begins as.', 'queued'),
  parts: documented(z.int().positive(), 'Parts that the text takes.', 1),
  cost: documented(z.number().nonnegative(), 'What it costs, in points: one is a grosz.', 15),
  sent_at: documented(timestamp.nullable(), 'When it left; null as long as it has not.', EXAMPLE_INSTANT),
});

/** Response to a send (v1.2.0, list responses). */
export const sendAnswer = successSchema(
  z.strictObject({ count: z.int().nonnegative(), messages: z.array(sentMessage) }),
);

export type SendAnswer = z.output<typeof sendAnswer>;

/** The response for accepted messages. */
export function sendAnswerOf(messages: SendAnswer['data']['messages']): SendAnswer {
  return { success: true, data: { count: messages.length, messages } };
}

/** An accepted message in that response. */
export function sentMessageOf({
  id,
  recipient,
  status,
  parts,
  costGrosze,
}: NewMessage): SendAnswer['data']['messages'][number] {
  return { id, to: recipient, status: EARLIER_STATUS_OF[status], parts, cost: costGrosze, sent_at: null };
}
