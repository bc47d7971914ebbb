import type { z } from 'zod';
import { type Interface, INTERFACE } from '../../domain/ids.ts';
import type { Caller, Scope } from '../../operations/context.ts';
import type { Services } from '../services.ts';
import type { BodyShape } from './jsonBounds.ts';
import { HttpRefused, type Status } from './refusals.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request after authentication and validation. */
interface Call<Params, Query, Body, Who> {
  params: Params;
  query: Query;
  body: Body;
  caller: Who;
  /** `req_…`, as in `X-Request-Id`. */
  requestId: string;
  /** Whether the caller wants `text/csv`; only of an endpoint that offers it. */
  csv: boolean;
  /** The header's value; null when absent, or when the endpoint is not idempotent. */
  idempotencyKey: string | null;
  /** When the request came, epoch milliseconds of this process. */
  receivedAt: number;
  /** Counts it among the account's heavy requests, of which few are under way at once. @throws Refused */
  acquireHeavySlot: () => void;
  services: Services;
}

type Responses = Readonly<Record<number, z.ZodType>>;
type AnswerOf<R extends Responses> =
  | {
      [Status in keyof R & number]: {
        status: Status;
        body: z.input<R[Status]>;
        headers?: Record<string, string>;
      };
    }[keyof R & number]
  | CsvAnswer;

/** An answer as `text/csv`, written piece by piece; for endpoints that declare `csv`. */
export interface CsvAnswer {
  status: 200;
  /** Name of the file that a browser would save, without path. */
  filename: string;
  csv: AsyncIterable<string> | Iterable<string>;
}

/** What is declared of an endpoint in the same words for whoever writes it and whoever reads it. */
interface Traits {
  /** Which interface it is of; the current one unless said. */
  interface?: Interface;
  method: Method;
  /** Pattern with `:name` parameters. */
  path: string;
  /** Its name among the operations, for programs that are made from the description of the interface. */
  id: string;
  /** One English line: what it does. */
  summary: string;
  /** CommonMark; what the summary leaves open. */
  description: string;
  /** What a status means here, where the general text says less. */
  statusTexts?: Readonly<Record<number, string>>;
  /**
   * The statuses as which its handler, or its `parseCsv`, refuses. What follows from the rest of the declaration (a key, a body, the
   * fields of its schemas …) is not repeated: see `errorStatusesOf`.
   */
  errors?: readonly Status[];
  /** As which status an outage behind it is answered, in the earlier interface, unless nobody knows what was done; 502 by default. */
  outageStatus?: 503;
  /**
   * That strangers, of whom nobody knows which interface they mean, are answered in this one's form, although another one has the path
   * as well; by default in the current one's.
   */
  unauthenticatedFallback?: true;
  /** Greatest size of the body in bytes; 64 kB by default. */
  bodyLimit?: number;
  /** How a body is read that has longer texts than others, or files; see `BodyShape`. */
  bodyShape?: BodyShape;
  /** How much of the body counts as one request, in bytes; 64 kB by default. */
  bytesOfARequest?: number;
  /** Offers its 200 as `text/csv` too (`Accept`). */
  csv?: boolean;
  /**
   * Takes `text/csv` beside JSON: turns the text into what `body` validates.
   * @throws Refused, HttpRefused
   */
  parseCsv?: (utf8: Buffer) => Promise<unknown>;
  /** Takes long for one request, as a report does: an account has fewer of these under way at once. */
  heavy?: boolean;
  /** Takes the header `Idempotency-Key`. */
  idempotent?: boolean;
  /** Changes and costs nothing although it is no GET of the scope `read`: open to a test key on a live account. */
  readOnly?: boolean;
  /** A GET that changes something: whoever asks by HEAD does not expect that, and is refused. */
  changes?: boolean;
}

interface Declaration<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  S extends Scope | null,
  R extends Responses,
> extends Traits {
  /** The key's scope that is needed; null: public, no key at all. */
  scope: S;
  params?: P;
  query?: Q;
  body?: B;
  /** A body that is taken. */
  example?: NoInfer<z.input<B>>;
  /** Schemas of the successful answers by status. */
  responses: R;
  handle(
    call: Call<z.output<P>, z.output<Q>, z.output<B>, S extends null ? null : Caller>,
  ): Promise<AnswerOf<NoInfer<R>>>;
}

/** What a handler answers, whatever endpoint it is of. */
export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** A declared endpoint as router, validation, OpenAPI and tests see it. */
export interface Endpoint extends Traits {
  scope: Scope | null;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  example?: unknown;
  responses: Responses;
  handle(call: Call<unknown, unknown, unknown, Caller | null>): Promise<Answer | CsvAnswer>;
}

/**
 * Declares an endpoint, once: routing, the scope check, validation, the check of answers and whatever describes the
 * interface are derived from it.
 */
export function endpoint<
  S extends Scope | null,
  R extends Responses,
  P extends z.ZodType = z.ZodType<Record<string, never>>,
  Q extends z.ZodType = z.ZodType<Record<string, never>>,
  B extends z.ZodType = z.ZodType<undefined>,
>(declaration: Declaration<P, Q, B, S, R>): Endpoint {
  return declaration;
}

/** Every status of an error that an endpoint may answer with: what it lists, and what follows from its declaration. */
export function errorStatusesOf(endpoint: Endpoint): ReadonlySet<number> {
  const { interface: owner = INTERFACE, scope, params, body, idempotent, errors = [] } = endpoint;
  // The earlier interface has one status for either outage, and one of its own for what is wrong with a field (v1.2.0, Errors).
  const outages = owner === 'v1' ? [endpoint.outageStatus ?? 502] : [502, 504];
  return new Set([
    ...[400, 405, 408, 417, 431, 500, outages.at(-1)!],
    ...(owner === 'v1' ? [422] : []),
    ...(scope === null ? [] : [401, 403, 429, ...outages]),
    ...(params === undefined ? [] : [404]),
    ...(body === undefined ? [] : [413, 415]),
    ...(idempotent ? [409] : []),
    ...errors,
  ]);
}

/** A method of a path, which interfaces may own side by side. */
export interface Route {
  method: Method;
  /** Pattern with `:name` parameters. */
  path: string;
  owners: ReadonlyMap<Interface, Endpoint>;
}

/**
 * The endpoints by interface, method and path.
 * @throws Error where two of one interface have the same, or where a public one shares its own: without a key nobody can know
 *   which one is meant
 */
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

/** The endpoint of a route that takes no key; null where a key has to say whose it is. */
export function publicOwner({ owners }: Route): Endpoint | null {
  return [...owners.values()].find(isPublic) ?? null;
}

/**
 * The endpoint that an interface has there.
 * @throws HttpRefused where it has none: for its keys the route does not exist
 */
export function ownerOf({ owners }: Route, requested: Interface): Endpoint {
  const endpoint = owners.get(requested);
  if (endpoint === undefined) throw new HttpRefused({ reason: 'route_unknown' });
  return endpoint;
}

/**
 * In whose form it is answered that nobody is known to ask: the owner's; of several that of the one that answers strangers, else the
 * current interface's.
 */
export function fallbackInterface({ owners }: Pick<Route, 'owners'>): Interface {
  const answering = [...owners].find(
    ([, { unauthenticatedFallback: answersStrangers }]) => answersStrangers === true,
  );
  if (answering !== undefined) return answering[0];
  return owners.has(INTERFACE) ? INTERFACE : [...owners.keys()][0]!;
}

/** Whether any endpoint of the route changes something although it is a GET. */
export function changesSomething({ owners }: Route): boolean {
  return [...owners.values()].some(({ changes }) => changes === true);
}

function isPublic({ scope }: Endpoint): boolean {
  return scope === null;
}
