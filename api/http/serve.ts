import type { ParameterizedContext } from 'koa';
import { type Admitted, clientAddress } from './admission.ts';
import { authenticate, type Authenticated, authorise } from './authentication.ts';
import { readBody } from './body.ts';
import { Readable } from 'node:stream';
import type { Caller } from '../../operations/context.ts';
import type { IdempotencyKey } from '../../operations/sending/idempotency.ts';
import {
  type Answer,
  hasSideEffects,
  type CsvAnswer,
  type Endpoint,
  fallbackInterface,
  ownerOf,
  publicOwner,
  type Route,
} from './endpoint.ts';
import { beforeDeadline, invoke, readQuery } from './invoke.ts';
import { addIds } from '../../telemetry/ids.ts';
import { HttpRefused } from './refusals.ts';
import { Refused } from '../../domain/refusals.ts';
import { isHeavy } from '../../domain/sms.ts';
import type { Interface } from '../../domain/ids.ts';
import type { Services } from '../services.ts';

// 1,000 blacklisted numbers are 15 kB, 500 group members 16 kB, one contact with its groups 33 kB.
const BODY_LIMIT = 64 * 1024;
/** Characters (v2.3.0, Limits). */
export const IDEMPOTENCY_KEY_MAX = 128;

export interface State {
  requestId: string;
  route?: string;
  accountId?: string;
  keyId?: string;
  personId?: string;
  refusal?: string;
  sideEffects?: boolean;
  /** Interface whose form an error has; the current one by default. */
  requested?: Interface;
  /** That interface's endpoint on the route; undefined if it has none. */
  endpoint?: Endpoint | undefined;
  /** A page for people: their addresses are not logged. */
  visitor?: boolean;
}
export type Context = ParameterizedContext<State>;

/** Serves a request: authentication, rate limit, the endpoint of the key's interface, scope, and only then the body and the call. */
export async function serve(
  route: Route,
  services: Services,
  context: Context,
  params: Record<string, string>,
): Promise<void> {
  const receivedAt = Date.now();
  context.state.route = route.path;
  if (hasSideEffects(route)) context.state.sideEffects = true;
  context.state.requested ??= fallbackInterface(route);
  // Set before authentication, which may refuse.
  context.state.endpoint = route.owners.get(context.state.requested);
  const { endpoint, caller } = await resolveEndpoint(route, services, context, receivedAt);
  const csv = endpoint.csv === true && context.accepts('json', 'csv') === 'csv';
  const admitted = caller === null ? null : services.admission.enter(caller.accountId, context.res);
  if (csv || endpoint.heavy === true) admitted?.acquireHeavySlot();
  const elapsedMs = Date.now() - receivedAt;
  const body =
    endpoint.body === undefined
      ? undefined
      : await readBody(context.req, {
          limitBytes: endpoint.bodyLimit ?? BODY_LIMIT,
          parseCsv: endpoint.parseCsv,
          shape: endpoint.bodyShape,
          onLarge: () => admitted?.acquireHeavySlot(),
        });
  const answer = await invoke(endpoint, services, caller, {
    params,
    body,
    csv,
    requestId: context.state.requestId,
    query: () => readQuery(context.querystring),
    idempotencyKeys: () => readIdempotencyKeys(context),
    // The time that the body takes to arrive does not count.
    receivedAt: Date.now() - elapsedMs,
    acquireHeavySlot: () => admitted?.acquireHeavySlot(),
  });
  write(context, endpoint, answer, admitted);
}

async function resolveEndpoint(
  route: Route,
  services: Services,
  context: Context,
  receivedAt: number,
): Promise<{ endpoint: Endpoint; caller: Caller | null }> {
  const open = publicOwner(route);
  if (open !== null) return { endpoint: open, caller: null };
  const { caller, requested, refusal } = await identify(services, context, receivedAt);
  if (refusal !== null) throw new Refused(refusal);
  const endpoint = ownerOf(route, requested);
  authorise(endpoint, caller);
  return { endpoint, caller };
}

/** Authenticates a request and adds its ids to log line and trace. @throws HttpRefused without a valid key */
export async function identify(
  { keyLookups }: Services,
  context: Context,
  receivedAt: number,
): Promise<Authenticated> {
  const presented = {
    authorization: context.headers.authorization,
    address: clientAddress(context),
    requestId: context.state.requestId,
  };
  const found = await beforeDeadline(receivedAt, authenticate(keyLookups, presented));
  context.set(found.headers);
  const { accountId, actor } = found.caller;
  Object.assign(context.state, { accountId, keyId: actor.id });
  addIds({ accountId });
  return found;
}

/** 1 to 128 characters (v2.3.0, Limits), in UTF-8 or else Latin-1. */
function readIdempotencyKeys(context: Context): IdempotencyKey[] {
  const given = context.req.headersDistinct['idempotency-key'];
  if (given === undefined) return [];
  const [value = '', ...others] = given;
  if (others.length > 0) throw new HttpRefused({ reason: 'idempotency_key_repeated' }, 'Idempotency-Key');
  const key = headerText(value);
  const length = [...key].length;
  if (length < 1 || length > IDEMPOTENCY_KEY_MAX) {
    throw new HttpRefused({ reason: 'idempotency_key_length' }, 'Idempotency-Key');
  }
  return [{ key, field: null }];
}

/** Node decodes headers as Latin-1. Nothing is replaced, so that different bytes stay different keys. */
function headerText(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** A large response counts as a heavy request until the client has read it. */
function write(
  context: Context,
  endpoint: Endpoint,
  answer: Answer | CsvAnswer,
  admitted: Admitted | null,
): void {
  if (endpoint.csv === true) context.vary('Accept');
  if ('csv' in answer) return writeCsv(context, answer);
  context.status = answer.status;
  const json = JSON.stringify(answer.body);
  if (isHeavy(json.length) && mayBeRefused(endpoint, answer)) admitted?.acquireHeavySlot();
  if (answer.headers !== undefined) context.set(answer.headers);
  context.type = 'application/json; charset=utf-8';
  context.body = json;
}

/** Streams a table as a file. */
export function writeCsv(context: Context, { status, filename, csv }: CsvAnswer): void {
  context.status = status;
  context.attachment(filename);
  context.type = 'text/csv; charset=utf-8';
  context.body = Readable.from(csv);
}

/** Whether the response can be refused without loss: it was only read, or is a replay. */
function mayBeRefused({ method, sideEffects }: Endpoint, { headers }: Answer): boolean {
  return (method === 'GET' && sideEffects !== true) || headers?.['Idempotent-Replayed'] === 'true';
}
