import { promises as dns, type LookupAddress } from 'node:dns';
import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { isLiteralAddress, isPublicAddress } from '../domain/addresses.ts';
import { ATTEMPT_TIMEOUT_MS } from '../domain/webhooks.ts';

const TRY_MS = 2_000;
const TRIES = 2;
// The connection has to be made in what is left of its five seconds.
const LOOKUP_MS = 4_000;
// A receiver has a handful; a response of 64 kB can list thousands.
const ADDRESSES_MAX = 20;

/**
 * A `lookup` that yields public addresses only: the connection goes to exactly the addresses checked here.
 * @param servers DNS servers, `192.0.2.1` or `[2001:db8::1]:53`; null: the system's
 */
export function createPublicLookup(servers: readonly string[] | null): LookupFunction {
  const underWay = new Map<string, Promise<LookupAddress[]>>();
  const lookUp = (name: string): Promise<LookupAddress[]> => {
    const shared = underWay.get(name) ?? addressesOf(name, servers).finally(() => underWay.delete(name));
    underWay.set(name, shared);
    return shared;
  };
  return (hostname, { all }, callback) => {
    lookUp(hostname).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => isPublicAddress(address)).slice(0, ADDRESSES_MAX);
        const [first] = allowed;
        if (!first) return callback(new Error('address not public'), '', 0);
        return all === true ? callback(null, allowed) : callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

// Not `getaddrinfo`: it cannot be cancelled, and two slow name servers of customers would block its threads in this process.
async function addressesOf(name: string, servers: readonly string[] | null): Promise<LookupAddress[]> {
  // A name without a dot, such as `localhost`, has a meaning only within a network.
  if (!name.includes('.')) return [];
  // One per look-up: a resolver caches answers, and `cancel` ends all its queries.
  const resolver = new dns.Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers !== null) resolver.setServers(servers);
  const limit = setTimeout(() => resolver.cancel(), LOOKUP_MS);
  const answers = await Promise.allSettled([
    ask(resolver, 'resolve4', name),
    ask(resolver, 'resolve6', name),
  ]);
  clearTimeout(limit);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length === 0) throw failureOf(answers);
  return found;
}

async function ask(
  resolver: dns.Resolver,
  method: 'resolve4' | 'resolve6',
  name: string,
): Promise<LookupAddress[]> {
  const family = method === 'resolve4' ? 4 : 6;
  return (await resolver[method](name)).map((address) => ({ address, family }));
}

// ENODATA last: a family without records says less than a query that failed.
function failureOf(answers: readonly PromiseSettledResult<unknown>[]): Error {
  const errors = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : [],
  );
  return errors.find(({ code }) => code !== 'ENODATA') ?? errors[0] ?? new Error('no address');
}

const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_BYTES = 1_000;
// For the response body; only the status counts.
const ANSWER_MS = 1_000;
// Idle connections are kept for the next event of a burst. The maximum caps what a receiver asks for by `Keep-Alive`: with ten minutes and
// a host name per webhook it would tie up as many sockets.
const IDLE_MS = 4_000;

export interface Delivery {
  statusCode: number | null;
  error: string | null;
  answer: string | null;
  /** The first headers of the answer, a line each. */
  answerHeaders: string | null;
  durationMs: number;
}

/** Sends requests to URLs that customers chose. */
export interface Outgoing {
  /** One POST; redirects are not followed. Never throws for a receiver's fault. */
  post(url: string, headers: Record<string, string>, body: string): Promise<Delivery>;
  close(): Promise<void>;
}

/**
 * @param allowPrivate for development: allows http and private, loopback and link-local addresses, and uses the system's resolver
 * @param dnsServers DNS servers used otherwise; null: the system's
 */
export function createOutgoing(allowPrivate: boolean, dnsServers: readonly string[] | null = null): Outgoing {
  const agent = new Agent({
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      ...(allowPrivate ? {} : { lookup: createPublicLookup(dnsServers) }),
    },
    // Per origin, which may serve the webhooks of many accounts.
    connections: 500,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  });
  return {
    async post(url, headers, body) {
      const started = Date.now();
      const failed = (error: string): Delivery => ({
        statusCode: null,
        error,
        answer: null,
        answerHeaders: null,
        durationMs: Date.now() - started,
      });
      const refusal = allowPrivate ? null : refusalOf(url);
      if (refusal) return failed(refusal);
      try {
        const response = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher: agent,
          signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
        });
        const { statusCode, headers: answered } = response;
        const answer = await firstBytes(response.body);
        return {
          ...{ statusCode, error: null, answer, answerHeaders: headerLines(answered) },
          durationMs: Date.now() - started,
        };
      } catch (error) {
        return failed(describe(error));
      }
    },
    close: () => agent.close(),
  };
}

// A literal address is connected to without a look-up, so it is checked here; names are checked in `createPublicLookup`.
function refusalOf(url: string): string | null {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:') return 'only https is allowed';
  return isLiteralAddress(hostname) && !isPublicAddress(hostname) ? 'address not public' : null;
}

/** Headers as text, a line each, cut at a bound. */
export function headerLines(headers: IncomingHttpHeaders): string {
  const lines = Object.entries(headers).flatMap(([name, value = '']) =>
    [value].flat().map((one) => `${name}: ${one}`),
  );
  return lines.join('\n').slice(0, ANSWER_BYTES).replaceAll('\0', '');
}

// Never throws: the receiver has answered, however its body ends.
async function firstBytes(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const tooLong = setTimeout(() => body.destroy(), ANSWER_MS);
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= ANSWER_BYTES) break;
    }
  } catch {
    // Cut off, or too slow: what has come stands.
  } finally {
    clearTimeout(tooLong);
    body.destroy();
  }
  // PostgreSQL's text type has no NUL.
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES).toString('utf8').replaceAll('\0', '');
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return `${code}: ${error.message}`.slice(0, 300);
}
