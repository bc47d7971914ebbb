import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { database, newAccount } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';
import {
  atProcessor,
  bookedFor,
  enterCompany,
  paymentFindings,
  paymentIs,
  sessionOf,
} from '../../support/payments.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel({ PAYMENT_PROCESSOR: 'simulated' });
});
afterAll(() => panel.api.stop());

const GROSZE = 12_345;

/** A postpaid account with an overdue statement, and a key. */
async function debtor(): Promise<{ person: Person; statement: string; key: string }> {
  const { id, key } = await newAccount({ billing: 'postpaid', balance: -GROSZE, creditLimit: 100_000 });
  await enterCompany(id);
  const statement = newId('st');
  await database()`
    insert into statements (id, account_id, month, amount_grosze, due_at)
    values (${statement}, ${id}, '2026-09-01', ${GROSZE}, now() - interval '1 day')`;
  return { person: await newPerson(panel, 'billing', id), statement, key };
}

const send = async (key: string): Promise<number> => {
  const answer = await fetch(`http://127.0.0.1:${panel.api.port}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: '+48500100200', text: 'Dzień dobry!' }),
  });
  return answer.status;
};

async function pay({ browser }: Person, statement: string): Promise<{ id: string; session: string }> {
  const { to } = await browser.post('/panel/billing', { statement });
  const id = (to ?? '').replace('/panel/billing/', '');
  return { id, session: await sessionOf(database(), id) };
}

describe('an overdue statement', () => {
  it('is paid by the same checkout, with VAT, and sends go on', async () => {
    const { person, statement, key } = await debtor();
    expect(await send(key)).toBe(402);
    expect((await person.browser.get('/panel/statements')).text).toContain('Zapłać teraz');
    const { id, session } = await pay(person, statement);
    const page = (await person.browser.get(`/panel/billing/${id}`)).text;
    for (const text of [statement, '123,45', '28,39', '151,84']) expect(page).toContain(text);
    // Asked for again, it is the same payment.
    expect(await person.browser.post('/panel/billing', { statement })).toMatchObject({
      to: `/panel/billing/${id}`,
    });
    await atProcessor(panel, session, { action: 'pay', method: 'p24' });
    await paymentIs(id, 'paid');
    expect(await bookedFor(person.account)).toEqual([['payment', GROSZE]]);
    const [row] = await database()<{ paid: boolean; reference: string }[]>`
      select s.paid_at is not null as paid, l.reference from statements s
        join ledger_entries l on l.subject_id = s.id where s.id = ${statement}`;
    expect(row).toMatchObject({ paid: true, reference: expect.stringMatching(/^simulated:pi_/) as string });
    expect(await send(key)).toBe(201);
    expect((await person.browser.post('/panel/billing', { statement })).status).toBe(422);
  });

  it('whose payment is refunded stays paid, and staff are told until the money is back', async () => {
    const { person, statement } = await debtor();
    const { id, session } = await pay(person, statement);
    await atProcessor(panel, session, { action: 'pay', method: 'card' });
    await paymentIs(id, 'paid');
    await atProcessor(panel, session, { action: 'refund', amount: '151.84' });
    const findings = (count: number) =>
      eventually(
        () => paymentFindings(person.account),
        (kinds) => kinds.length === count,
      );
    expect(await findings(1)).toEqual(['payment_refunded']);
    expect(await bookedFor(person.account)).toEqual([
      ['payment', GROSZE],
      ['payment_refund', -GROSZE],
    ]);
    const [refund] = await database()<{ id: string }[]>`
      select id from simulated_reversals where session = ${session}`;
    await atProcessor(panel, session, { action: 'return', reversal: refund!.id });
    expect(await findings(0)).toEqual([]);
  });

  it('that was paid by transfer meanwhile leaves the payment as credit, and staff are told', async () => {
    const { person, statement } = await debtor();
    const { session } = await pay(person, statement);
    await database().begin(async (tx) => {
      await tx`update statements set paid_at = now() where id = ${statement}`;
      await tx`
        insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
        values (${person.account}, 'payment', ${GROSZE}, 'statement', ${statement})`;
    });
    await atProcessor(panel, session, { action: 'pay', method: 'card' });
    await eventually(
      () => bookedFor(person.account),
      (entries) => entries.length === 2,
    );
    expect(await bookedFor(person.account)).toEqual([
      ['payment', GROSZE],
      ['topup', GROSZE],
    ]);
    expect(await paymentFindings(person.account)).toEqual(['payment_unowed']);
  });

  it('of another account cannot be paid', async () => {
    const [own, other] = [await debtor(), await debtor()];
    const seen = await own.person.browser.post('/panel/billing', { statement: other.statement });
    expect(seen.status).toBe(422);
    expect(seen.text).toContain('Nie ma takiego rozliczenia');
  });
});
