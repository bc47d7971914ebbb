import { randomBytes } from 'node:crypto';
import { migrate } from '../db/migrate.ts';
import {
  addRoute,
  addRule,
  readRouteRules,
  readRouting,
  removeRule,
  sealCredentials,
} from '../db/routes/routes.ts';
import { smppSettings } from '../providers/smpp/settings.ts';
import { beginByWebhooks, type Contender, noneRunning } from './contender.ts';
import { addAccount, addRole } from './database.ts';
import type { Ground } from './ground.ts';
import { type Caller, numbers, openCaller, run } from './load.ts';
import { ROUTE_CREDENTIALS, ROUTE_SETTINGS } from './plain/provider.ts';
import type { Program } from './program.ts';
import { until } from './until.ts';

const ROUTE = 'bench';
const WARM_UP = 200;
const SECRETS_KEY = randomBytes(32);

/** The product: API and worker, a process each, as `npm run api` and `npm run worker` start them. */
export interface Product {
  apiUrl: string;
  pids: Record<string, number>;
  /** The account that its messages are sent for, unless others are added. */
  customer: Customer;
}

/** An account of the product with a webhook, and a caller with its key. */
export interface Customer {
  id: string;
  caller: Caller;
}

/** Starts the product with the SMSC as its only route, and warms it up. */
export async function startProduct(ground: Ground): Promise<Product> {
  await migrate(ground.databaseUrl);
  const worker = await startPart(ground, 'worker');
  const api = await startPart(ground, 'api');
  await addOnlyRoute(ground);
  const pids = { api: api.pid, worker: worker.pid };
  const product = { apiUrl: api.url, pids, customer: await addCustomer(ground, api.url) };
  await run(WARM_UP, 4, () => product.customer.caller.send(numbers(1)[0]!));
  await settled(ground, product.customer);
  return product;
}

/** Starts one process of the product. @param name of its log */
export async function startPart(
  ground: Ground,
  part: 'api' | 'worker',
  name = part as string,
): Promise<Program> {
  return await ground.start(name, `bin/${part}.ts`, {
    ...{ HOST: '127.0.0.1', PORT: '0', WEBHOOK_ALLOW_PRIVATE: 'true', DATA_DIR: ground.dataDir },
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
    DATABASE_URL: await addRole(ground.sql, ground.databaseUrl, part),
  });
}

async function addOnlyRoute({ sql, smscPort }: Ground): Promise<void> {
  await addRoute(sql, {
    ...{ name: ROUTE, kind: 'smpp', state: 'active', ratePerSecond: null, brokenAfterS: 10 },
    settings: smppSettings.parse({ host: '127.0.0.1', port: smscPort, ...ROUTE_SETTINGS }),
    credentials: sealCredentials(SECRETS_KEY, ROUTE, ROUTE_CREDENTIALS),
  });
  for (const { id } of await readRouteRules(sql)) await removeRule(sql, id);
  await addRule(sql, { route: ROUTE, prefix: '', accountId: null, type: null, priority: null, weight: 100 });
  await until('the route works', async () => {
    const { routes } = await readRouting(sql);
    return routes.some(({ name, working }) => name === ROUTE && working);
  });
}

/** Adds an account whose webhook is the receiver. */
export async function addCustomer({ sql, receiverUrl }: Ground, apiUrl: string): Promise<Customer> {
  const { id, key } = await addAccount(sql);
  const caller = openCaller(apiUrl, key);
  await caller.webhook(receiverUrl);
  return { id, caller };
}

/** Waits until all that an account has sent is over. */
export async function settled({ sql, client }: Ground, { id }: Pick<Customer, 'id'>): Promise<void> {
  await until('everything is started', async () => {
    const waiting = await sql`select from reservations where account_id = ${id} limit 1`;
    return waiting.count === 0;
  });
  await noneRunning(client, `Account = '${id}'`);
}

/** (c) The product as one contender: requests for single messages, or for several. */
export function productContender(ground: Ground, { pids, customer }: Product, recipients: number): Contender {
  const to = recipients === 1 ? numbers(1)[0]! : numbers(recipients);
  return {
    key: recipients === 1 ? 'product' : 'product100',
    title: recipients === 1 ? 'this product' : `this product, requests of ${recipients}`,
    ...{ pids, roles: { api: 'api', worker: 'worker' }, recipients },
    send: async () => idsOf(await customer.caller.send(to)),
    begin: () => beginByWebhooks(ground.receiverUrl),
    settled: () => settled(ground, customer),
  };
}

/** The ids of the messages of an answer. */
export function idsOf(accepted: unknown): string[] {
  const answer = accepted as { id: string } | { messages: { id: string }[] };
  return 'id' in answer ? [answer.id] : answer.messages.map(({ id }) => id);
}
