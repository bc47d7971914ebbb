import { z } from 'zod';
import type { NewMessage } from '../../db/messages/accept.ts';
import { messageRecord } from '../../domain/records.ts';
import type { OperationContext, Caller, Services } from '../../operations/context.ts';
import { findReplay, fingerprintOf, type IdempotencyClaim } from '../../operations/sending/accept.ts';
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

/**
 * Sends; responds with a Message, or with a BatchResult if `to` is an array or a group.
 * @param path scope of the `Idempotency-Key`: the same key at another path is another request
 */
export async function sendAndAnswer(
  call: Omit<OperationContext<unknown>, 'input'> & { body: unknown; idempotencyKey: string | null },
  path: string,
  input: SendInput,
) {
  const { caller } = call;
  const keyed = idempotencyClaimAt(call, path);
  const sent = await send({ ...call, input }, { bodyOf: (messages) => answerOf(messages, caller), keyed });
  return { status: 201 as const, body: sent.body, ...replayHeader(sent.replayed) };
}

/** The stored response of {@link sendAndAnswer} to the same request, or null; never sends. @throws Refused as it does */
export async function findReplayedResponse(
  call: Pick<OperationContext<unknown>, 'services' | 'caller'> & {
    body: unknown;
    idempotencyKey: string | null;
  },
  path: string,
): Promise<Accepted | null> {
  const sent = await findReplay<Accepted>(call, idempotencyClaimAt(call, path));
  return sent === null ? null : sent.body;
}

function idempotencyClaimAt(
  {
    services,
    body,
    idempotencyKey: key,
  }: { services: Pick<Services, 'secretsKey'>; body: unknown; idempotencyKey: string | null },
  path: string,
): IdempotencyClaim | null {
  if (key === null) return null;
  return { key, fingerprint: fingerprintOf(services.secretsKey, 'POST', path, body), field: null };
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
