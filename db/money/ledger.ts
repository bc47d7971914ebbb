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

export async function listLedger(sql: Sql, account: string, limit: number): Promise<LedgerRow[]> {
  return await sql<LedgerRow[]>`
    select id, kind, amount_grosze, test_credits, subject_kind, subject_id, reference, note,
           created_at from ledger_entries
     where account_id = ${account} order by id desc limit ${limit}`;
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
