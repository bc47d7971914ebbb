import { z } from 'zod';
import type { Draft } from '../../db/messages/drafts.ts';
import { messageRecord } from '../../domain/records.ts';
import type { Caller } from '../../operations/asked.ts';
import { fingerprintOf } from '../../operations/sending/idempotency.ts';
import { send } from '../../operations/sending/send.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented } from '../documented.ts';
import { grosze } from '../schemas.ts';
import { PLAN_REFUSALS, PLAN_STATUS_TEXTS, SEND_BODY_LIMIT, SEND_EXAMPLE, sendRequest } from './request.ts';
import { messageSchema, recipientCount, testMode } from './schema.ts';

const PATH = '/v1/messages';
const REPLAYED = { 'Idempotent-Replayed': 'true' };

/** BatchResult. */
const batchResultSchema = z
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
  .meta({ id: 'BatchResult', description: 'What a send to an array is answered with.' });

type Accepted = z.output<typeof messageSchema> | z.output<typeof batchResultSchema>;

/** POST /v1/messages (v2.3.0, Send). */
export const sendMessages = endpoint({
  method: 'POST',
  path: PATH,
  scope: 'send',
  id: 'sendMessages',
  summary: 'Sends an SMS to one number, to several, or to contact groups.',
  description:
    'Sends to one number (answered with the Message) or to an array of numbers and groups (answered with a BatchResult). All recipients are accepted and charged together, or nothing is sent. Numbers on the blacklist become messages with status `rejected` at no cost.',
  statusTexts: {
    ...PLAN_STATUS_TEXTS,
    402: 'The balance is too low for the whole request, or a monthly statement is overdue. Nothing was sent.',
    409: 'The same `Idempotency-Key` came with other content, or its first request is still under way.',
  },
  refusals: [
    ...PLAN_REFUSALS,
    'statement_overdue',
    'insufficient_funds',
    'quota_reached',
    'send_abandoned',
    'send_unresolved',
  ],
  body: sendRequest,
  example: SEND_EXAMPLE,
  bodyLimit: SEND_BODY_LIMIT,
  idempotent: true,
  responses: { 201: z.union([messageSchema, batchResultSchema]) },
  async handle(call) {
    const { services, caller, body, idempotencyKey: key } = call;
    const sent = await send(
      { ...call, input: body },
      {
        status: 201,
        bodyOf: (drafts) => answerOf(drafts, caller),
        keyed:
          key === null ? null : { key, fingerprint: fingerprintOf(services.secretsKey, 'POST', PATH, body) },
      },
    );
    return { status: 201, body: sent.body, ...(sent.replayed ? { headers: REPLAYED } : {}) };
  },
});

/** A Message, or a BatchResult when `to` was an array or a group. */
function answerOf(drafts: readonly Draft[], { accountMode }: Caller): Accepted {
  const messages = drafts.map(messageRecord);
  if (!drafts[0]!.batched) return messages[0]!;
  return {
    count: messages.length,
    accepted: messages.filter(({ status }) => status !== 'rejected').length,
    total_cost_grosze: messages.reduce((sum, { cost_grosze }) => sum + cost_grosze, 0),
    ...(accountMode === 'test' ? { test_mode: true as const } : {}),
    messages,
  };
}
