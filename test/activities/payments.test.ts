import { expect, test } from 'vitest';
import { paymentActivities } from '../../activities/payments.ts';
import { transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { saveAutomaticTopUp, saveCard } from '../../db/money/automaticTopUps.ts';
import { insertPayment } from '../../db/money/payments.ts';
import { simulatedPayments } from '../../db/money/simulatedPayments.ts';
import type { ProcessorName } from '../../domain/payments.ts';
import { withVat } from '../../domain/vat.ts';
import type { PaymentProcessor } from '../../payments/processor.ts';
import { simulatedProcessor } from '../../payments/simulated.ts';
import { fileDatabase } from '../support/database.ts';
import { bookedFor, enterCompany, payCheckout, sessionOf, storeTopUp } from '../support/payments.ts';

const { sql } = await fileDatabase();

const simulated = simulatedProcessor(simulatedPayments(sql));
const activitiesOf = (processor: PaymentProcessor, current: ProcessorName | null) =>
  paymentActivities(sql, [processor], () => Promise.resolve(current));

async function newAccount(): Promise<string> {
  const id = newId('cl');
  await sql`insert into accounts (id, name, mode) values (${id}, 'A', 'test')`;
  await enterCompany(id, sql);
  return id;
}

const findingsOf = (id: string) => sql<{ state: string; details: object }[]>`
  select state, details from findings where kind = 'payment_differs' and subject = ${id}`;

test.each(['stripe', null] as const)(
  'nobody pays at the simulated processor where payments are made by %s',
  async (current) => {
    const account = await newAccount();
    const id = await storeTopUp(sql, account, 5_000);
    await activitiesOf(simulated, current).openPayment(id);
    await payCheckout(sql, await sessionOf(sql, id));
    await activitiesOf(simulated, current).lookAtPayment(id, null);
    expect(await bookedFor(account, sql)).toEqual([]);
    expect(await findingsOf(id)).toEqual([{ state: 'open', details: { differs: ['processor'] } }]);

    await activitiesOf(simulated, 'simulated').lookAtPayment(id, null);
    expect(await bookedFor(account, sql)).toEqual([['topup', 5_000]]);
    // What was paid before the installation went live stays so.
    await activitiesOf(simulated, current).lookAtPayment(id, null);
    expect(await findingsOf(id)).toMatchObject([{ state: 'gone' }]);
  },
);

test('a charge whose answer was lost is asked for by the same card, whatever was changed meanwhile', async () => {
  const account = await newAccount();
  const settings = { enabled: true, thresholdGrosze: 100, netGrosze: 5_000, monthlyCapGrosze: 5_000 };
  const card = { processor: 'stripe', customer: 'cus_1', method: 'pm_1', brand: 'visa', last4: '4242' };
  await saveAutomaticTopUp(sql, account, settings);
  await saveCard(sql, account, card);
  const id = newId('pay');
  const how = { automatic: true, processor: 'stripe', language: 'pl', returnUrl: null } as const;
  await transaction(sql, (tx) =>
    insertPayment(tx, { id, account, statement: null, ...withVat(5_000), ...how }),
  );
  const asked: string[] = [];
  const worker = activitiesOf(
    {
      ...simulated,
      name: 'stripe',
      chargeCard(_, { customer, method }) {
        asked.push(`${customer} ${method}`);
        return asked.length === 1
          ? Promise.reject(new Error('the answer is lost'))
          : Promise.resolve({ reference: 'pi_1' });
      },
    },
    'stripe',
  );
  await expect(worker.openPayment(id)).rejects.toThrow('lost');
  await saveCard(sql, account, { ...card, customer: 'cus_2', method: 'pm_2' });
  await saveAutomaticTopUp(sql, account, { ...settings, enabled: false });
  await worker.openPayment(id);
  expect(asked).toEqual(['cus_1 pm_1', 'cus_1 pm_1']);
  const [row] = await sql`select state, reference from payments where id = ${id}`;
  expect(row).toEqual({ state: 'open', reference: 'stripe:pi_1' });
});
