import type { LedgerKind } from '../../domain/money.ts';
import type { Fragment, Sql } from '../connection.ts';

/** As SQL, for accounts `a`: what can be spent, in grosze net: the balance, plus the credit limit if postpaid. */
export function availableGrosze(sql: Sql): Fragment {
  return sql`a.balance_grosze + case when a.billing_mode = 'postpaid' then a.credit_limit_grosze else 0 end`;
}

type BookingKind = 'opening' | 'topup' | 'adjustment' | 'payment' | 'payment_refund' | 'dispute';

interface Booking {
  account: string;
  kind: BookingKind;
  /** Grosze net, negative for a debit. */
  grosze: number;
  testCredits?: number;
  subject?: { kind: 'statement'; id: string };
  /** Of a payment, as given by the payer or the bank; unique per account. */
  reference?: string;
  note?: string;
}

export interface LedgerRow {
  id: number;
  kind: LedgerKind;
  amountGrosze: number;
  testCredits: number;
  subjectKind: 'message' | 'lookup' | 'email' | 'statement' | null;
  subjectId: string | null;
  /** Of a top-up by a processor, of a refund of it, or of its dispute. */
  paymentId: string | null;
  reference: string | null;
  note: string | null;
  createdAt: Date;
}

export interface LedgerFilter {
  kind?: LedgerKind | undefined;
  from?: Date | undefined;
  until?: Date | undefined;
  /** Id of a subject or a payment, or a payment's reference. */
  about?: string | undefined;
  /** Id of the last entry of the page before. */
  after?: number | undefined;
}

interface LedgerState {
  accountId: string;
  balanceGrosze: number;
  sumGrosze: number;
  testCredits: number;
  sumTestCredits: number;
  agrees: boolean;
}

export async function book(sql: Sql, booking: Booking): Promise<void> {
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id, reference, note)
    values (${booking.account}, ${booking.kind}, ${booking.grosze}, ${booking.testCredits ?? 0},
            ${booking.subject?.kind ?? null}, ${booking.subject?.id ?? null}, ${booking.reference ?? null}, ${booking.note ?? null})`;
}

export async function readPayment(
  sql: Sql,
  account: string,
  reference: string,
): Promise<Pick<LedgerRow, 'kind' | 'amountGrosze'> | undefined> {
  const [entry] = await sql<Pick<LedgerRow, 'kind' | 'amountGrosze'>[]>`
    select kind, amount_grosze from ledger_entries where account_id = ${account} and reference = ${reference}`;
  return entry;
}

/** A page of an account's entries, the newest first: a few index probes, however long the ledger is. */
export async function listLedger(
  sql: Sql,
  account: string,
  limit: number,
  { kind, from, until, about, after }: LedgerFilter = {},
): Promise<LedgerRow[]> {
  const page = (entries: Fragment) => sql`
    (select id, created_at from ${entries}
      where account_id = ${account}
        ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
        ${from === undefined ? sql`` : sql`and created_at >= ${from}`}
        ${until === undefined ? sql`` : sql`and created_at < ${until}`}
        ${after === undefined ? sql`` : sql`and (created_at, id) < (select created_at, id from ledger_entries where id = ${after})`}
      order by created_at desc, id desc limit ${limit})`;
  const halves =
    kind === undefined ? [isCost(sql), isOther(sql)] : [COSTS.includes(kind) ? isCost(sql) : isOther(sql)];
  const [first, second] =
    about === undefined
      ? halves.map((half) => page(sql`(select * from ledger_entries where ${half}) e`))
      : [
          page(
            sql`(select * from ledger_entries where id in (${entriesAbout(sql, account, about)}) offset 0) e`,
          ),
        ];
  return await sql<LedgerRow[]>`
    with page as (
      select * from (${first!} ${second === undefined ? sql`` : sql`union all ${second}`}) halves
       order by created_at desc, id desc limit ${limit}
    )
    select e.id, kind, amount_grosze, test_credits, subject_kind, subject_id, p.id as payment_id, reference, note, e.created_at
      from page join ledger_entries e using (id)
      left join lateral (
        select id from payments p
         where e.kind = 'topup' and p.reference = e.reference and p.account_id = e.account_id
         union all
        select payment_id from payment_reversals r join payments p on p.id = r.payment_id
         where e.kind in ('payment_refund', 'dispute') and p.account_id = e.account_id
           and r.id = regexp_replace(e.reference, '^[^:]+:|:returned$', '', 'g')
         limit 1) p on true
     order by e.created_at desc, e.id desc`;
}

const COSTS: readonly LedgerKind[] = ['charge', 'refund'];

// As SQL. The two halves of a ledger have an index each: `ledger_costs` and `ledger_others`.
function isCost(sql: Sql): Fragment {
  return sql`kind in ('charge', 'refund')`;
}

function isOther(sql: Sql): Fragment {
  return sql`kind not in ('charge', 'refund')`;
}

function entriesAbout(sql: Sql, account: string, about: string): Fragment {
  return sql`
    select id from ledger_entries where subject_id = ${about}
     union all
    select id from ledger_entries where account_id = ${account} and reference = ${about}
     union all
    select e.id from payments p left join payment_reversals r on r.payment_id = p.id
      join ledger_entries e on e.account_id = p.account_id
       and e.reference in (p.reference, p.processor || ':' || r.id, p.processor || ':' || r.id || ':returned')
     where p.id = ${about} and p.account_id = ${account}`;
}

interface LedgerMoney {
  amountGrosze: number;
  testCredits: number;
}

/** The balance before and after a period, and what moved it. */
export interface LedgerSums {
  opening: LedgerMoney;
  kinds: readonly (LedgerMoney & { kind: LedgerKind; entries: number })[];
  closing: LedgerMoney;
}

/** Sums an account's entries of a period, by kind. In one statement with the balance, so that they agree whatever is charged meanwhile. */
export async function sumLedger(sql: Sql, account: string, from: Date, until: Date): Promise<LedgerSums> {
  const sums = (rest: Fragment) => sql`
    select kind, created_at >= ${until} as later, count(*) as entries, sum(amount_grosze) as grosze, sum(test_credits) as credits
      from ledger_entries where account_id = ${account} and ${rest} and created_at >= ${from} group by 1, 2`;
  const before = (which: Fragment) => sql`
    json_build_object('amountGrosze', a.balance_grosze - coalesce(sum(grosze) filter (where ${which}), 0),
                      'testCredits', a.test_credits - coalesce(sum(credits) filter (where ${which}), 0))`;
  const [row] = await sql<LedgerSums[]>`
    with sums as (${sums(isCost(sql))} union all ${sums(isOther(sql))})
    select ${before(sql`true`)} as opening, ${before(sql`later`)} as closing,
           coalesce(json_agg(json_build_object('kind', kind, 'entries', entries, 'amountGrosze', grosze, 'testCredits', credits))
                    filter (where not later), '[]') as kinds
      from accounts a left join sums on true where a.id = ${account} group by a.id`;
  return row!;
}

/** Days of which the mean cost is taken. */
const COST_DAYS = 30;

/** As SQL, for accounts `a`: the mean net cost of a day, of the last 30 or since the first charge; null: nothing was charged. */
export function dailyCost(sql: Sql): Fragment {
  return sql`
    (select nullif(greatest(-sum(amount_grosze), 0), 0)::float8
            / (select greatest(1, least(${COST_DAYS}, extract(epoch from now() - min(created_at)) / 86400))::float8
                 from ledger_entries where account_id = a.id and ${isCost(sql)})
       from ledger_entries
      where account_id = a.id and ${isCost(sql)} and created_at > now() - make_interval(days => ${COST_DAYS}))`;
}

/** As SQL, for accounts `a`: for how many whole days what is left pays. @param cost of a day; null: no number of days */
export function runwayDays(sql: Sql, cost: Fragment): Fragment {
  return sql`floor(greatest(${availableGrosze(sql)}, 0) / ${cost})::bigint`;
}

/** For how many whole days the account can go on as it did; null: nothing was charged. */
export async function readRunway(sql: Sql, account: string): Promise<number | null> {
  const [row] = await sql<{ days: number | null }[]>`
    select ${runwayDays(sql, dailyCost(sql))} as days from accounts a where id = ${account}`;
  return row?.days ?? null;
}

export async function ledgersAfter(sql: Sql, after: string, limit: number): Promise<LedgerState[]> {
  return await sql<
    LedgerState[]
  >`${states(sql, sql`(select * from accounts where id > ${after} order by id limit ${limit})`)}`;
}

export async function readLedgerState(sql: Sql, account: string): Promise<LedgerState | null> {
  const [state] = await sql<
    LedgerState[]
  >`${states(sql, sql`(select * from accounts where id = ${account})`)}`;
  return state ?? null;
}

// One statement, so that concurrent charges cannot make them differ. The sums come from an index.
function states(sql: Sql, accounts: Fragment): Fragment {
  return sql`
    select a.id as account_id, a.balance_grosze, s.sum_grosze, a.test_credits, s.sum_test_credits,
           a.balance_grosze = s.sum_grosze and a.test_credits = s.sum_test_credits as agrees
      from ${accounts} a
     cross join lateral (
       select coalesce(sum(amount_grosze), 0)::bigint as sum_grosze, coalesce(sum(test_credits), 0)::bigint as sum_test_credits
         from ledger_entries where account_id = a.id
     ) s
     order by a.id`;
}
