import { gatherAnswers } from '../../concurrency/gather.ts';
import { serially } from '../../concurrency/serially.ts';
import { waitFor } from '../../concurrency/waitFor.ts';
import { byColumnName } from '../columnNames.ts';
import { type Database, isFromServer } from '../connection.ts';
import { chargedAndReserved } from '../money/reservations.ts';
import { type Accepting, acceptMessages, insertion } from './accept.ts';
import { claimedTogether, KeyTakenError } from './idempotency.ts';

// What one statement takes at most: all of them wait for it.
const MOST = 50;
// Others wait for it: what is locked for longer is waited for by those whom it concerns.
const LOCK_MS = 100;
const LONG = 10_000;

/**
 * Accepts messages as {@link acceptMessages} does, one for each API process. Requests of one message that come while a statement is under
 * way share the next one, each for itself: one that cannot be accepted concerns nobody else.
 */
export function sharedAcceptance(sql: Database): (accepting: Accepting) => Promise<void> {
  const alone = (accepting: Accepting): Promise<void> => settledLater(acceptAlone(sql, accepting));
  const share = gatherAnswers<Accepting, void | Promise<void>>((some) => acceptEach(sql, some, alone), {
    most: MOST,
  });
  return async (accepting) => {
    await (isShared(accepting) ? share(accepting) : alone(accepting));
  };
}

/** An account's one after the other: they would wait for its row, each with a connection. */
function acceptAlone(sql: Database, accepting: Accepting): Promise<void> {
  const { accountId } = accepting.messages[0]!;
  return serially(`money of ${accountId}`, () => acceptMessages(sql, accepting));
}

/** Links and opt-out links are made in an order that others do not keep, and a long text would keep them waiting. */
function isShared({ messages, claims, spending, trace = null }: Accepting): boolean {
  const [{ links, optOutToken, text, status }] = messages as [Accepting['messages'][number]];
  const isPlain = links.length === 0 && optOutToken === null && status !== 'rejected' && text.length <= LONG;
  return messages.length === 1 && claims.length <= 1 && spending === null && trace === null && isPlain;
}

/** @returns what comes of each */
async function acceptEach(
  sql: Database,
  some: readonly Accepting[],
  alone: (accepting: Accepting) => Promise<void>,
): Promise<(void | Promise<void>)[]> {
  const firsts = firstOfEachKey(some);
  if (firsts.size === 1) {
    const all = some.map(alone);
    // The others gather meanwhile, unless it waits for what its account has locked.
    await waitFor(Promise.allSettled(all), LOCK_MS, () => undefined);
    return all;
  }
  try {
    const accepted = await acceptTogether(sql, [...firsts]);
    return some.map((one) => {
      if (!firsts.has(one)) return alone(one);
      const { messages, claims } = one;
      if (accepted.has(messages[0]!.requestId)) return undefined;
      return settledLater(Promise.reject(new KeyTakenError(claims[0]!.key)));
    });
  } catch (error) {
    // Of one of them, nobody knows which: none is accepted, and each is for itself.
    if (isFromServer(error)) return some.map(alone);
    throw error;
  }
}

/** Two with one key cannot be in one statement. */
function firstOfEachKey(some: readonly Accepting[]): Set<Accepting> {
  const keys = new Set<string>();
  return new Set(
    some.filter(({ messages, claims }) => {
      const { requestId, accountId } = messages[0]!;
      const key = claims[0] === undefined ? requestId : `${accountId} ${claims[0].key}`;
      const isFirst = !keys.has(key);
      keys.add(key);
      return isFirst;
    }),
  );
}

/** @returns the ids of the requests that are accepted; the key of any other is taken */
async function acceptTogether(sql: Database, some: readonly Accepting[]): Promise<Set<string>> {
  const messages = some.map((one) => one.messages[0]!);
  const keyless = some.flatMap(({ messages: [message], claims }) =>
    claims.length === 0 ? [message!.requestId] : [],
  );
  const claims = some.flatMap(({ messages: [message], claims: [claim] }) => {
    if (claim === undefined) return [];
    const { accountId, requestId } = message!;
    return [byColumnName({ ...claim, fingerprint: claim.fingerprint.toString('hex'), accountId, requestId })];
  });
  const written = await sql<{ requestId: string }[]>`
    with limited as materialized (select from set_config('lock_timeout', ${`${LOCK_MS}ms`}, true)), ${claimedTogether(sql, claims)},
         ${insertion(sql, messages, sql`exists (select from limited) and (request_id = any(${keyless}) or request_id in (select request_id from claimed))`)},
         ${chargedAndReserved(sql, 'message', sql`select * from written`, null)}
    select request_id from written`;
  return new Set(written.map(({ requestId }) => requestId));
}

/** Whoever waits for it looks at it when there is time. */
function settledLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
