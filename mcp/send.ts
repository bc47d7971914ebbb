import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { omissible, plainText } from '../api/fields.ts';
import { authorise } from '../api/http/authentication.ts';
import type { Answer } from '../api/http/endpoint.ts';
import { beforeDeadline, validate } from '../api/http/invoke.ts';
import { IDEMPOTENCY_KEY_MAX } from '../api/http/serve.ts';
import { type Estimate, estimateMessages, estimateVoice } from '../api/messages/estimate.ts';
import { messagesNow } from '../api/messages/history.ts';
import { sendVoice } from '../api/messages/send.ts';
import { type Accepted, findReplayedResponse } from '../api/messages/sending.ts';
import { parseMsisdn } from '../domain/msisdn.ts';
import { Refused } from '../domain/refusals.ts';
import { countUnconfirmed, type SendSize, uncountUnconfirmed } from '../operations/quotas.ts';
import { contentOf } from '../operations/sending/plan.ts';
import { canonical, contentKeys, type IdempotencyKey } from '../operations/sending/idempotency.ts';
import type { SendInput } from '../operations/sending/send.ts';
import { agreement, type Asked, type Result } from './agreement.ts';
import { callEndpoint, type ToolCall } from './toolCall.ts';
import { visible } from '../domain/text.ts';
import { needsConfirmation, nothingDone, success } from './result.ts';
import { describeSend, planned, replayNotice, sentBody } from './sent.ts';
import type { Arguments, EndpointCall, Tool } from './tool.ts';

/** Arguments of every tool that sends, beside the endpoint's fields. */
export const SENDING_ARGUMENTS = z.strictObject({
  dry_run: omissible(z.boolean()).describe('true: shows what the call would send and cost, sends nothing.'),
  confirm: omissible(plainText.max(100)).describe(
    'The `confirm` of the dry run or refusal that the user saw and agreed to.',
  ),
  idempotency_key: omissible(plainText.min(1).max(IDEMPOTENCY_KEY_MAX)).describe(
    'Calls with the same key send once in 24 hours. Left out, the arguments are the key.',
  ),
});

const CONFIRM_MS = 3_600_000;
const PAST_MS = 5 * 60_000;
const RECIPIENTS_MAX = 500;

/** Estimates a send, has it confirmed where that is needed, and sends at most once per key. */
export async function send(tool: Tool, given: Arguments, call: ToolCall): Promise<Result> {
  const { dry_run, confirm, idempotency_key, ...fields } = given;
  const own = validate(SENDING_ARGUMENTS, { dry_run, confirm, idempotency_key });
  authorise(tool.endpoint, call.caller);
  const { question, input, keys } = await keyed(tool, fields, own.idempotency_key, call);
  if (own.dry_run !== true) {
    // Checked first: a replay needs no confirmation, and must not be refused for what has changed since.
    const receivedAt = Date.now();
    const sent = findReplayedResponse({ ...call, receivedAt, idempotencyKeys: keys }, input);
    const before = await beforeDeadline(receivedAt, sent);
    if (before !== null) return await replay(before, call);
  }
  const estimate = (await callEndpoint(estimateInstead(question), call, [])).body as Estimate;
  const asked = askedFor(tool, keys, question, estimate, call);
  if (own.dry_run === true) return dryRun(asked, question, estimate, call);
  const reasons = reasonsToAsk(asked.size, question, call.confirmAbove);
  const free = reasons.length === 0 && (await countUnconfirmed(call, asked.size, call.confirmAbove));
  if (!free) {
    const why = reasons.length > 0 ? reasons : [`Sends of today without a confirmation reach their limit.`];
    const refused = agreement(asked, why, own.confirm, call);
    if (refused !== null) return refused;
  }
  return await sendNow(question, keys, free ? asked.size : null, call);
}

async function sendNow(
  question: EndpointCall,
  keys: readonly IdempotencyKey[],
  counted: SendSize | null,
  call: ToolCall,
): Promise<Result> {
  let answer: Answer;
  try {
    answer = await callEndpoint(question, call, keys);
  } catch (error) {
    const isCertain = error instanceof Refused && !('outage' in error.refusal);
    if (isCertain && counted !== null) await uncountUnconfirmed(call, counted);
    throw error;
  }
  if (answer.headers?.['Idempotent-Replayed'] === 'true') {
    if (counted !== null) await uncountUnconfirmed(call, counted);
    return await replay(answer.body as Accepted, call);
  }
  const body = sentBody(messagesOf(answer.body as Accepted));
  return body.accepted === 0
    ? nothingDone(body, 'Nothing was sent: all recipients are on the blacklist. Tell the user.')
    : success(body);
}

const messagesOf = (accepted: Accepted) => ('messages' in accepted ? accepted.messages : [accepted]);

/** What became of an earlier send until now. */
async function replay(before: Accepted, call: ToolCall): Promise<CallToolResult> {
  const then = messagesOf(before);
  const now = await messagesNow(
    call,
    then.map(({ id }) => id),
  );
  const messages = then.map((message) => now.get(message.id) ?? message);
  return success(sentBody(messages), { notice: replayNotice(messages), replayed: true });
}

function dryRun(asked: Asked, question: EndpointCall, estimate: Estimate, call: ToolCall): Result {
  const reasons = reasonsToAsk(asked.size, question, call.confirmAbove);
  const notice = `Nothing was sent. ${asked.question}${reasons.length > 0 ? ` ${needsConfirmation(call.canAsk)}` : ''}`;
  const confirm = reasons.length > 0 && !call.canAsk ? { confirm: asked.token } : {};
  const { sufficient_funds } = estimate;
  return success(planned(estimate, question.body), { notice, dry_run: true, ...confirm, sufficient_funds });
}

interface KeyedSend {
  question: EndpointCall;
  input: SendInput;
  keys: readonly IdempotencyKey[];
}

/** The send with a reference, so that it can be followed and cancelled as a whole, and its idempotency keys. */
async function keyed(
  tool: Tool,
  { to, ...rest }: Arguments,
  given: string | undefined,
  call: ToolCall,
): Promise<KeyedSend> {
  const fields = { ...rest, to: recipientsMeant(to) };
  const channel = tool.endpoint.id === sendVoice.id ? 'vms' : 'sms';
  const inputOf = (body: unknown) =>
    ({ ...(validate(tool.endpoint.body!, body) as SendInput), channel }) as const;
  const context = { ...call, receivedAt: Date.now(), input: inputOf(tool.toEndpointCall(fields).body) };
  // A client that repeats a call uses another request id and often another session: only the arguments are the same.
  const keys =
    given === undefined
      ? await beforeDeadline(context.receivedAt, contentKeys(context, contentOf(context)))
      : [{ key: given, field: null }];
  const reference = context.input.reference ?? `mcp-${digest(keys.at(-1)!.key).slice(0, 16)}`;
  const question = tool.toEndpointCall({ ...fields, reference });
  return { question, input: inputOf(question.body), keys };
}

/** One recipient is no list: a single send takes a shorter way. */
function recipientsMeant(to: unknown): unknown {
  if (!Array.isArray(to) || to.length > RECIPIENTS_MAX) return to;
  const distinct = new Set(to.map((one: unknown) => (typeof one === 'string' && parseMsisdn(one)) || one));
  return distinct.size === 1 ? (to[0] as unknown) : to;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

function estimateInstead({ endpoint: sending, body }: EndpointCall): EndpointCall {
  const endpoint = sending.id === sendVoice.id ? estimateVoice : estimateMessages;
  return { endpoint, params: {}, query: {}, body };
}

/** Why the user has to confirm a send, in English; nothing if not. */
function reasonsToAsk(size: SendSize, { body }: EndpointCall, above: SendSize): string[] {
  const { send_at } = body as { send_at?: string };
  const isPast = send_at !== undefined && Date.parse(send_at) < Date.now() - PAST_MS;
  const isLarge = size.recipients > above.recipients || size.costGrosze > above.costGrosze;
  return [
    ...(isLarge ? ['It is large.'] : []),
    ...(isPast ? [`\`send_at\` (${visible(send_at)}) is past: it would leave at once.`] : []),
  ];
}

function askedFor(
  tool: Tool,
  keys: readonly IdempotencyKey[],
  question: EndpointCall,
  estimate: Estimate,
  { services, caller }: ToolCall,
): Asked {
  const size = { recipients: estimate.accepted, costGrosze: estimate.total_cost_grosze };
  const shown = estimate.messages.map(({ to, from, text, status, cost_grosze, send_at }) => [
    ...[to, from, text, status, cost_grosze, status === 'scheduled' ? send_at : null],
  ]);
  const tokenUntil = (until: number) => {
    const mac = createHmac('sha256', services.secretsKey);
    const about = [
      'tool confirmation',
      caller.accountId,
      tool.name,
      keys.map(({ key }) => key),
      until,
      question.body,
      shown,
    ];
    return `${until.toString(36)}.${mac.update(canonical(about)).digest('base64url').slice(0, 22)}`;
  };
  return {
    size,
    question: describeSend(estimate, question.body),
    token: tokenUntil(Date.now() + CONFIRM_MS),
    isToken(given) {
      const until = Number.parseInt(given.split('.')[0]!, 36);
      if (!(until > Date.now() && until <= Date.now() + CONFIRM_MS)) return false;
      const [a, b] = [Buffer.from(given), Buffer.from(tokenUntil(until))];
      return a.length === b.length && timingSafeEqual(a, b);
    },
  };
}
