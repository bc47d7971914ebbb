import { z } from 'zod';
import type { NewMessage } from '../../db/messages/accept.ts';
import { messageRecord } from '../../domain/records.ts';
import type { OperationContext, Caller } from '../../operations/context.ts';
import { contentOf } from '../../operations/sending/plan.ts';
import { findReplay, type IdempotencyKey } from '../../operations/sending/idempotency.ts';
import { send, type SendInput } from '../../operations/sending/send.ts';
import { documented, grosze } from '../fields.ts';
import { replayHeader } from '../http/endpoint.ts';
import { PLAN_ERRORS, PLAN_STATUS_TEXTS } from './request.ts';
import { messageSchema, recipientCount, testMode } from './schema.ts';

export const batchResultSchema = z
  .strictObject({
    count: recipientCount,
    accepted: documented(
      z.int().nonnegative(),
      'Recipients that the message is sent to: all but the rejected.',
      1,
    ),
    total_cost_grosze: documented(grosze.nonnegative(), 'What all of them cost together, in grosze net.', 15),
    test_mode: testMode,
    messages: z.array(messageSchema).describe('One message for each recipient.'),
  })
  .meta({ id: 'BatchResult', description: 'What a send to a group or an array is answered with.' });

export type Accepted = z.output<typeof messageSchema> | z.output<typeof batchResultSchema>;

export const SENDING = {
  scope: 'send',
  idempotent: true,
  errors: [...PLAN_ERRORS, 402, 503],
  responses: { 201: z.union([messageSchema, batchResultSchema]) },
  statusTexts: {
    ...PLAN_STATUS_TEXTS,
    402: 'The balance is too low for the whole request, or a monthly statement is overdue. Nothing was sent.',
    409: 'The same `Idempotency-Key` came with other content, or its first request is still under way.',
  },
} as const;

export const ALL_OR_NOTHING =
  'One number is answered with a Message; a group or an array with a BatchResult. All recipients are accepted and charged together, or nothing is sent. Numbers on the blacklist become messages with status `rejected` at no cost.';

type SendCall = Omit<OperationContext<unknown>, 'input'> & { idempotencyKeys: readonly IdempotencyKey[] };

/** Sends; responds with a Message, or with a BatchResult if `to` is an array or a group. */
export async function sendAndAnswer(call: SendCall, input: SendInput) {
  const { caller, idempotencyKeys: keys } = call;
  const sent = await send({ ...call, input }, { bodyOf: (messages) => answerOf(messages, caller), keys });
  return { status: 201 as const, body: sent.body, ...replayHeader(sent.replayed) };
}

/** The stored response of {@link sendAndAnswer} to the same request, or null; never sends. @throws Refused as it does */
export async function findReplayedResponse(call: SendCall, input: SendInput): Promise<Accepted | null> {
  const content = contentOf({ ...call, input });
  const sent = await findReplay<Accepted>(call, { keys: call.idempotencyKeys, content });
  return sent === null ? null : sent.body;
}

function answerOf(accepted: readonly NewMessage[], { accountMode }: Caller): Accepted {
  const messages = accepted.map(messageRecord);
  if (!accepted[0]!.batched) return messages[0]!;
  return {
    count: messages.length,
    accepted: messages.filter(({ status }) => status !== 'rejected').length,
    total_cost_grosze: messages.reduce((sum, { cost_grosze }) => sum + cost_grosze, 0),
    ...(accountMode === 'test' ? { test_mode: true as const } : {}),
    messages,
  };
}
