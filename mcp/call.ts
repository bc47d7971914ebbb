import { createHash } from 'node:crypto';
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
import { answerOfBefore } from '../api/messages/sending.ts';
import { sendVoice } from '../api/messages/send.ts';
import { estimateMessages, estimateVoice } from '../api/messages/estimate.ts';
import { type Refusal, Refused } from '../domain/refusals.ts';
import type { Caller } from '../operations/context.ts';
import { canonical } from '../operations/sending/accept.ts';
import type { Arguments, EndpointCall, Tool } from './tool.ts';
import { errorAnswer } from '../api/http/refusals.ts';
import type { Answer } from '../api/http/endpoint.ts';
import type { Services } from '../api/services.ts';
import { confirmationNeeded, declined, describe, failure, success } from './result.ts';

/** What every tool that sends takes beside what the endpoint does. */
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

/** What a send would come to, or may come to before somebody has to agree to it. */
export interface Extent {
  recipients: number;
  /** Grosze net. */
  costGrosze: number;
}

/** Takes what is the tool's own from the arguments of a send. @throws Refused naming the argument */
function splitSending(given: Arguments): {
  own: z.output<typeof SENDING_ARGUMENTS>;
  fields: Arguments;
} {
  const { dry_run, confirm, idempotency_key, ...fields } = given;
  const own = validate(SENDING_ARGUMENTS, { dry_run, confirm, idempotency_key });
  const { to } = fields;
  // One shape of answers, whether one number was named or several.
  return { own, fields: typeof to === 'string' ? { ...fields, to: [to] } : fields };
}

/** The same body, asked what it would come to. */
function estimateInstead({ endpoint: sending, body }: EndpointCall): EndpointCall {
  const endpoint = sending.id === sendVoice.id ? estimateVoice : estimateMessages;
  return { endpoint, params: {}, query: {}, body };
}

const totals = z.object({ accepted: z.int(), total_cost_grosze: z.int() });

/** @param estimate as it was answered */
function extentOf(estimate: unknown): Extent {
  const { accepted, total_cost_grosze } = totals.parse(estimate);
  return { recipients: accepted, costGrosze: total_cost_grosze };
}

const isAbove = (extent: Extent, limits: Extent): boolean =>
  extent.recipients > limits.recipients || extent.costGrosze > limits.costGrosze;

/**
 * The `Idempotency-Key` of a call that names none: the tool and what it is to send. A client that repeats a call whose answer
 * it has not seen gives it another id, and often another session: only the arguments are the same. They are taken as the endpoint
 * reads them, by which it tells requests apart as well: spelt in another way they are the same send.
 */
function keyOf({ name }: Tool, body: unknown): string {
  return `mcp:${createHash('sha256')
    .update(canonical([name, body]))
    .digest('base64url')}`;
}

/** Whoever called, and what they can be asked. */
export interface ToolCall {
  services: Services;
  requestId: string;
  caller: Caller;
  /** Why its account may call nothing: it is above its rate limit, suspended or closed; null: it may. */
  refusal: Refusal | null;
  /** Counts a call that takes long among the account's heavy requests. @throws Refused */
  acquireHeavySlot: () => void;
  confirmAbove: Extent;
  /** Aborted when nobody waits any more. */
  signal: AbortSignal;
  /** Whether the client can show a question to its user. */
  canAsk: boolean;
  /** What the user answered to questions of this call. */
  answers: Record<string, unknown> | undefined;
}

const NOT_SENT_AGAIN =
  'This was sent by an earlier call and was not sent again: the answer below is that of the first call.';

type Result = CallToolResult | InputRequiredResult;

// An id or a number is shorter; what is longer is none.
const NAMED_MAX = 64;

/** Calls a tool. Whatever is refused or fails is a result that says so, never a failure of the protocol. */
export async function callTool(tool: Tool, given: Arguments, call: ToolCall): Promise<Result> {
  const { services, requestId, caller } = call;
  try {
    if (call.refusal !== null) throw new Refused(call.refusal);
    if (tool.endpoint.heavy === true) call.acquireHeavySlot();
    const result = tool.sends === true ? await send(tool, given, call) : await ask(tool, given, call);
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

async function ask(tool: Tool, given: Arguments, call: ToolCall): Promise<Result> {
  const question = tool.ask(given);
  if (tool.deletes !== undefined && call.canAsk && !hasAgreed(call)) {
    authorise(tool.endpoint, call.caller);
    return askBeforeDeleting(tool.deletes, given, call);
  }
  const { body } = await askEndpoint(question, call, null);
  return success(tool, body);
}

// One thing at a time: a client that cannot ask its user is not held up.
function askBeforeDeleting(
  { field, question }: NonNullable<Tool['deletes']>,
  given: Arguments,
  { answers, requestId }: ToolCall,
): Result {
  if (answers !== undefined) return declined(requestId);
  const named = JSON.stringify(given[field]).slice(0, NAMED_MAX);
  return inputRequired({ inputRequests: { confirm: confirmation(`${question} ${named}`, 'Yes') } });
}

/** Looks at what a send would come to, has a large one agreed to, and sends it once however often it is called. */
async function send(tool: Tool, given: Arguments, call: ToolCall): Promise<Result> {
  const { own, fields } = splitSending(given);
  const question = tool.ask(fields);
  if (own.dry_run === true) {
    const { body: estimate } = await askEndpoint(estimateInstead(question), call, null);
    return success(tool, estimate, `Nothing was sent. ${describe(extentOf(estimate))}`);
  }
  const { services, caller } = call;
  authorise(tool.endpoint, caller);
  const body = validate(tool.endpoint.body!, question.body);
  const key = own.idempotency_key ?? keyOf(tool, body);
  // Whatever has changed since an earlier call with this key, nobody is asked to agree to it, or told that it cannot be sent.
  const sent = answerOfBefore({ services, caller, body, idempotencyKey: key }, tool.endpoint.path);
  const before = await beforeDeadline(Date.now(), sent);
  if (before !== null) return success(tool, before, NOT_SENT_AGAIN);
  if (own.confirm !== true && !hasAgreed(call)) {
    const extent = extentOf((await askEndpoint(estimateInstead(question), call, null)).body);
    if (isAbove(extent, call.confirmAbove)) return askFirst(extent, call);
  }
  const answer = await askEndpoint(question, call, key);
  const replayed = answer.headers?.['Idempotent-Replayed'] === 'true';
  return success(tool, answer.body, replayed ? NOT_SENT_AGAIN : null);
}

const hasAgreed = ({ answers }: ToolCall): boolean =>
  acceptedContent(answers, 'confirm')?.['confirm'] === true;

function askFirst(extent: Extent, { canAsk, answers, requestId }: ToolCall): Result {
  // Whoever was asked and has not agreed is not asked for ever.
  if (!canAsk || answers !== undefined) return confirmationNeeded(extent, requestId);
  return inputRequired({
    inputRequests: { confirm: confirmation(`Send? ${describe(extent)}`, 'Send it') },
  });
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

/** Asks an endpoint. @throws Refused, HttpRefused, and whatever failed behind it */
export async function askEndpoint(
  { endpoint, params, query, body }: EndpointCall,
  { services, caller, requestId, acquireHeavySlot: acquireHeavySlot }: ToolCall,
  key: string | null,
): Promise<Answer> {
  const answer = await invoke(endpoint, services, caller, {
    ...{ params, body, requestId, acquireHeavySlot: acquireHeavySlot, csv: false, receivedAt: Date.now() },
    query: () => query,
    idempotencyKey: () => key,
  });
  if ('csv' in answer) throw new Error('a tool asks for no table');
  return answer;
}
