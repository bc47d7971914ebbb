import { z } from 'zod';
import { mapInChunks } from '../../concurrency/tasks.ts';
import { parseMsisdn } from '../../domain/msisdn.ts';
import { Refused } from '../../domain/refusals.ts';
import type { OperationContext } from '../../operations/context.ts';
import { type IdempotencyKey, keysOfIdx, type Sent } from '../../operations/sending/idempotency.ts';
import { type Item, type ItemAnswers, send, sendItems } from '../../operations/sending/send.ts';
import { documented, identifier, inputSchema, parseAs } from '../fields.ts';
import { endpoint, replayHeader } from '../http/endpoint.ts';
import {
  date,
  encoding,
  from,
  idx,
  withRequestFieldNames,
  message,
  renameFields,
  type SendAnswer,
  sendAnswer,
  sendAnswerOf,
  sentMessageOf,
  to,
} from './fields.ts';
import { EARLIER_SEND_ERRORS, encodingOf, SMS_NAMES } from './sends.ts';

// v1.2.0, Limits.
const RECIPIENTS_MAX = 10_000;
const MESSAGES_MAX = 100;
const NUMBER_MAX = 32;

const sameText = z.strictObject({
  recipients: documented(
    z.array(identifier.max(NUMBER_MAX)).min(1).max(RECIPIENTS_MAX),
    'Whom it goes to: at most 10,000 numbers; each once.',
    ['+48500100200', '+48500100201'],
  ),
  message,
  from,
  date,
  encoding,
});
const ownTexts = z.strictObject({
  messages: documented(
    z.array(z.strictObject({ to, message, from, date, idx })).min(1).max(MESSAGES_MAX),
    'At most 100 messages, each with a text of its own.',
    [{ to: '+48500100200', message: 'Dzień dobry!', idx: 'zam-1042' }],
  ),
});

type SameText = z.output<typeof sameText>;
type OwnText = z.output<typeof ownTexts>['messages'][number];
type Call = Omit<OperationContext<unknown>, 'input'> & { idempotencyKeys: readonly IdempotencyKey[] };
type Shown = SendAnswer['data']['messages'][number];

// Chosen by its fields, so that issues refer to the intended form.
const eitherBody = z
  .unknown()
  .meta({ oneOf: [inputSchema(sameText), inputSchema(ownTexts)] })
  .transform((value, context): SameText | { messages: OwnText[] } => {
    const meant = typeof value === 'object' && value !== null && 'messages' in value ? ownTexts : sameText;
    return parseAs(meant, value, context);
  });

export const sendBulk = endpoint({
  interface: 'v1',
  method: 'POST',
  path: '/v1/sms/bulk',
  scope: 'send',
  id: 'sendBulk',
  summary: 'Sends one text to many recipients, or a text of its own to each.',
  description:
    'All messages are accepted and charged together, or nothing is sent. Malformed numbers refuse the request, and the answer names them; a number on the blacklist becomes a message with status `rejected` at no cost.',
  idempotent: true,
  errors: EARLIER_SEND_ERRORS,
  body: eitherBody,
  example: { recipients: ['+48500100200', '+48500100201'], message: 'Dzień dobry!' },
  // 100 texts of 20 parts, each with an `idx` of 255 emoji and all written as escapes, are 1.2 MB; 10,000 numbers and a text less.
  bodyLimit: 1536 * 1024,
  responses: { 200: sendAnswer },
  async handle(call) {
    const { body } = call;
    const sent = 'messages' in body ? await sendEach(call, body.messages) : await sendToAll(call, body);
    return { status: 200, body: sendAnswerOf(sent.body), ...replayHeader(sent.replayed) };
  },
});

async function sendToAll(call: Call, body: SameText): Promise<Sent<Shown[]>> {
  const { recipients, message: text, from: sender, date: sendAt } = body;
  await refuseMalformed(recipients);
  const input = {
    interface: 'v1' as const,
    literal: true,
    to: recipients,
    recipientsMax: RECIPIENTS_MAX,
    text,
    from: sender,
    send_at: sendAt,
    encoding: encodingOf(body.encoding),
  };
  const sending = send<Shown[]>(
    { ...call, input },
    { bodyOf: (messages) => messages.map(sentMessageOf), keys: call.idempotencyKeys },
  );
  return await withRequestFieldNames({ ...SMS_NAMES, to: 'recipients' }, sending);
}

/** @throws Refused with the positions of all malformed numbers, so that the caller can leave them out */
async function refuseMalformed(recipients: readonly string[]): Promise<void> {
  const numbers = await mapInChunks(recipients, parseMsisdn);
  const positions = numbers.flatMap((number, index) => (number === null ? [index + 1] : []));
  const [first] = positions;
  if (first === undefined) return;
  const given = recipients[first - 1]!;
  throw new Refused({ reason: 'recipients_malformed', positions, given }, 'recipients');
}

async function sendEach(call: Call, messages: readonly OwnText[]): Promise<Sent<Shown[]>> {
  const items = messages.map((one): Item => {
    const { to: recipient, message: text, from: sender, date: sendAt, idx: own } = one;
    const input = {
      interface: 'v1',
      channel: 'sms',
      literal: true,
      to: recipient,
      text,
      from: sender,
      send_at: sendAt,
      idx: own,
      encoding: encodingOf(undefined),
    } as const;
    return { input, keys: keysOfIdx('sms', own) };
  });
  const answers: ItemAnswers<Shown> = {
    keys: call.idempotencyKeys,
    bodyOf: (shown) => sendAnswerOf([shown]),
    shownIn: (body) => (body as SendAnswer).data.messages[0]!,
    show: sentMessageOf,
    blamed: (error, index) =>
      renameFields(
        error,
        (field) => `messages.${index}.${SMS_NAMES[field as keyof typeof SMS_NAMES] ?? field}`,
      ),
  };
  // Refusals of the whole request name no item.
  return await withRequestFieldNames({ to: 'messages' }, sendItems({ ...call, input: items }, answers));
}
