import { z } from 'zod';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import { HttpRefused } from './refusals.ts';
import type { Answer, CsvAnswer, Endpoint } from './endpoint.ts';
import type { Caller } from '../../operations/context.ts';
import type { IdempotencyKey } from '../../operations/sending/idempotency.ts';
import { DeadlineError, within } from '../../operations/outages.ts';
import { addIds, idsAmong } from '../../telemetry/ids.ts';
import type { Services } from '../services.ts';
import { authorise } from './authentication.ts';

/** Validates a body. @throws Refused for the first issue; `param` is the top-level field */
export function validate<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw refusalOf(parsed.error.issues[0]!, input, 'field_unknown');
}

/** Validates a query. @throws Refused for the first issue, or for a blank where a plus would be right */
function validateQuery(schema: z.ZodType, query: Readonly<Record<string, string>>): unknown {
  const parsed = schema.safeParse(query);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const [field] = issue.path.map(String);
  const given = field === undefined ? undefined : query[field];
  // In a query a plus stands for a blank. Several blanks are words of a search.
  if (field !== undefined && given?.split(' ').length === 2) {
    const meant = schema.safeParse({ ...query, [field]: given.replaceAll(' ', '+') });
    if (meant.error?.issues.some(({ path }) => path[0] === field) !== true)
      throw new Refused({ reason: 'plus_not_encoded', field }, field);
  }
  throw refusalOf(issue, query, 'parameter_unknown');
}

/** Parses a query string. @throws HttpRefused for a repeated parameter */
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
  const meant = issue.code === 'invalid_union' ? matchingBranch(issue) : null;
  if (meant !== null) return refusalOf(meant, input, unknown);
  const field = String(issue.path[0] ?? '');
  if (field === '' && issue.code === 'invalid_type') return new Refused({ reason: 'body_not_object' });
  const value = valueAt(input, issue.path);
  const problem = problemOf(issue, issue.path.map(String).join('.'), value);
  return new Refused(typeof value === 'string' ? { ...problem, given: value } : problem, field || undefined);
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

// Refusals attached by `issue` in fields.ts.
function customProblem(issue: z.core.$ZodIssueCustom, field: string): Refusal {
  const attached = issue.params?.['refusal'] as Refusal | undefined;
  return attached === undefined ? { reason: 'field_malformed', field } : ({ field, ...attached } as Refusal);
}

/** The first issue of the union branch whose type matches the value; null if none matches. */
function matchingBranch({ errors, path }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue | null {
  const meant = errors.find(([first]) => first !== undefined && expectedType(first) === null)?.[0];
  return meant === undefined ? null : { ...meant, path: [...path, ...meant.path] };
}

function typesOf({ errors }: z.core.$ZodIssueInvalidUnion): string {
  const types = errors.flatMap(([first]) => (first === undefined ? [] : [expectedType(first)]));
  return [...new Set(types)].join(' or ');
}

/** The type that a union branch expects; null if the value has it. */
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

// Milliseconds until a request is refused as timed out.
export const RESPONSE_TIMEOUT_MS = 10_000;
const NOTHING = z.strictObject({});

/** Unvalidated input, checked in the order of the fields. */
interface Input {
  params: unknown;
  query: () => Readonly<Record<string, string>>;
  /** Parsed JSON or CSV; undefined if the endpoint takes no body. */
  body: unknown;
  idempotencyKeys: () => readonly IdempotencyKey[];
  csv: boolean;
  requestId: string;
  /** Epoch milliseconds of this process. */
  receivedAt: number;
  acquireHeavySlot: () => void;
}

/**
 * Calls an endpoint for HTTP or a tool: checks the scope, validates the input, runs the handler within the deadline, and checks the
 * response against the declaration. `caller` is null for a public endpoint.
 * @throws Refused, HttpRefused, and any error of the handler
 */
export async function invoke(
  endpoint: Endpoint,
  services: Services,
  caller: Caller | null,
  input: Input,
): Promise<Answer | CsvAnswer> {
  // `serve` has already checked this before reading the body; tools have not.
  if (caller !== null) authorise(endpoint, caller);
  const { requestId, csv, receivedAt } = input;
  const call = {
    params: readParams(endpoint, input.params),
    query: validateQuery(endpoint.query ?? NOTHING, input.query()),
    body: endpoint.body === undefined ? undefined : validate(endpoint.body, input.body),
    idempotencyKeys: endpoint.idempotent ? input.idempotencyKeys() : [],
    caller,
    requestId,
    csv,
    receivedAt,
    services,
    acquireHeavySlot: input.acquireHeavySlot,
  };
  const answer = await beforeDeadline(receivedAt, endpoint.handle(call));
  return 'csv' in answer ? answer : { ...answer, body: validateResponse(endpoint, answer) };
}

/** @throws Refused (`timed_out`) ten seconds after `receivedAt`, epoch milliseconds */
export async function beforeDeadline<T>(receivedAt: number, work: Promise<T>): Promise<T> {
  try {
    return await within(receivedAt + RESPONSE_TIMEOUT_MS, work);
  } catch (error) {
    throw error instanceof DeadlineError ? new Refused({ reason: 'timed_out' }, undefined, error) : error;
  }
}

/** Malformed path parameters mean an unknown resource. */
function readParams({ params: schema }: Endpoint, params: unknown): unknown {
  const parsed = (schema ?? NOTHING).safeParse(params);
  if (!parsed.success) throw new HttpRefused({ reason: 'resource_unknown' });
  addIds(idsAmong(Object.values(parsed.data as Record<string, unknown>)));
  return parsed.data;
}

/** A response that does not match the declaration is an internal error. */
function validateResponse({ responses }: Endpoint, { status, body }: Answer): unknown {
  const schema = responses[status];
  const read = schema?.safeParse(body);
  if (read?.success !== true) throw new HttpRefused({ reason: 'internal' }, undefined, read?.error);
  return read.data;
}
