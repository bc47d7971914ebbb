import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { accounts, outcomes, type Product, type ProductAccount, startProduct } from '../support/product.ts';
import { type ServiceProcess, spawnProcess } from '../support/service.ts';

const MESSAGES = 20;
const number = (index: number): string => `+48500100${String(200 + index)}`;

let product: Product;
let account: ProductAccount;
beforeAll(async () => {
  product = await startProduct(1);
  account = await product.account();
});
afterAll(() => product?.stop());

async function kill({ child }: ServiceProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Every message delivered, charged once, refunded never, submitted once; and the money exact. */
async function expectAllDeliveredOnce(count: number): Promise<void> {
  const all = await eventually(
    () => outcomes(product.sql, account.id),
    (found) => found.every(({ status }) => status === 'delivered'),
  );
  expect(all.map(({ charges, refunds }) => [charges, refunds])).toEqual(Array(count).fill([1, 0]));
  const submits = await product.sql<{ n: number }[]>`
    select count(*)::int as n from simulator_submits s join messages m on s.reference like m.id || '/%'
     where m.account_id = ${account.id} group by s.reference`;
  expect(submits.map(({ n }) => n)).toEqual(Array(count).fill(1));
  const { balance, ledger, expected } = await accounts(product.sql, account.id);
  expect([balance, ledger]).toEqual([expected, expected]);
}

it('what was accepted before the only worker is killed is delivered once by the next one', async () => {
  const numbers = Array.from({ length: MESSAGES }, (_, index) => number(index));
  const answers = await Promise.all(numbers.map((to) => account.api.send({ to, text: 'x' })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  await kill(product.worker);
  await product.addWorker();
  await expectAllDeliveredOnce(MESSAGES);
});

it('a send whose API is killed before it answers is made once by a repetition with its key', async () => {
  const api = await spawnProcess('api', product.service);
  const key = 'repeated-after-a-kill';
  const body = { to: number(MESSAGES), text: 'x' };
  const first = apiClient(api.url, account.key)
    .send(body, key)
    .catch(() => null);
  await eventually(
    () => product.sql`select from messages where account_id = ${account.id} and recipient = ${body.to}`,
    (rows) => rows.length > 0,
  );
  await kill(api);
  await first;
  const answer = await eventually(
    () => account.api.send(body, key),
    ({ status }) => status === 201,
  );
  expect(answer.body).toMatchObject({ to: body.to });
  await expectAllDeliveredOnce(MESSAGES + 1);
});
