import { createHash } from 'node:crypto';
import { z } from 'zod';
import { omissible, plainText } from '../api/fields.ts';
import { authorise } from '../api/http/authentication.ts';
import { IDEMPOTENCY_KEY_MAX } from '../api/http/serve.ts';
import { validate } from '../api/http/validation.ts';
import { answerOfBefore } from '../api/messages/sending.ts';
import { sendVoice } from '../api/messages/voice.ts';
import { estimateMessages, estimateVoice } from '../api/messages/estimate.ts';
import type { Caller } from '../operations/asked.ts';
import { canonical } from '../operations/sending/idempotency.ts';
import type { Arguments, Question, Tool } from './tool.ts';

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
export function splitSending(given: Arguments): {
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
export function estimateInstead({ endpoint: sending, body }: Question): Question {
  const endpoint = sending.id === sendVoice.id ? estimateVoice : estimateMessages;
  return { endpoint, params: {}, query: {}, body };
}

/**
 * The same question, answered with what an earlier call with its key was answered: whatever has changed since, nobody is asked to
 * agree to it, or told that it cannot be sent. 204: there was none.
 */
export function earlierAnswerInstead(question: Question): Question {
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
export function extentOf(estimate: unknown): Extent {
  const { accepted, total_cost_grosze } = totals.parse(estimate);
  return { recipients: accepted, costGrosze: total_cost_grosze };
}

export const isAbove = (extent: Extent, limits: ConfirmAbove): boolean =>
  extent.recipients > limits.recipients || extent.costGrosze > limits.costGrosze;

/**
 * The `Idempotency-Key` of a call that names none: the tool and what it is to send. A client that repeats a call whose answer
 * it has not seen gives it another id, and often another session: only the arguments are the same. They are taken as the endpoint
 * reads them, by which it tells requests apart as well: spelt in another way they are the same send.
 *
 * @returns and behind it the key that the call had up to 0.5.0, which took arguments as they were written, where that is another one
 * @throws Refused where the caller may not send, or a field is wrong
 */
export function keysOfCall(
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
