import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Refused } from '../domain/refusals.ts';
import { sendVoice } from '../api/messages/voice.ts';
import { estimateMessages } from '../api/messages/estimate.ts';
import { estimateVoice } from './estimateVoice.ts';
import { type SendingArguments, SENDING_ARGUMENTS } from './sendingArguments.ts';
import type { Arguments, Question, Tool } from './tool.ts';

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
export function splitSending(given: Arguments): { own: SendingArguments; fields: Arguments } {
  const { dry_run, confirm, idempotency_key, ...fields } = given;
  const read = SENDING_ARGUMENTS.safeParse(withoutMissing({ dry_run, confirm, idempotency_key }));
  if (!read.success) {
    const field = String(read.error.issues[0]!.path[0]);
    throw new Refused({ reason: 'field_malformed', field }, field);
  }
  const own = read.data;
  return {
    own: {
      dryRun: own.dry_run === true,
      confirmed: own.confirm === true,
      idempotencyKey: own.idempotency_key,
    },
    // One shape of answers, whether one number was named or several.
    fields: 'to' in fields && typeof fields['to'] === 'string' ? { ...fields, to: [fields['to']] } : fields,
  };
}

function withoutMissing(given: Arguments): Arguments {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
  );
}

/** The same body, asked what it would come to. */
export function estimateInstead({ endpoint: sending, body }: Question): Question {
  const endpoint = sending === sendVoice ? estimateVoice : estimateMessages;
  return { endpoint, params: {}, query: {}, body };
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
 * it has not seen gives it another id, and often another session: only the arguments are the same.
 */
export function keyOfCall({ name }: Tool, fields: Arguments): string {
  const digest = createHash('sha256')
    .update(canonical([name, fields]))
    .digest('base64url');
  return `mcp:${digest}`;
}

/** JSON with the keys of objects in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, held: unknown) =>
    typeof held === 'object' && held !== null && !Array.isArray(held)
      ? Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1)))
      : held,
  );
}
