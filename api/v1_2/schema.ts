import { z } from 'zod';
import type { NewMessage } from '../../db/messages/accept.ts';
import { EARLIER_STATUS_OF, EARLIER_STATUSES } from '../../domain/earlierInterface.ts';
import { documented, EXAMPLE_INSTANT, exampleId } from '../documented.ts';
import { timestamp } from '../schemas.ts';

/** The envelope of every answer but errors (v1.2.0, Endpoints). */
export function answered<Schema extends z.ZodType>(data: Schema) {
  return z.strictObject({
    success: documented(z.literal(true), 'Always true: what went wrong is answered as an error.', true),
    data: data.describe('What was asked for.'),
  });
}

/** An answer of 200 in that envelope. */
export function answerOf<Data>(data: Data) {
  return { status: 200 as const, body: { success: true as const, data } };
}

export const earlierStatus = z.enum(EARLIER_STATUSES);

/** A message in the answer to a send (v1.2.0, Message). */
const sentMessage = z.strictObject({
  id: documented(z.string(), 'The id of the message.', exampleId('msg')),
  to: documented(z.string(), 'The recipient, E.164 with plus.', '+48500100200'),
  status: documented(earlierStatus, 'What the message begins as.', 'queued'),
  parts: documented(z.int().positive(), 'Parts that the text takes.', 1),
  cost: documented(z.number().nonnegative(), 'What it costs, in points: one is a grosz.', 15),
  sent_at: documented(timestamp.nullable(), 'When it left; null as long as it has not.', EXAMPLE_INSTANT),
});

/** What a send is answered with (v1.2.0, list responses). */
export const sendAnswer = answered(
  z.strictObject({ count: z.int().nonnegative(), messages: z.array(sentMessage) }),
);

export type SendAnswer = z.output<typeof sendAnswer>;

/** The answer for messages that are accepted: nothing of them has left yet. */
export function sendAnswerOf(messages: SendAnswer['data']['messages']): SendAnswer {
  return { success: true, data: { count: messages.length, messages } };
}

/** An accepted message as it is shown. */
export function sentMessageOf({
  id,
  recipient,
  status,
  parts,
  costGrosze,
}: NewMessage): SendAnswer['data']['messages'][number] {
  return { id, to: recipient, status: EARLIER_STATUS_OF[status], parts, cost: costGrosze, sent_at: null };
}
