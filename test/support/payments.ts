import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { insertPayment } from '../../db/money/payments.ts';
import { moveCheckout } from '../../db/money/simulatedPayments.ts';
import { withVat } from '../../domain/vat.ts';
import { database, newAccount } from './factories.ts';
import { eventually } from './eventually.ts';
import { newPerson, type PanelUnderTest, type Person } from './panel.ts';

/** Enters a company for an account. */
export async function enterCompany(account: string, sql: Sql = database()): Promise<void> {
  await sql`
    insert into company_profiles (account_id, kind, name, nip, street, postal_code, city)
    values (${account}, 'company', 'Żółw & Spółka', '5260250274', 'Świętokrzyska 12', '00-916', 'Warszawa')
    on conflict do nothing`;
}

/** Stores a top-up of an account, which workers open at the simulated processor. */
export async function storeTopUp(sql: Database, account: string, netGrosze: number): Promise<string> {
  const id = newId('pay');
  const how = { automatic: false, processor: 'simulated', language: 'pl', returnUrl: null } as const;
  await enterCompany(account, sql);
  await transaction(sql, (tx) =>
    insertPayment(tx, { id, account, statement: null, ...withVat(netGrosze), ...how }),
  );
  return id;
}

/** The checkout of a payment, once workers have opened it. */
export async function sessionOf(sql: Sql, id: string): Promise<string> {
  const read = () => sql<{ session: string | null }[]>`select session from payments where id = ${id}`;
  const [row] = await eventually(read, ([found]) => typeof found?.session === 'string');
  return row!.session!;
}

/** The payer pays, which the processor has yet to say. */
export async function payCheckout(sql: Sql, session: string): Promise<void> {
  const paid = {
    state: 'paid',
    reference: `pi_${newId('pay').slice('pay_'.length)}`,
    method: 'card',
  } as const;
  await moveCheckout(sql, session, ['open'], paid);
}

export interface OpenPayment {
  id: string;
  session: string;
}

/** Starts a top-up on the page, and waits until it can be paid. @param amount as typed */
export async function openTopUp({ browser }: Person, amount: string): Promise<OpenPayment> {
  const { to } = await browser.post('/panel/billing', { amount });
  const id = (to ?? '').replace('/panel/billing/', '');
  return { id, session: await sessionOf(database(), id) };
}

/** Does something on the page of the simulated processor, as somebody on this machine. @returns where it leads */
export async function atProcessor(
  { api: { port } }: PanelUnderTest,
  session: string,
  form: Record<string, string>,
): Promise<{ status: number; to: string | null }> {
  const answer = await fetch(`http://127.0.0.1:${port}/simulator/payments/${session}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(form),
  });
  return { status: answer.status, to: answer.headers.get('location') };
}

/** The state of a payment, once it is so. */
export async function paymentIs(id: string, state: string, sql: Sql = database()): Promise<void> {
  const read = () => sql<{ state: string }[]>`select state from payments where id = ${id}`;
  await eventually(read, ([row]) => row?.state === state);
}

/** The entries that payments have made in an account's ledger, oldest first. */
export async function bookedFor(
  account: string,
  sql: Sql = database(),
): Promise<[kind: string, grosze: number][]> {
  const rows = await sql<{ kind: string; amountGrosze: number }[]>`
    select kind, amount_grosze from ledger_entries
     where account_id = ${account} and kind in ('topup', 'payment', 'payment_refund', 'dispute') order by id`;
  return rows.map(({ kind, amountGrosze }) => [kind, amountGrosze]);
}

/** Open findings about payments of an account. */
export async function paymentFindings(account: string): Promise<string[]> {
  const rows = await database()<{ kind: string }[]>`
    select kind from findings where account_id = ${account} and state = 'open' order by kind`;
  return rows.map(({ kind }) => kind);
}

/** The owner of a new test account without money, whose company is entered. */
export async function newPayer(panel: PanelUnderTest): Promise<Person> {
  const { id } = await newAccount({ mode: 'test', balance: 0, price: 15 });
  await enterCompany(id);
  return await newPerson(panel, 'owner', id);
}
