import { type LookupAddress, promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../domain/publicAddress.ts';

const TRY_MS = 2_000;
const TRIES = 2;
/** How long a name is looked up at most: a connection has to be made in what is left of its five seconds. */
export const LOOKUP_MS = 4_000;
// Those of one receiver are a handful; an answer of 64 kB has thousands.
const ADDRESSES_MAX = 20;

/**
 * Looks up a name's public addresses alone, for a connection that then goes to exactly the addresses judged here. Connections to one
 * name that are made at the same time share one look-up.
 * @param servers which DNS servers are asked, `192.0.2.1` or `[2001:db8::1]:53`; null: those of the system
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

/**
 * Not by `getaddrinfo`: two slow name servers of strangers keep the threads that it has in this process busy, and nothing stops it.
 * What is asked here keeps nobody waiting and can be given up.
 */
async function addressesOf(name: string, servers: readonly string[] | null): Promise<LookupAddress[]> {
  // Its only meaning is within a network: `localhost`, say.
  if (!name.includes('.')) return [];
  // Made anew each time: it keeps answers, and its end ends nobody else's questions.
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

/** Why there is no address: that there is none in one family says less than that the other was not answered. */
function failureOf(answers: readonly PromiseSettledResult<unknown>[]): Error {
  const errors = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : [],
  );
  return errors.find(({ code }) => code !== 'ENODATA') ?? errors[0] ?? new Error('no address');
}
