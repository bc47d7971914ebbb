import type { PaymentState, Reversal, WantedCheckout, WantedPayment } from '../../domain/payments.ts';
import { type Database, type Sql, transaction } from '../connection.ts';

export interface SimulatedCheckout {
  session: string;
  paymentId: string;
  accountId: string;
  grossGrosze: number;
  currency: string;
  live: boolean;
  description: string;
  returnUrl: string;
  saveCard: boolean;
  state: PaymentState['state'];
  reference: string | null;
  method: PaymentState['method'];
  expiresAt: Date;
  createdAt: Date;
}

/** Stores the state of the simulated payment processor. */
export function simulatedPayments(sql: Database) {
  return {
    /** Opens a checkout; a repeated one changes nothing. */
    async open(session: string, { id, accountId, grossGrosze, ...how }: WantedCheckout): Promise<void> {
      await sql`
        insert into simulated_checkouts (session, payment_id, account_id, gross_grosze, description, return_url, save_card, expires_at)
        values (${session}, ${id}, ${accountId}, ${grossGrosze}, ${how.description}, ${how.returnUrl}, ${how.saveCard}, ${how.expiresAt})
        on conflict do nothing`;
    },
    /** Charges the kept card. */
    async charge(
      reference: string,
      { id, accountId, grossGrosze, description }: WantedPayment,
    ): Promise<void> {
      await sql`
        insert into simulated_checkouts (session, payment_id, account_id, gross_grosze, description, return_url, save_card, state,
                                         reference, method, expires_at)
        values (${reference}, ${id}, ${accountId}, ${grossGrosze}, ${description}, '', false, 'paid', ${reference}, 'card', now())
        on conflict do nothing`;
    },
    /** A checkout, expired by now if nobody paid it, with what went back. */
    read: (session: string) => readCheckout(sql, session),
    /** Refunds a part, once by its id. @returns false if no such part is left */
    refund: (session: string, refund: { id: string; grossGrosze: number }) =>
      transaction(sql, (tx) => reverse(tx, session, { ...refund, kind: 'refund' })),
  };
}

/** A checkout of the simulated processor, expired by now if nobody paid it, with what went back. @param key its session or payment */
export async function readCheckout(
  sql: Sql,
  key: string,
): Promise<(SimulatedCheckout & { reversals: Reversal[] }) | undefined> {
  await sql`
    update simulated_checkouts set state = 'expired' where session = ${key} and state = 'open' and expires_at <= now()`;
  const [checkout] = await sql<SimulatedCheckout[]>`
    select ${columns(sql)} from simulated_checkouts where session = ${key} or reference = ${key}`;
  if (checkout === undefined) return undefined;
  const reversals = await sql<Reversal[]>`
    select id, kind, gross_grosze, stands from simulated_reversals where session = ${checkout.session} order by created_at, id`;
  return { ...checkout, reversals };
}

export async function listCheckouts(sql: Sql, limit: number): Promise<SimulatedCheckout[]> {
  return await sql<SimulatedCheckout[]>`
    select ${columns(sql)} from simulated_checkouts order by created_at desc limit ${limit}`;
}

/** What the payer did, or the bank: moves a checkout on. @returns false if it is no longer in one of these states */
export async function moveCheckout(
  sql: Sql,
  session: string,
  from: readonly PaymentState['state'][],
  to: { state: PaymentState['state']; reference?: string; method?: PaymentState['method'] },
): Promise<boolean> {
  const moved = await sql`
    update simulated_checkouts
       set state = ${to.state}, reference = coalesce(reference, ${to.reference ?? null}), method = coalesce(${to.method ?? null}, method)
     where session = ${session} and state = any(${from as string[]}) and (state <> 'open' or expires_at > now())`;
  return moved.count > 0;
}

/** Takes money back from a paid checkout, once by the id. @returns false if not that much is left */
export async function reverse(
  tx: Sql,
  session: string,
  { id, kind, grossGrosze }: Omit<Reversal, 'stands'>,
): Promise<boolean> {
  await tx`select from simulated_checkouts where session = ${session} for update`;
  const inserted = await tx`
    insert into simulated_reversals (id, session, kind, gross_grosze)
    select ${id}, session, ${kind}, ${grossGrosze} from simulated_checkouts c
     where session = ${session} and state = 'paid' and gross_grosze >= ${grossGrosze} + coalesce((
       select sum(gross_grosze) from simulated_reversals r where r.session = c.session and stands), 0)
    on conflict (id) do nothing`;
  if (inserted.count > 0) return true;
  const known = await tx`select from simulated_reversals where id = ${id} and session = ${session}`;
  return known.count > 0;
}

/** The refund failed, or the dispute was won. */
export async function returnReversal(sql: Sql, session: string, id: string): Promise<boolean> {
  const returned = await sql`
    update simulated_reversals set stands = false where session = ${session} and id = ${id} and stands`;
  return returned.count > 0;
}

function columns(sql: Sql) {
  return sql`
    session, payment_id, account_id, gross_grosze, currency, live, description, return_url, save_card, state, reference, method,
    expires_at, created_at`;
}
