import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSmsc, type Smsc } from '../smsc/smsc.ts';
import { eventually } from '../support/eventually.ts';
import { outcomes, type Product, startProduct } from '../support/product.ts';
import { type Answer, listIn } from './support.ts';

const SETTINGS = { bindSeconds: 30, responseSeconds: 30, reconnectMinMs: 50, reconnectMaxMs: 300 };

let product: Product;
let smsc: Smsc;
beforeAll(async () => {
  [product, smsc] = await Promise.all([startProduct(1), startSmsc({ password: 'dobre' })]);
});
afterAll(async () => {
  await product.stop();
  await smsc.stop();
});

const routes = (...words: string[]) => product.admin(['routes', ...words]);
const live = async (): Promise<Answer> =>
  listIn(await routes('list')).find(({ name }) => name === 'live') ?? {};
const seen = (holds: (route: Answer) => boolean) => eventually(live, holds);
const bound = () => smsc.connections().filter(({ bind }) => bind !== null).length;

test('a running service follows the command line: new route, wrong and right password, more sessions, off and on', async () => {
  const account = await product.account();
  const add = ['add', '--name', 'live', '--kind', 'smpp', '--host', '127.0.0.1', '--port', String(smsc.port)];
  const access = ['--system-id', smsc.systemId, '--credentials', '-', '--settings', JSON.stringify(SETTINGS)];
  await product.admin(['routes', ...add, ...access], 'zlehaslo');
  await routes('rules', 'add', '--route', 'live', '--account', account.id);
  const broken = await seen((route) => Number(route['failures']) > 0);
  expect(broken).toMatchObject({ working: false, sessions: 0, sessions_wanted: 1, queue: 0 });
  expect(broken['last_error']).toEqual(expect.any(String));
  expect(JSON.stringify(broken)).not.toContain('haslo');

  const body = await account.api.accepted({ to: '+48500100200', text: 'Dzień dobry' });
  await seen((route) => route['queue'] === 1);
  await product.admin(
    ['routes', 'credentials', 'live', '--system-id', smsc.systemId, '--credentials', '-'],
    'dobre',
  );
  await seen((route) => route['working'] === true && route['sessions'] === 1 && route['queue'] === 0);
  const [message] = await eventually(
    () => outcomes(product.sql, account.id),
    ([one]) => one?.status === 'delivered',
  );
  expect(message).toMatchObject({ id: body.id, status: 'delivered', charges: 1, refunds: 0 });
  await seen((route) => route['reported_at'] !== null);

  await routes('change', 'live', '--sessions', '2', '--window', '5');
  await seen((route) => route['sessions'] === 2 && route['window'] === 10);
  expect(bound()).toBe(2);

  await routes('disable', 'live');
  await eventually(
    () => Promise.resolve(bound()),
    (open) => open === 0,
  );
  await seen((route) => route['sessions'] === 0 && route['state'] === 'disabled');
  expect(await routes('test', 'live')).toMatchObject({ works: true });

  await routes('enable', 'live');
  await seen((route) => route['sessions'] === 2);
  expect(smsc.submits).toHaveLength(1);
  expect(smsc.problems).toEqual([]);
});
