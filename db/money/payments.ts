import type { Buyer } from '../../domain/parties.ts';
import type { Reversal } from '../../domain/payments.ts';
import type { Price } from '../../domain/vat.ts';
import type { Sql } from '../connection.ts';
import { reserved } from './reservations.ts';

export interface PaymentRow extends Price {
  /** `pay_…`, also of its workflow. */
  id: string;
  accountId: string;
  /** The statement that it pays; null: a top-up. */
  statementId: string | null;
  buyer: Buyer;
  /** By the saved card. */
  automatic: boolean;
  processor: string;
  language: 'pl' | 'en';
  /** Where the processor sends the payer afterwards; null of an automatic one. */
  returnUrl: string | null;
  /** The checkout at the processor; null until it is open. */
  session: string | null;
  sessionUrl: string | null;
  /** Of the processor's payment, such as `stripe:pi_…`; its ledger entry has the same. */
  reference: string | null;
  method: string | null;
  /** The kept card that was asked for, where the processor was. */
  chargedCustomer: string | null;
  chargedMethod: string | null;
  /** `starting`: the processor has not been asked yet; `open`: it can be paid, or is not confirmed. */
  state: 'starting' | 'open' | 'paid' | 'expired' | 'failed';
  createdAt: Date;
  expiresAt: Date;
  paidAt: Date | null;
}

export interface NewPayment extends Price {
  id: string;
  account: string;
  statement: string | null;
  automatic: boolean;
  processor: string;
  language: 'pl' | 'en';
  returnUrl: string | null;
}

/** Stores a payment and reserves its workflow. @returns false without the company data of the account, and if an automatic one is open */
export async function insertPayment(tx: Sql, payment: NewPayment): Promise<boolean> {
  const { id, account, statement, automatic, processor, language, returnUrl } = payment;
  const { netGrosze, vatGrosze, grossGrosze } = payment;
  const stored = await tx`
    insert into payments (id, account_id, statement_id, net_grosze, vat_grosze, gross_grosze, automatic, processor, language, return_url,
                          buyer)
    select ${id}, account_id, ${statement}, ${netGrosze}, ${vatGrosze}, ${grossGrosze}, ${automatic}, ${processor}, ${language},
           ${returnUrl}, jsonb_build_object('kind', kind, 'name', name, 'nip', nip, 'street', street, 'postalCode', postal_code, 'city', city)
      from company_profiles where account_id = ${account}
    on conflict do nothing`;
  if (stored.count === 0) return false;
  await reserved(tx, 'payment', tx`select ${id} as id, ${account} as account_id`);
  return true;
}

/** Payments that somebody may still pay. */
export async function openPaymentsOf(sql: Sql, account: string): Promise<PaymentRow[]> {
  return await sql<PaymentRow[]>`
    select ${columns(sql)} from payments where account_id = ${account} and state in ('starting', 'open')`;
}

export async function readPaymentRow(sql: Sql, id: string): Promise<PaymentRow | undefined> {
  const [row] = await sql<PaymentRow[]>`select ${columns(sql)} from payments where id = ${id}`;
  return row;
}

/** Lock the account first: bookings do. */
export async function lockPayment(tx: Sql, id: string): Promise<PaymentRow | undefined> {
  const [row] = await tx<PaymentRow[]>`select ${columns(tx)} from payments where id = ${id} for update`;
  return row;
}

/** A payment by our id or the processor's. */
export async function findPayment(
  sql: Sql,
  processor: string,
  { id, reference }: { id: string | null; reference: string | null },
): Promise<Pick<PaymentRow, 'id' | 'accountId'> | undefined> {
  const [row] = await sql<Pick<PaymentRow, 'id' | 'accountId'>[]>`
    select id, account_id from payments
     where (id = ${id} or reference = ${reference === null ? null : `${processor}:${reference}`}) and processor = ${processor}`;
  return row;
}

/** Stores which kept card is asked for, before it is. */
export async function noteCharging(
  sql: Sql,
  id: string,
  { customer, method }: { customer: string; method: string },
): Promise<void> {
  await sql`update payments set charged_customer = ${customer}, charged_method = ${method} where id = ${id}`;
}

/** Stores where a payment can be paid. */
export async function noteOpen(
  sql: Sql,
  id: string,
  { session, url, reference }: { session: string | null; url: string | null; reference: string | null },
): Promise<void> {
  await sql`
    update payments set state = 'open', session = ${session}, session_url = ${url}, reference = ${reference}
     where id = ${id} and state = 'starting'`;
}

/** Ends a payment that was not paid. */
export async function noteUnpaid(sql: Sql, id: string, state: 'expired' | 'failed'): Promise<void> {
  await sql`update payments set state = ${state} where id = ${id} and state in ('starting', 'open')`;
}

export async function notePaid(
  tx: Sql,
  id: string,
  { reference, method }: { reference: string; method: string | null },
): Promise<void> {
  await tx`
    update payments set state = 'paid', paid_at = now(), reference = ${reference}, method = ${method} where id = ${id}`;
}

/** Whether the payer's return may ask for a look: every few seconds at first, less often later. */
export async function mayAskToLook(sql: Sql, id: string): Promise<boolean> {
  const asked = await sql`
    update payments set look_asked_at = now()
     where id = ${id} and state = 'open' and (look_asked_at is null or look_asked_at < now() - greatest(interval '2 seconds', (now() - created_at) / 50))`;
  return asked.count > 0;
}

export interface ReversalRow extends Pick<Reversal, 'id' | 'kind' | 'grossGrosze'> {
  /** What the ledger booked. */
  netGrosze: number;
  createdAt: Date;
  /** The refund failed, or the dispute was won; null: the money is gone. */
  returnedAt: Date | null;
}

export async function reversalsOf(sql: Sql, payment: string): Promise<ReversalRow[]> {
  return await sql<ReversalRow[]>`
    select id, kind, gross_grosze, net_grosze, created_at, returned_at from payment_reversals
     where payment_id = ${payment} order by created_at, id`;
}

export async function insertReversal(
  tx: Sql,
  payment: string,
  { id, kind, grossGrosze }: Reversal,
  netGrosze: number,
): Promise<void> {
  await tx`
    insert into payment_reversals (payment_id, id, kind, gross_grosze, net_grosze)
    values (${payment}, ${id}, ${kind}, ${grossGrosze}, ${netGrosze})`;
}

/** Moves net to a reversal that stands. */
export async function addToReversal(tx: Sql, payment: string, id: string, netGrosze: number): Promise<void> {
  await tx`
    update payment_reversals set net_grosze = net_grosze + ${netGrosze} where payment_id = ${payment} and id = ${id}`;
}

export async function noteReturned(tx: Sql, payment: string, id: string): Promise<void> {
  await tx`update payment_reversals set returned_at = now() where payment_id = ${payment} and id = ${id}`;
}

interface StandingTopUps {
  /** The largest top-up. */
  largestGrosze: number;
  /** With the opening balance. */
  sumGrosze: number;
  /** The price per part that staff set; null: they set none. */
  agreedPriceGrosze: number | null;
}

/** What stays paid in of an account, grosze net, and the price without it. */
export async function standingTopUps(tx: Sql, account: string): Promise<StandingTopUps> {
  const [row] = await tx<StandingTopUps[]>`
    select coalesce(max(left_grosze) filter (where kind = 'topup'), 0)::bigint as largest_grosze,
           coalesce(sum(left_grosze), 0)::bigint as sum_grosze,
           (select agreed_price_grosze from accounts where id = ${account})
      from (select e.kind, e.amount_grosze - coalesce((
                     select sum(r.net_grosze) from payments p join payment_reversals r on r.payment_id = p.id
                      where p.reference = e.reference and p.account_id = e.account_id and r.returned_at is null), 0) as left_grosze
              from ledger_entries e where e.account_id = ${account} and e.kind in ('topup', 'opening')) paid_in`;
  return row!;
}

/** Fixes the price per part, grosze net, and whether the account sends live. */
export async function setTerms(
  tx: Sql,
  account: string,
  { pricePerPartGrosze, mode }: { pricePerPartGrosze: number; mode: 'test' | 'live' },
): Promise<void> {
  await tx`select set_terms(${account}, ${pricePerPartGrosze}, ${mode === 'live'})`;
}

export interface ListedPayment extends PaymentRow {
  /** What went back, gross. */
  refundedGrosze: number;
  disputedGrosze: number;
}

/** An account's payments, newest first. @param account null: of all @param before an id, to go on after it */
export async function paymentsOf(
  sql: Sql,
  { account, before, limit }: { account: string | null; before: string | null; limit: number },
): Promise<ListedPayment[]> {
  return await sql<ListedPayment[]>`
    ${listed(sql)}
     where ${account === null ? sql`true` : sql`account_id = ${account}`}
       and ${before === null ? sql`true` : sql`payments.id < ${before}`}
     order by payments.id desc limit ${limit}`;
}

/** One payment of an account. */
export async function readListedPayment(
  sql: Sql,
  account: string,
  id: string,
): Promise<ListedPayment | undefined> {
  const [row] = await sql<ListedPayment[]>`
    ${listed(sql)} where account_id = ${account} and payments.id = ${id}`;
  return row;
}

function listed(sql: Sql) {
  return sql`
    select ${columns(sql)}, back.*
      from payments cross join lateral (
        select coalesce(sum(gross_grosze) filter (where kind = 'refund'), 0)::bigint as refunded_grosze,
               coalesce(sum(gross_grosze) filter (where kind = 'dispute'), 0)::bigint as disputed_grosze
          from payment_reversals where payment_id = payments.id and returned_at is null) back`;
}

/** Open payments whose workflows may be lost. */
export async function longOpenPayments(
  sql: Sql,
  limit: number,
): Promise<{ id: string; accountId: string }[]> {
  return await sql<{ id: string; accountId: string }[]>`
    select id, account_id from payments
     where state in ('starting', 'open') and created_at < now() - interval '2 hours' order by created_at limit ${limit}`;
}

function columns(sql: Sql) {
  return sql`
    payments.id, account_id, statement_id, net_grosze, vat_grosze, gross_grosze, buyer, automatic, processor, language, return_url, session,
    session_url, reference, method, charged_customer, charged_method, state, payments.created_at, expires_at, paid_at`;
}
