import { z } from 'zod';
import { Refused } from '../../domain/refusals.ts';
import type { Caller } from '../../operations/asked.ts';
import { DeadlineError, within } from '../../operations/outages.ts';
import { addIds, idsAmong } from '../../telemetry/ids.ts';
import type { Services } from '../services.ts';
import { authorise } from './authentication.ts';
import type { Answer, CsvAnswer, Endpoint } from './endpoint.ts';
import { watchRefusals } from './listedRefusals.ts';
import { HttpRefused } from './refusals.ts';
import { validate } from './validation.ts';

// Nothing hangs: what has not been answered by then is refused as timed out.
export const ANSWER_MS = 10_000;
const NOTHING = z.strictObject({});

/** What an endpoint is called with, before anybody has looked at it; looked at in the order of the fields. */
export interface Input {
  /** Of the path. */
  params: unknown;
  query: () => Readonly<Record<string, string>>;
  /** A parsed JSON document, or what a table was read as; undefined where the endpoint takes none. */
  body: unknown;
  /** Of endpoints alone that take one. */
  idempotencyKey: () => string | null;
  /** Whether a table is wanted of an endpoint that offers one. */
  csv: boolean;
  /** `req_…`. */
  requestId: string;
  /** When it came, epoch milliseconds of this process. */
  receivedAt: number;
  /** Counts it among the account's heavy requests, of which few are under way at once. @throws Refused */
  becomesHeavy: () => void;
}

/**
 * Calls an endpoint, whatever brought the call: checks that the caller may, validates what came, runs the handler before the
 * deadline, and checks the answer against the declaration.
 * @param caller null for a public endpoint
 * @throws Refused, HttpRefused, and whatever failed behind the handler
 */
export async function invoke(
  endpoint: Endpoint,
  services: Services,
  caller: Caller | null,
  input: Input,
): Promise<Answer | CsvAnswer> {
  // Whoever has a body to read asks this before it as well.
  if (caller !== null) authorise(endpoint, caller);
  const { requestId, csv, receivedAt } = input;
  const call = {
    params: readParams(endpoint, input.params),
    query: validate(endpoint.query ?? NOTHING, input.query(), 'parameter_unknown'),
    body: endpoint.body === undefined ? undefined : validate(endpoint.body, input.body),
    idempotencyKey: endpoint.idempotent ? input.idempotencyKey() : null,
    ...{ caller, requestId, csv, receivedAt, services },
    becomesHeavy: input.becomesHeavy,
  };
  const handled = endpoint.handle(call);
  const answer = await beforeDeadline(receivedAt, watchRefusals(endpoint, services.log, handled));
  return 'csv' in answer ? answer : { ...answer, body: checked(endpoint, answer) };
}

/** @throws Refused where it is not done ten seconds after the request came */
export async function beforeDeadline<T>(receivedAt: number, work: Promise<T>): Promise<T> {
  try {
    return await within(receivedAt + ANSWER_MS, work);
  } catch (error) {
    throw error instanceof DeadlineError ? new Refused({ reason: 'timed_out' }, undefined, error) : error;
  }
}

/** A path that cannot name a resource names none. */
function readParams({ params: schema }: Endpoint, params: unknown): unknown {
  const parsed = (schema ?? NOTHING).safeParse(params);
  if (!parsed.success) throw new HttpRefused({ reason: 'resource_unknown' });
  addIds(idsAmong(Object.values(parsed.data as Record<string, unknown>)));
  return parsed.data;
}

/** The body has to be what the endpoint declares: anything else is a fault of ours. */
function checked({ responses }: Endpoint, { status, body }: Answer): unknown {
  const schema = responses[status];
  const read = schema?.safeParse(body);
  if (read?.success !== true) throw new HttpRefused({ reason: 'internal' }, undefined, read?.error);
  return read.data;
}
