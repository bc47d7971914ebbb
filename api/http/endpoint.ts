import type { z } from 'zod';
import { type Interface, INTERFACE } from '../../domain/ids.ts';
import type { Scope } from '../../domain/actor.ts';
import type { Caller } from '../../operations/context.ts';
import type { IdempotencyKey } from '../../operations/sending/idempotency.ts';
import type { Services } from '../services.ts';
import type { BodyShape } from './jsonBounds.ts';
import { HttpRefused, type Status } from './refusals.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface Call<Params, Query, Body, Who> {
  params: Params;
  query: Query;
  body: Body;
  caller: Who;
  requestId: string;
  /** The caller wants `text/csv` and the endpoint offers it. */
  csv: boolean;
  /** Of the header `Idempotency-Key`; none without it, and for endpoints that are not idempotent. */
  idempotencyKeys: readonly IdempotencyKey[];
  /** Epoch milliseconds of this process. */
  receivedAt: number;
  /** Counts the request among the account's heavy ones. @throws Refused at the limit */
  acquireHeavySlot: () => void;
  services: Services;
}

export type Responses = Readonly<Record<number, z.ZodType>>;
type AnswerOf<R extends Responses> =
  | {
      [Status in keyof R & number]: {
        status: Status;
        body: z.input<R[Status]>;
        headers?: Record<string, string>;
      };
    }[keyof R & number]
  | CsvAnswer;

/** The header of a response repeated for its idempotency key. */
export function replayHeader(replayed: boolean): { headers?: Record<string, string> } {
  return replayed ? { headers: { 'Idempotent-Replayed': 'true' } } : {};
}

/** A streamed `text/csv` response of an endpoint that declares `csv`. */
export interface CsvAnswer {
  status: 200;
  filename: string;
  csv: AsyncIterable<string> | Iterable<string>;
}

interface EndpointOptions {
  /** The current interface by default. */
  interface?: Interface;
  method: Method;
  /** Pattern with `:name` parameters. */
  path: string;
  /** OpenAPI operation id. */
  id: string;
  summary: string;
  /** CommonMark. */
  description: string;
  /** Descriptions of statuses that replace the general ones in OpenAPI. */
  statusTexts?: Readonly<Record<number, string>>;
  /** Statuses of refusals by `handle` and `parseCsv`; `errorStatusesOf` adds those that follow from the declaration. */
  errors?: readonly Status[];
  /** Status of an outage in the earlier interface, unless the outcome is unknown; 502 by default. */
  outageStatus?: 503;
  /** Requests without a recognizable key get errors of this endpoint's interface, although another interface has the path too. */
  unauthenticatedFallback?: true;
  /** Bytes; 64 kB by default. */
  bodyLimit?: number;
  /** For bodies with longer texts or files. */
  bodyShape?: BodyShape;
  csv?: boolean;
  /** Accepts `text/csv` too: parses it into what `body` validates. @throws Refused, HttpRefused */
  parseCsv?: (utf8: Buffer) => Promise<unknown>;
  /** Slow, as a report is: counts among the account's heavy requests. */
  heavy?: boolean;
  idempotent?: boolean;
  /** Changes and costs nothing although it is no GET of the scope `read`: open to a test key on a live account. */
  readOnly?: boolean;
  /** A GET with side effects: HEAD is refused. */
  sideEffects?: boolean;
}

interface Declaration<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  S extends Scope | null,
  R extends Responses,
> extends EndpointOptions {
  /** null: public. */
  scope: S;
  params?: P;
  query?: Q;
  body?: B;
  example?: NoInfer<z.input<B>>;
  responses: R;
  handle(
    call: Call<z.output<P>, z.output<Q>, z.output<B>, S extends null ? null : Caller>,
  ): Promise<AnswerOf<NoInfer<R>>>;
}

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** @typeParam R what it answers, by status, for those who ask it within the process */
export interface Endpoint<R extends Responses = Responses> extends EndpointOptions {
  scope: Scope | null;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  example?: unknown;
  responses: R;
  handle(call: Call<unknown, unknown, unknown, Caller | null>): Promise<Answer | CsvAnswer>;
}

/** Declares an endpoint; routing, scope check, validation, response check and documentation are derived from it. */
export function endpoint<
  S extends Scope | null,
  R extends Responses,
  P extends z.ZodType = z.ZodType<Record<string, never>>,
  Q extends z.ZodType = z.ZodType<Record<string, never>>,
  B extends z.ZodType = z.ZodType<undefined>,
>(declaration: Declaration<P, Q, B, S, R>): Endpoint<R> {
  return declaration;
}

/** Every error status of an endpoint: those it lists, and those that follow from its declaration. */
export function errorStatusesOf(endpoint: Endpoint): ReadonlySet<number> {
  const { interface: owner = INTERFACE, scope, params, body, idempotent, errors = [] } = endpoint;
  // The earlier interface has one status for all outages, and 422 for an invalid field (v1.2.0, Errors).
  const outages = owner === 'v1' ? [endpoint.outageStatus ?? 502] : [502, 504];
  return new Set([
    400,
    405,
    408,
    417,
    431,
    500,
    outages.at(-1)!,
    ...(owner === 'v1' ? [422] : []),
    ...(scope === null ? [] : [401, 403, 429, ...outages]),
    ...(params === undefined ? [] : [404]),
    ...(body === undefined ? [] : [413, 415]),
    ...(idempotent && owner !== 'v1' ? [409] : []),
    ...errors,
  ]);
}

/** A method and path, which several interfaces may have. */
export interface Route {
  method: Method;
  path: string;
  owners: ReadonlyMap<Interface, Endpoint>;
}

/** Groups endpoints by method and path. @throws Error for a duplicate, and for a public endpoint that shares its path with another */
export function routesOf(endpoints: readonly Endpoint[]): Route[] {
  const routes = new Map<string, Route & { owners: Map<Interface, Endpoint> }>();
  for (const endpoint of endpoints) {
    const { method, path, interface: owner = INTERFACE } = endpoint;
    const name = `${method} ${path}`;
    const route = routes.get(name) ?? { method, path, owners: new Map<Interface, Endpoint>() };
    if (route.owners.has(owner)) throw new Error(`${owner} declares ${name} twice`);
    route.owners.set(owner, endpoint);
    routes.set(name, route);
  }
  for (const { method, path, owners } of routes.values()) {
    if (owners.size > 1 && [...owners.values()].some(isPublic))
      throw new Error(`${method} ${path} needs no key and has several owners`);
  }
  return [...routes.values()];
}

/** The route's public endpoint; null if the route requires a key. */
export function publicOwner({ owners }: Route): Endpoint | null {
  return [...owners.values()].find(isPublic) ?? null;
}

/** The endpoint of an interface. @throws HttpRefused if the interface does not have the route */
export function ownerOf({ owners }: Route, requested: Interface): Endpoint {
  const endpoint = owners.get(requested);
  if (endpoint === undefined) throw new HttpRefused({ reason: 'route_unknown' });
  return endpoint;
}

/** The interface whose form errors have without a recognizable key: see `unauthenticatedFallback`; the current one by default. */
export function fallbackInterface({ owners }: Pick<Route, 'owners'>): Interface {
  const answering = [...owners].find(([, { unauthenticatedFallback: isFallback }]) => isFallback === true);
  if (answering !== undefined) return answering[0];
  return owners.has(INTERFACE) ? INTERFACE : [...owners.keys()][0]!;
}

/** Whether a GET of the route has side effects. */
export function hasSideEffects({ owners }: Route): boolean {
  return [...owners.values()].some(({ sideEffects }) => sideEffects === true);
}

function isPublic({ scope }: Endpoint): boolean {
  return scope === null;
}
