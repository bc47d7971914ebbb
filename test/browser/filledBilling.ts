import { newId } from '../../db/ids.ts';
import { database } from '../support/factories.ts';
import { PLANTED } from './filledAccount.ts';

/** Payments by what has become of them. */
export const PAYMENTS = {
  starting: { state: 'starting' },
  open: { state: 'open', session_url: '/simulator/payments/cs_open' },
  expired: { state: 'expired' },
  failed: { state: 'failed' },
  paid: {},
  byKeptCard: { automatic: true },
  partly: { reversals: [['refund', 4_100]] },
  refunded: {
    reversals: [
      ['refund', 4_100],
      ['refund', 8_200],
    ],
  },
  disputed: {
    reversals: [
      ['refund', 4_100],
      ['dispute', 8_200],
    ],
  },
} as const satisfies Record<string, Payment>;
/** States of checkouts at the simulated processor. */
export const CHECKOUTS = ['open', 'unpaid', 'paid', 'expired', 'failed'] as const;

interface Payment {
  state?: string;
  session_url?: string;
  automatic?: boolean;
  reversals?: readonly (readonly [kind: 'refund' | 'dispute', gross: number])[];
}

// Of 200 characters: markup that would ask for more, and a mark that turns what follows around.
const NAME = `\u202e${'"><img src=x onerror=alert(1)>'.repeat(7)}`.slice(0, 200);
const NOTE = `\u202e${PLANTED}`.repeat(5).slice(0, 500);

/** Gives an account a hostile company, payments in every state, and entries of every kind. @returns ids of the payments */
export async function filledBilling(account: string, message: string): Promise<Record<string, string>> {
  const sql = database();
  const company = { kind: 'company', name: NAME, nip: '5260250274', street: NAME, city: NAME.slice(0, 100) };
  await sql`insert into company_profiles ${sql({ ...company, account_id: account, postal_code: '00-916' })}`;
  await sql`
    insert into automatic_top_ups (account_id, enabled, threshold_grosze, net_grosze, monthly_cap_grosze, last_refused_at)
    values (${account}, true, 2000, 10000, 30000, now())`;
  await sql`insert into kept_cards values (${account}, 'simulated', 'cus', 'pm', ${PLANTED}, '4242')`;
  const ids: Record<string, string> = {};
  for (const [name, payment] of Object.entries(PAYMENTS)) {
    ids[name] = newId('pay');
    await addPayment(account, ids[name], payment, { ...company, postalCode: '00-916' });
  }
  for (const state of CHECKOUTS) await addCheckout(account, state);
  await addEntries(account, message, ids['paid']!);
  return ids;
}

async function addPayment(account: string, id: string, payment: Payment, buyer: object): Promise<void> {
  const sql = database();
  const { reversals = [], state = 'paid', automatic = false, session_url = null } = payment;
  const isPaid = state === 'paid';
  const price = { net_grosze: 10_000, vat_grosze: 2_300, gross_grosze: 12_300 };
  // Longer ago than the page of one that starts reloads.
  const created_at = new Date(Date.now() - 3_600_000);
  const paid = { paid_at: isPaid ? new Date() : null, reference: isPaid ? `simulated:${id}` : null };
  const row = {
    id,
    account_id: account,
    ...price,
    automatic,
    processor: 'simulated',
    state,
    session_url,
    created_at,
    ...paid,
  };
  await sql`insert into payments ${sql({ ...row, buyer: sql.json(buyer as Record<string, string>) })}`;
  for (const [at, [kind, gross]] of reversals.entries())
    await sql`
      insert into payment_reversals (payment_id, id, kind, gross_grosze, net_grosze)
      values (${id}, ${`re_${at}_${id}`}, ${kind}, ${gross}, ${gross})`;
}

async function addCheckout(account: string, state: (typeof CHECKOUTS)[number]): Promise<void> {
  const sql = database();
  const session = `cs_${state}`;
  await sql`
    insert into simulated_checkouts (session, payment_id, account_id, gross_grosze, description, return_url, save_card, state, method, expires_at)
    values (${session}, ${newId('pay')}, ${account}, 12300, ${NAME}, '/', false, ${state}, 'card', now() + interval '1 day')`;
  for (const kind of ['refund', 'dispute'])
    await sql`
      insert into simulated_reversals (id, session, kind, gross_grosze) values (${`${kind}_${state}`}, ${session}, ${kind}, 100)`;
}

async function addEntries(account: string, message: string, payment: string): Promise<void> {
  const sql = database();
  const [lookup, statement] = [newId('hlr'), newId('st')];
  await sql`insert into number_lookups ${sql({ id: lookup, account_id: account, msisdn: '+48500100200', route: 'r', cost_grosze: 5 })}`;
  await sql`
    insert into statements (id, account_id, month, amount_grosze, due_at, paid_at)
    values (${statement}, ${account}, '2026-01-01', 700, now(), now())`;
  const reference = `simulated:${payment}`;
  const entries = [
    { kind: 'topup', amount_grosze: 10_000, reference },
    { kind: 'topup', amount_grosze: 5_000, reference: NOTE.slice(0, 200), note: NOTE },
    { kind: 'charge', amount_grosze: -5, subject_kind: 'lookup', subject_id: lookup },
    { kind: 'refund', amount_grosze: 31, subject_kind: 'message', subject_id: message },
    { kind: 'payment', amount_grosze: 700, subject_kind: 'statement', subject_id: statement },
    { kind: 'payment_refund', amount_grosze: -1_000, reference: `re_${payment}` },
    { kind: 'payment_refund', amount_grosze: 1_000, reference: `re_${payment}:returned` },
    { kind: 'dispute', amount_grosze: -200, reference: `dp_${payment}` },
    { kind: 'adjustment', amount_grosze: -99_999_999_999, note: NOTE },
    { kind: 'adjustment', amount_grosze: 99_999_999_999, note: NOTE },
  ];
  for (const entry of entries)
    await sql`insert into ledger_entries ${sql({ account_id: account, ...entry })}`;
}
