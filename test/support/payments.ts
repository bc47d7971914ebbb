import { database } from './factories.ts';
import { eventually } from './eventually.ts';
import type { Browser, PanelUnderTest, Person } from './panel.ts';

/** Enters a company for an account. */
export async function enterCompany(account: string): Promise<void> {
  await database()`
    insert into company_profiles (account_id, kind, name, nip, street, postal_code, city)
    values (${account}, 'company', 'Żółw & Spółka', '5260250274', 'Świętokrzyska 12', '00-916', 'Warszawa')`;
}

export interface OpenPayment {
  id: string;
  session: string;
}

/** Starts a top-up on the page, and waits until it can be paid. @param amount as typed */
export async function openTopUp({ browser }: Person, amount: string): Promise<OpenPayment> {
  const { to } = await browser.post('/panel/billing', { amount });
  const id = (to ?? '').replace('/panel/billing/', '');
  return { id, session: await sessionOf(browser, id) };
}

/** The checkout of a payment, once it is open. */
export async function sessionOf(browser: Browser, id: string): Promise<string> {
  const { text } = await eventually(
    () => browser.get(`/panel/billing/${id}`),
    (seen) => seen.text.includes('/simulator/payments/'),
  );
  return /\/simulator\/payments\/(cs_[0-9a-f]{24})/.exec(text)![1]!;
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
export async function paymentIs(id: string, state: string): Promise<void> {
  const read = () => database()<{ state: string }[]>`select state from payments where id = ${id}`;
  await eventually(read, ([row]) => row?.state === state);
}

/** The entries that payments have made in an account's ledger, oldest first. */
export async function bookedFor(account: string): Promise<[kind: string, grosze: number][]> {
  const rows = await database()<{ kind: string; amountGrosze: number }[]>`
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
