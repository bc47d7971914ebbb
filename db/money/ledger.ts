import type { Fragment, Sql } from '../connection.ts';

/** As SQL, of accounts `a`: what one may spend, in grosze net: its balance, and where it is postpaid its credit limit. */
export function availableGrosze(sql: Sql): Fragment {
  return sql`a.balance_grosze + case when a.billing_mode = 'postpaid' then a.credit_limit_grosze else 0 end`;
}

/** What staff book. Charges and refunds belong to messages and look-ups and are written by the pipeline alone. */
type BookingKind = 'opening' | 'topup' | 'adjustment' | 'payment';

/** One booking; the database moves the account's balance with it, in the same statement. */
interface Booking {
  account: string;
  kind: BookingKind;
  /** Grosze net, negative when taken from the account. */
  grosze: number;
  /** Test credits given; 0 if absent. */
  testCredits?: number;
  /** What the entry is about, where it is about anything but the account itself. */
  subject?: { kind: 'statement'; id: string };
  /** Of a payment, as the payer or the bank names it: an account has one entry with it. */
  reference?: string;
  note?: string;
}

interface LedgerRow {
  id: number;
  kind: BookingKind | 'charge' | 'refund';
  amountGrosze: number;
  testCredits: number;
  subjectKind: 'message' | 'lookup' | 'statement' | null;
  subjectId: string | null;
  reference: string | null;
  note: string | null;
  createdAt: Date;
}

/** An account's balance beside the sum of its entries, both of one moment. They agree unless someone forced the database. */
interface LedgerState {
  accountId: string;
  balanceGrosze: number;
  sumGrosze: number;
  testCredits: number;
  sumTestCredits: number;
  agrees: boolean;
}

/** Writes one ledger entry and with it moves the balance. */
export async function book(sql: Sql, booking: Booking): Promise<void> {
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id, reference, note)
    values (${booking.account}, ${booking.kind}, ${booking.grosze}, ${booking.testCredits ?? 0},
            ${booking.subject?.kind ?? null}, ${booking.subject?.id ?? null}, ${booking.reference ?? null}, ${booking.note ?? null})`;
}

/** The entry of a payment; undefined where none was booked with this reference. */
export async function readPayment(
  sql: Sql,
  account: string,
  reference: string,
): Promise<Pick<LedgerRow, 'kind' | 'amountGrosze'> | undefined> {
  const [entry] = await sql<Pick<LedgerRow, 'kind' | 'amountGrosze'>[]>`
    select kind, amount_grosze from ledger_entries where account_id = ${account} and reference = ${reference}`;
  return entry;
}

/** The latest entries of an account, newest first. */
export async function listLedger(sql: Sql, account: string, limit: number): Promise<LedgerRow[]> {
  return [
    ...(await sql<LedgerRow[]>`
      select id, kind, amount_grosze, test_credits, subject_kind, subject_id, reference, note,
             created_at from ledger_entries
       where account_id = ${account} order by id desc limit ${limit}`),
  ];
}

/** A page of ledgers, by their accounts' ids. */
export async function ledgersAfter(sql: Sql, after: string, limit: number): Promise<LedgerState[]> {
  return await sql<
    LedgerState[]
  >`${states(sql, sql`(select * from accounts where id > ${after} order by id limit ${limit})`)}`;
}

/** The state of an account's ledger; null when there is no such account. */
export async function readLedgerState(sql: Sql, account: string): Promise<LedgerState | null> {
  const [state] = await sql<
    LedgerState[]
  >`${states(sql, sql`(select * from accounts where id = ${account})`)}`;
  return state ?? null;
}

// In one statement, so that charges under way cannot make them differ. The sums are read off an index.
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
