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
import { invoke, validate } from '../api/http/invoke.ts';
import { answerOfBefore } from '../api/messages/sending.ts';
import { sendVoice } from '../api/messages/send.ts';
import { estimateMessages, estimateVoice } from '../api/messages/estimate.ts';
import type { Caller } from '../operations/asked.ts';
import { canonical } from '../operations/sending/accept.ts';
import type { Arguments, Question, Tool } from './tool.ts';
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

/** How much a send may reach and cost before somebody has to agree to it. */
export interface ConfirmAbove {
  recipients: number;
  /** Grosze net. */
  costGrosze: number;
}

/** What a send would come to, as far as it matters for whether somebody has to agree. */
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
function estimateInstead({ endpoint: sending, body }: Question): Question {
  const endpoint = sending.id === sendVoice.id ? estimateVoice : estimateMessages;
  return { endpoint, params: {}, query: {}, body };
}

/**
 * The same question, answered with what an earlier call with its key was answered: whatever has changed since, nobody is asked to
 * agree to it, or told that it cannot be sent. 204: there was none.
 */
function earlierAnswerInstead(question: Question): Question {
  const { path, responses, ...endpoint } = question.endpoint;
  return {
    ...question,
    endpoint: {
      ...{ ...endpoint, path, responses: { ...responses, 204: z.null() } },
      async handle({ caller, ...call }) {
        if (caller === null) throw new Error('a send has a caller');
        const body = await answerOfBefore({ ...call, caller }, path);
        return body === null ? { status: 204, body } : { status: 201, body };
      },
    },
  };
}

const totals = z.object({ accepted: z.int(), total_cost_grosze: z.int() });

/** @param estimate as it was answered */
function extentOf(estimate: unknown): Extent {
  const { accepted, total_cost_grosze } = totals.parse(estimate);
  return { recipients: accepted, costGrosze: total_cost_grosze };
}

const isAbove = (extent: Extent, limits: ConfirmAbove): boolean =>
  extent.recipients > limits.recipients || extent.costGrosze > limits.costGrosze;

/**
 * The `Idempotency-Key` of a call that names none: the tool and what it is to send. A client that repeats a call whose answer
 * it has not seen gives it another id, and often another session: only the arguments are the same. They are taken as the endpoint
 * reads them, by which it tells requests apart as well: spelt in another way they are the same send.
 *
 * @returns and behind it the key that the call had up to 0.5.0, which took arguments as they were written, where that is another one
 * @throws Refused where the caller may not send, or a field is wrong
 */
function keysOfCall(
  { name }: Tool,
  { endpoint, body }: Question,
  caller: Caller,
  fields: Arguments,
): [string, ...string[]] {
  authorise(endpoint, caller);
  const key = keyOf([name, validate(endpoint.body!, body)]);
  const former = keyOf([name, fields]);
  return former === key ? [key] : [key, former];
}

const keyOf = (sent: unknown): string =>
  `mcp:${createHash('sha256').update(canonical(sent)).digest('base64url')}`;

/** Whoever called, and what they can be asked. */
export interface ToolCall {
  services: Services;
  requestId: string;
  caller: Caller;
  /** Waits until the call is counted against the account's rate limit. @throws Refused, also for a suspended or closed account */
  admit: () => Promise<void>;
  /** Counts a call that takes long among the account's heavy requests. @throws Refused */
  becomesHeavy: () => void;
  confirmAbove: ConfirmAbove;
  /** Aborted when nobody waits any more. */
  signal: AbortSignal;
  /** Whether the client can show a question to its user. */
  canAsk: boolean;
  /** What the user answered to questions of this call. */
  answers: Record<string, unknown> | undefined;
  /** Says how far the call has come. */
  progress: (step: number, of: number, message: string) => Promise<void>;
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
    await call.admit();
    if (tool.endpoint.heavy === true) call.becomesHeavy();
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
    const { body } = await askEndpoint(estimateInstead(question), call, null);
    return success(tool, body, `Nothing was sent. ${describe(extentOf(body))}`);
  }
  const named = own.idempotency_key;
  const keys = named === undefined ? keysOfCall(tool, question, call.caller, fields) : ([named] as const);
  for (const key of keys) {
    const before = await askEndpoint(earlierAnswerInstead(question), call, key);
    if (before.status === 201) return success(tool, before.body, NOT_SENT_AGAIN);
  }
  if (own.confirm !== true && !hasAgreed(call)) {
    const extent = extentOf((await askEndpoint(estimateInstead(question), call, null)).body);
    if (isAbove(extent, call.confirmAbove)) return askFirst(extent, call);
  }
  await call.progress(1, 2, 'Checked; sending.');
  const answer = await askEndpoint(question, call, keys[0]);
  await call.progress(2, 2, 'Accepted.');
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
  { endpoint, params, query, body }: Question,
  { services, caller, requestId, becomesHeavy }: ToolCall,
  key: string | null,
): Promise<Answer> {
  const answer = await invoke(endpoint, services, caller, {
    ...{ params, body, requestId, becomesHeavy, csv: false, receivedAt: Date.now() },
    query: () => query,
    idempotencyKey: () => key,
  });
  if ('csv' in answer) throw new Error('a tool asks for no table');
  return answer;
}
