import { z } from 'zod';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import { HttpRefused } from './refusals.ts';
import type { Answer, CsvAnswer, Endpoint } from './endpoint.ts';
import type { Caller } from '../../operations/context.ts';
import { DeadlineError, within } from '../../operations/outages.ts';
import { addIds, idsAmong } from '../../telemetry/ids.ts';
import type { Services } from '../services.ts';
import { authorise } from './authentication.ts';

/**
 * Parses a body or a query by its schema.
 * @param unknown what a name that the schema does not have is called
 * @throws Refused with the first thing wrong; `param` is the top-level field
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  unknown: 'field_unknown' | 'parameter_unknown' = 'field_unknown',
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw refusalOf(parsed.error.issues[0]!, input, unknown);
}

/**
 * The query string as a plain record.
 * @throws HttpRefused when a parameter is given twice: nobody can know which one was meant
 */
export function readQuery(querystring: string): Record<string, string> {
  const entries = [...new URLSearchParams(querystring)];
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (seen.has(name)) throw new HttpRefused({ reason: 'query_repeated', field: name }, name);
    seen.add(name);
  }
  return Object.fromEntries(entries);
}

function refusalOf(
  issue: z.core.$ZodIssue,
  input: unknown,
  unknown: 'field_unknown' | 'parameter_unknown',
): Refused {
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path.map(String), issue.keys[0] ?? ''];
    return new Refused({ reason: unknown, field: path.join('.') }, path[0]);
  }
  const meant = issue.code === 'invalid_union' ? meantBranch(issue) : null;
  if (meant !== null) return refusalOf(meant, input, unknown);
  const field = String(issue.path[0] ?? '');
  if (field === '' && issue.code === 'invalid_type') return new Refused({ reason: 'body_not_object' });
  return new Refused(
    problemOf(issue, issue.path.map(String).join('.'), valueAt(input, issue.path)),
    field || undefined,
  );
}

function problemOf(issue: z.core.$ZodIssue, field: string, value: unknown): Refusal {
  if (issue.code === 'custom') return customProblem(issue, field);
  if (value === undefined) return { reason: 'field_missing', field };
  switch (issue.code) {
    case 'invalid_type':
      return { reason: 'field_type', field, expected: issue.expected };
    case 'invalid_union':
      return { reason: 'field_type', field, expected: typesOf(issue) };
    case 'too_small':
      return { reason: 'field_too_short', field, limit: Number(issue.minimum), unit: unitOf(issue.origin) };
    case 'too_big':
      return { reason: 'field_too_long', field, limit: Number(issue.maximum), unit: unitOf(issue.origin) };
    case 'invalid_value':
      return { reason: 'one_of', field, values: issue.values.map(String) };
    case 'unrecognized_keys':
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
      return { reason: 'field_malformed', field };
  }
}

// Problems that our own refinements attach; see `issue` in fields.ts.
function customProblem(issue: z.core.$ZodIssueCustom, field: string): Refusal {
  const attached = issue.params?.['refusal'] as Refusal | undefined;
  return attached === undefined ? { reason: 'field_malformed', field } : ({ field, ...attached } as Refusal);
}

/** What is wrong by the first branch of a union whose type was given; null where none was. */
function meantBranch({ errors, path }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue | null {
  const meant = errors.find(([first]) => first !== undefined && expectedType(first) === null)?.[0];
  return meant === undefined ? null : { ...meant, path: [...path, ...meant.path] };
}

function typesOf({ errors }: z.core.$ZodIssueInvalidUnion): string {
  const types = errors.flatMap(([first]) => (first === undefined ? [] : [expectedType(first)]));
  return [...new Set(types)].join(' or ');
}

/** The type that a branch of a union wants; null where it was given. */
function expectedType(issue: z.core.$ZodIssue): string | null {
  return issue.code === 'invalid_type' && issue.path.length === 0 ? issue.expected : null;
}

function unitOf(origin: string): 'items' | 'characters' | 'value' {
  if (origin === 'array') return 'items';
  return origin === 'string' ? 'characters' : 'value';
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    input,
  );
}

// Nothing hangs: what has not been answered by then is refused as timed out.
const ANSWER_MS = 10_000;
const NOTHING = z.strictObject({});

/** What an endpoint is called with, before anybody has looked at it; looked at in the order of the fields. */
interface Input {
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
  acquireHeavySlot: () => void;
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
    acquireHeavySlot: input.acquireHeavySlot,
  };
  const answer = await beforeDeadline(receivedAt, endpoint.handle(call));
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
