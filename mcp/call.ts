import { z } from 'zod';
import {
  acceptedContent,
  type CallToolResult,
  type InputRequest,
  inputRequired,
  type InputRequiredResult,
} from '@modelcontextprotocol/server';
import { omissible, plainText } from '../api/fields.ts';
import { authorise } from '../api/http/authentication.ts';
import { IDEMPOTENCY_KEY_MAX } from '../api/http/serve.ts';
import { beforeDeadline, invoke, validate } from '../api/http/invoke.ts';
import { findReplayedResponse } from '../api/messages/sending.ts';
import { sendVoice } from '../api/messages/send.ts';
import { estimateMessages, estimateVoice } from '../api/messages/estimate.ts';
import { type Refusal, Refused } from '../domain/refusals.ts';
import type { Caller } from '../operations/context.ts';
import type { SendInput } from '../operations/sending/send.ts';
import { contentOf } from '../operations/sending/content.ts';
import { contentKeys, type IdempotencyKey } from '../operations/sending/idempotency.ts';
import type { Arguments, EndpointCall, Tool } from './tool.ts';
import { errorAnswer } from '../api/http/refusals.ts';
import type { Answer } from '../api/http/endpoint.ts';
import type { Services } from '../api/services.ts';
import { confirmationNeeded, declined, describe, failure, success } from './result.ts';

/** Arguments of every tool that sends, beside the endpoint's fields. */
export const SENDING_ARGUMENTS = z.strictObject({
  dry_run: omissible(z.boolean()).describe(
    'true: shows what the call would send and cost, and sends nothing.',
  ),
  confirm: omissible(z.boolean()).describe(
    'true: the user has seen recipients and cost, and agrees. Needed for large sends.',
  ),
  idempotency_key: omissible(plainText.min(1).max(IDEMPOTENCY_KEY_MAX)).describe(
    'Calls with the same key send once within 24 hours. Left out, the arguments themselves are the key. Give a new one to send the same thing again on purpose.',
  ),
});

/** The size of a send, or the limit above which it needs confirmation. */
export interface SendSize {
  recipients: number;
  /** Grosze net. */
  costGrosze: number;
}

function splitArguments(given: Arguments): { own: z.output<typeof SENDING_ARGUMENTS>; fields: Arguments } {
  const { dry_run, confirm, idempotency_key, ...fields } = given;
  const own = validate(SENDING_ARGUMENTS, { dry_run, confirm, idempotency_key });
  const { to } = fields;
  // An array, so that the response has one shape.
  return { own, fields: typeof to === 'string' ? { ...fields, to: [to] } : fields };
}

function estimateInstead({ endpoint: sending, body }: EndpointCall): EndpointCall {
  const endpoint = sending.id === sendVoice.id ? estimateVoice : estimateMessages;
  return { endpoint, params: {}, query: {}, body };
}

const totals = z.object({ accepted: z.int(), total_cost_grosze: z.int() });

function extentOf(estimate: unknown): SendSize {
  const { accepted, total_cost_grosze } = totals.parse(estimate);
  return { recipients: accepted, costGrosze: total_cost_grosze };
}

const isAbove = (extent: SendSize, limits: SendSize): boolean =>
  extent.recipients > limits.recipients || extent.costGrosze > limits.costGrosze;

export interface ToolCall {
  services: Services;
  requestId: string;
  caller: Caller;
  /** Rate limit, or account suspended or closed; null if the call is allowed. */
  refusal: Refusal | null;
  acquireHeavySlot: () => void;
  confirmAbove: SendSize;
  /** Aborted when the client has cancelled or disconnected. */
  signal: AbortSignal;
  /** Whether the client supports elicitation. */
  canAsk: boolean;
  /** The user's answers to elicitations of this call. */
  answers: Record<string, unknown> | undefined;
}

const NOT_SENT_AGAIN =
  'This was sent by an earlier call and was not sent again: the answer below is that of the first call.';

type Result = CallToolResult | InputRequiredResult;

// Longer than any id or number.
const NAMED_MAX = 64;

/** Calls a tool. Refusals and failures become results, never protocol errors. */
export async function callTool(tool: Tool, given: Arguments, call: ToolCall): Promise<Result> {
  const { services, requestId, caller } = call;
  try {
    if (call.refusal !== null) throw new Refused(call.refusal);
    if (tool.endpoint.heavy === true) call.acquireHeavySlot();
    const result =
      tool.sends === true ? await send(tool, given, call) : await callDirectly(tool, given, call);
    services.log.info({ requestId, tool: tool.name, accountId: caller.accountId }, 'tool called');
    return result;
  } catch (thrown) {
    const error = errorAnswer(thrown);
    const { code, problem, cause: err } = error;
    if (call.signal.aborted) services.log.info({ requestId, tool: tool.name }, 'tool given up');
    else if (error.status >= 500) services.log.error({ err, requestId, code }, 'tool failed');
    else services.log.info({ requestId, tool: tool.name, reason: problem.reason }, 'tool refused');
    return failure(error, requestId);
  }
}

async function callDirectly(tool: Tool, given: Arguments, call: ToolCall): Promise<Result> {
  const question = tool.toEndpointCall(given);
  if (tool.deletes !== undefined && call.canAsk && !isConfirmed(call)) {
    authorise(tool.endpoint, call.caller);
    return confirmDeletion(tool.deletes, given, call);
  }
  const { body } = await callEndpoint(question, call, []);
  return success(tool, body);
}

// Only one item is deleted, so a client without elicitation may go ahead.
function confirmDeletion(
  { field, question }: NonNullable<Tool['deletes']>,
  given: Arguments,
  { answers, requestId }: ToolCall,
): Result {
  if (answers !== undefined) return declined(requestId);
  const named = JSON.stringify(given[field]).slice(0, NAMED_MAX);
  return inputRequired({ inputRequests: { confirm: confirmation(`${question} ${named}`, 'Yes') } });
}

/** Estimates a send, requires confirmation above the limit, and sends at most once per key. */
async function send(tool: Tool, given: Arguments, call: ToolCall): Promise<Result> {
  const { own, fields } = splitArguments(given);
  const question = tool.toEndpointCall(fields);
  if (own.dry_run === true) {
    const { body: estimate } = await callEndpoint(estimateInstead(question), call, []);
    return success(tool, estimate, `Nothing was sent. ${describe(extentOf(estimate))}`);
  }
  authorise(tool.endpoint, call.caller);
  const body = validate(tool.endpoint.body!, question.body);
  const channel = tool.endpoint.id === sendVoice.id ? 'vms' : 'sms';
  const input = { ...(body as SendInput), channel } as const;
  const context = { ...call, receivedAt: Date.now(), input };
  // A client that repeats a call uses another request id and often another session: only the arguments are the same.
  const keys =
    own.idempotency_key === undefined
      ? await contentKeys(context, contentOf(context))
      : [{ key: own.idempotency_key, field: null }];
  // Checked first: a replay needs no confirmation, and must not be refused for what has changed since.
  const sent = findReplayedResponse({ ...context, idempotencyKeys: keys }, input);
  const before = await beforeDeadline(context.receivedAt, sent);
  if (before !== null) return success(tool, before, NOT_SENT_AGAIN);
  if (own.confirm !== true && !isConfirmed(call)) {
    const extent = extentOf((await callEndpoint(estimateInstead(question), call, [])).body);
    if (isAbove(extent, call.confirmAbove)) return requestConfirmation(extent, call);
  }
  const answer = await callEndpoint(question, call, keys);
  const replayed = answer.headers?.['Idempotent-Replayed'] === 'true';
  return success(tool, answer.body, replayed ? NOT_SENT_AGAIN : null);
}

const isConfirmed = ({ answers }: ToolCall): boolean =>
  acceptedContent(answers, 'confirm')?.['confirm'] === true;

function requestConfirmation(extent: SendSize, { canAsk, answers, requestId }: ToolCall): Result {
  // A user who did not agree is not asked again.
  if (!canAsk || answers !== undefined) return confirmationNeeded(extent, requestId);
  return inputRequired({ inputRequests: { confirm: confirmation(`Send? ${describe(extent)}`, 'Send it') } });
}

function confirmation(message: string, title: string): InputRequest {
  return inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { confirm: { type: 'boolean', title, default: false } },
      required: ['confirm'],
    },
  });
}

/** Calls an endpoint. @throws Refused, HttpRefused, and any error of the handler */
export async function callEndpoint(
  { endpoint, params, query, body }: EndpointCall,
  { services, caller, requestId, acquireHeavySlot }: ToolCall,
  idempotencyKeys: readonly IdempotencyKey[],
): Promise<Answer> {
  const answer = await invoke(endpoint, services, caller, {
    params,
    body,
    requestId,
    acquireHeavySlot: acquireHeavySlot,
    csv: false,
    receivedAt: Date.now(),
    query: () => query,
    idempotencyKeys: () => idempotencyKeys,
  });
  if ('csv' in answer) throw new Error('a tool asks for no table');
  return answer;
}
