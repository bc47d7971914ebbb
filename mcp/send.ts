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
import { canonical } from '../operations/sending/accept.ts';
import { agreement, type Asked, type Result } from './agreement.ts';
import { callEndpoint, type ToolCall } from './toolCall.ts';
import { visible } from './present.ts';
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
  const { services, caller } = call;
  authorise(tool.endpoint, caller);
  const { key, question } = keyed(tool, fields, own.idempotency_key);
  if (own.dry_run !== true) {
    // Checked first: a replay needs no confirmation, and must not be refused for what has changed since.
    const body = validate(tool.endpoint.body!, question.body);
    const sent = findReplayedResponse({ services, caller, body, idempotencyKey: key }, tool.endpoint.path);
    const before = await beforeDeadline(Date.now(), sent);
    if (before !== null) return await replay(before, call);
  }
  const estimate = (await callEndpoint(estimateInstead(question), call, null)).body as Estimate;
  const asked = askedFor(tool, key, question, estimate, call);
  if (own.dry_run === true) return dryRun(asked, question, estimate, call);
  const reasons = reasonsToAsk(asked.size, question, call.confirmAbove);
  const free = reasons.length === 0 && (await countUnconfirmed(call, asked.size, call.confirmAbove));
  if (!free) {
    const why = reasons.length > 0 ? reasons : [`Sends of today without a confirmation reach their limit.`];
    const refused = agreement(asked, why, own.confirm, call);
    if (refused !== null) return refused;
  }
  return await sendNow(question, key, free ? asked.size : null, call);
}

async function sendNow(
  question: EndpointCall,
  key: string,
  counted: SendSize | null,
  call: ToolCall,
): Promise<Result> {
  let answer: Answer;
  try {
    answer = await callEndpoint(question, call, key);
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

/** The send with a reference, so that it can be followed and cancelled as a whole, and the `Idempotency-Key` that it has. */
function keyed(
  tool: Tool,
  { to, priority, ...rest }: Arguments,
  given: string | undefined,
): { key: string; question: EndpointCall } {
  const fields: Arguments = { ...rest, to: recipientsMeant(to), ...(priority === false ? {} : { priority }) };
  const body = validate(tool.endpoint.body!, tool.toEndpointCall(fields).body);
  // A client that repeats a call uses another request id and often another session: only the arguments are the same. They are hashed
  // as validated, so that another spelling is the same send.
  const key = given ?? `mcp:${digest(canonical([tool.name, body]))}`;
  const reference = fields['reference'] ?? `mcp-${digest(key).slice(0, 16)}`;
  return { key, question: tool.toEndpointCall({ ...fields, reference }) };
}

/** Recipients whatever their order and form. One is no list: a single send takes a shorter way. */
function recipientsMeant(to: unknown): unknown {
  if (!Array.isArray(to) || to.length > RECIPIENTS_MAX) return to;
  const read = to.map((one: unknown) =>
    typeof one === 'string' && !one.startsWith('group:') ? parseMsisdn(one) : one,
  );
  // Positions in refusals are those of the list as given.
  if (!read.every((one) => typeof one === 'string')) return to.length === 1 ? (to[0] as unknown) : to;
  const distinct = [...new Set(read)].sort();
  return distinct.length === 1 ? distinct[0] : distinct;
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
  key: string,
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
    const about = ['tool confirmation', caller.accountId, tool.name, key, until, question.body, shown];
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
