import type { DomesticPrices } from '../../domain/channelDeclaration.ts';
import type { CountryRates, Quotas } from '../../domain/money.ts';
import { byColumnName, type Database, isFromServer, type Sql } from '../connection.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import { availableGrosze } from '../money/ledger.ts';
import { isOverdue } from '../money/statements.ts';
import { gatherAnswers } from '../../concurrency/gather.ts';
import { serially, waitFor } from '../../concurrency/tasks.ts';
import { chargedAndReserved } from '../money/reservations.ts';
import { type Accepting, acceptMessages, insertion } from './accept.ts';
import { claimedTogether, KeyTakenError } from './idempotency.ts';

/** What an account's sends are measured by; money in grosze net. */
export interface SendTerms extends DomesticPrices {
  /** The database's clock, epoch milliseconds: one clock decides for all API processes. */
  now: number;
  mode: 'test' | 'live';
  countryRates: CountryRates;
  /** What may be spent: the balance, of a postpaid account with its credit limit. */
  availableGrosze: number;
  testCredits: number;
  sendWindow: string | null;
  /** The sender asked for, else the account's default; null when that one is not active or there is none. */
  sender: string | null;
  /** A postpaid account with a statement past its due time: sends are suspended. */
  overdue: boolean;
  /** What staff have set of the account's quotas. */
  quotas: Partial<Quotas>;
  /** Tracked links that the account has. */
  links: number;
  /** Of the recipients handed over: those a test account has not verified. */
  unverified: string[];
  /** Of the recipients handed over: those on the account's blacklist. */
  blacklisted: string[];
  /** Of these: those whose owners opted out. */
  optedOut: string[];
}

/**
 * Everything of the account that a send depends on, in one statement.
 * @param sender the sender asked for; null means the account's default
 * @param recipients MSISDNs in E.164 with plus, to be checked against verified numbers and blacklist
 */
export async function readSendTerms(
  sql: Sql,
  accountId: string,
  sender: string | null,
  recipients: readonly string[],
): Promise<SendTerms | null> {
  const [terms] = await sql<SendTerms[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now,
           a.mode, a.price_per_part_grosze, a.price_per_mms_grosze, a.price_per_vms_grosze, a.country_rates, a.send_window, a.test_credits,
           ${availableGrosze(sql)} as available_grosze,
           (select s.name from senders s
             where s.account_id = a.id and s.active and s.name = coalesce(${sender}, a.sender_name)) as sender,
           ${isOverdue(sql, sql`a`)} as overdue, a.quotas,
           coalesce((select used from account_usage where account_id = a.id and kind = 'links'), 0) as links,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where a.mode = 'test'
                and not exists (select from verified_numbers v where v.account_id = a.id and v.msisdn = r)
           ) as unverified,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where exists (${activeEntry(sql, sql`a.id`, sql`r`)})
           ) as blacklisted,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where (${activeEntry(sql, sql`a.id`, sql`r`)}) = 'opt_out'
           ) as opted_out
      from accounts a where a.id = ${accountId}`;
  return terms ?? null;
}

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
