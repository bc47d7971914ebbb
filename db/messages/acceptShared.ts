import type { DomesticPrices } from '../../domain/channelDeclaration.ts';
import type { CountryRates, Quotas } from '../../domain/money.ts';
import { byColumnName, type Database, isFromServer, type Sql } from '../connection.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import { availableGrosze } from '../money/ledger.ts';
import { isOverdue } from '../money/statements.ts';
import { createResultBatcher } from '../../concurrency/gather.ts';
import { serially, withTimeout } from '../../concurrency/tasks.ts';
import { chargedAndReserved } from '../money/reservations.ts';
import { type Accepting, acceptMessages, insertion } from './accept.ts';
import { claimedTogether, KeyTakenError } from './idempotency.ts';

export interface SendTerms extends DomesticPrices {
  /** The database's clock, epoch milliseconds, shared by all API processes. */
  now: number;
  mode: 'test' | 'live';
  countryRates: CountryRates;
  /** Balance, plus the credit limit of a postpaid account. */
  availableGrosze: number;
  testCredits: number;
  sendWindow: string | null;
  /** The requested sender, else the account's default; null if inactive or missing. */
  sender: string | null;
  overdue: boolean;
  quotas: Partial<Quotas>;
  links: number;
  /** Given recipients that a test account has not verified. */
  unverified: string[];
  blacklisted: string[];
  optedOut: string[];
}

/** Reads what acceptance of a send depends on. @param sender null: the account's default @param recipients E.164 with plus */
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

// Requests per statement; all of them wait for it.
const MAX_BATCH = 50;
// Lock timeout of a shared statement; a request that meets a longer lock waits for it alone.
const LOCK_MS = 100;
const MAX_SHARED_CHARACTERS = 10_000;

/**
 * As {@link acceptMessages}, one instance per API process. Single-message requests that arrive while a statement runs share the next one; a
 * failing request does not affect the others.
 */
export function sharedAcceptance(sql: Database): (accepting: Accepting) => Promise<void> {
  const alone = (accepting: Accepting): Promise<void> =>
    ignoreUnhandledRejection(acceptAlone(sql, accepting));
  const share = createResultBatcher<Accepting, void | Promise<void>>((some) => acceptEach(sql, some, alone), {
    most: MAX_BATCH,
  });
  return async (accepting) => {
    await (isShared(accepting) ? share(accepting) : alone(accepting));
  };
}

/** Serialized per account: concurrent calls would wait for its row, each holding a connection. */
function acceptAlone(sql: Database, accepting: Accepting): Promise<void> {
  const { accountId } = accepting.messages[0]!;
  return serially(`money of ${accountId}`, () => acceptMessages(sql, accepting));
}

/** Links are locked in an order that a shared statement cannot keep, and a long text would delay the others. */
function isShared({ messages, claims, spending, trace = null, also }: Accepting): boolean {
  const [{ links, optOutToken, text, status }] = messages as [Accepting['messages'][number]];
  const isPlain =
    links.length === 0 &&
    optOutToken === null &&
    status !== 'rejected' &&
    text.length <= MAX_SHARED_CHARACTERS;
  const isSimple = claims.length <= 1 && spending === null && trace === null && also === undefined;
  return messages.length === 1 && isSimple && isPlain;
}

async function acceptEach(
  sql: Database,
  some: readonly Accepting[],
  alone: (accepting: Accepting) => Promise<void>,
): Promise<(void | Promise<void>)[]> {
  const firsts = firstOfEachKey(some);
  if (firsts.size === 1) {
    const all = some.map(alone);
    // The next batch gathers meanwhile, unless this one waits for a lock on its account.
    await withTimeout(Promise.allSettled(all), LOCK_MS, () => undefined);
    return all;
  }
  try {
    const accepted = await acceptTogether(sql, [...firsts]);
    return some.map((one) => {
      if (!firsts.has(one)) return alone(one);
      const { messages, claims } = one;
      if (accepted.has(messages[0]!.requestId)) return undefined;
      return ignoreUnhandledRejection(Promise.reject(new KeyTakenError(claims[0]!.key)));
    });
  } catch (error) {
    // The failing request is unknown: none is accepted, and each is retried alone.
    if (isFromServer(error)) return some.map(alone);
    throw error;
  }
}

/** A statement cannot claim the same key twice. */
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

/** Prevents an unhandled rejection before the caller awaits the promise. */
function ignoreUnhandledRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
