import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { smppSettings } from '../../providers/smpp/settings.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import {
  addRoute,
  addRule,
  readRouteRules,
  readRouting,
  removeRule,
  sealCredentials,
} from '../../db/routes/routes.ts';
import { type Contender, endedByWebhooks, type Ground, noneRunning } from '../contender.ts';
import { addAccount, addRole } from '../database.ts';
import { type Caller, openCaller, run, type SendOptions } from '../load.ts';
import { type Program, startProgram } from '../program.ts';
import type { Servers } from '../servers.ts';
import { ROUTE_CREDENTIALS, ROUTE_SETTINGS } from '../steps/provider.ts';
import { until } from '../until.ts';

const ROUTE = 'bench';
const CONNECTIONS = 256;
const PARTS = ['worker', 'api'] as const;

/** The product: API and worker, a process each, as `npm run api` and `npm run worker` start them. */
export interface Product {
  apiUrl: string;
  pids: Record<string, number>;
  roles: Record<string, string>;
  secretsKey: Buffer;
  sql: Database;
  stop(): Promise<void>;
}

/**
 * Starts the product with the simulated provider.
 * @param secretsKey of an earlier start on the same database
 */
export async function startProduct(
  servers: Servers,
  profiles: string | null,
  secretsKey: Buffer = randomBytes(32),
): Promise<Product> {
  await migrate(servers.databaseUrl);
  const programs = await Promise.all(PARTS.map((part) => startPart(part, servers, secretsKey, profiles)));
  const [worker, api] = programs as [(typeof programs)[0], (typeof programs)[0]];
  const sql = openDatabase(servers.databaseUrl, 2);
  return {
    apiUrl: api.url,
    pids: { api: api.pid, worker: worker.pid },
    roles: { api: 'api', worker: 'worker' },
    ...{ secretsKey, sql },
    async stop() {
      await sql.end({ timeout: 5 });
      await api.stop();
      await worker.stop();
    },
  };
}

/** One process more of the product. @param profiles as {@link startProgram} takes it */
export async function startPart(
  part: (typeof PARTS)[number],
  servers: Servers,
  secretsKey: Buffer,
  profiles: string | null = null,
): Promise<Program> {
  const settings = {
    ...{ HOST: '127.0.0.1', PORT: '0', WEBHOOK_ALLOW_PRIVATE: 'true', DATA_DIR: servers.dataDir },
    TEMPORAL_ADDRESS: servers.temporalAddress,
    SECRETS_KEY: secretsKey.toString('base64'),
    DATABASE_URL: await addRole(servers.databaseUrl, part),
  };
  return await startProgram(`bin/${part}.ts`, settings, profiles);
}

/** Makes an SMPP route the only one, unless it is there already, and waits until it works. */
export async function sendAllTo(product: Product, port: number): Promise<void> {
  const { sql, secretsKey } = product;
  const { routes: known } = await readRouting(sql);
  if (!known.some(({ name }) => name === ROUTE)) await addOnlyRoute(sql, secretsKey, port);
  await until('the route works', async () => {
    const { routes } = await readRouting(sql);
    return routes.some(({ name, working }) => name === ROUTE && working);
  });
}

async function addOnlyRoute(sql: Database, secretsKey: Buffer, port: number): Promise<void> {
  await addRoute(sql, {
    ...{ name: ROUTE, kind: 'smpp', state: 'active', ratePerSecond: null, brokenAfterS: 10 },
    settings: smppSettings.parse({ host: '127.0.0.1', port, ...ROUTE_SETTINGS }),
    credentials: sealCredentials(secretsKey, ROUTE, ROUTE_CREDENTIALS),
  });
  for (const { id } of await readRouteRules(sql)) await removeRule(sql, id);
  await addRule(sql, { route: ROUTE, prefix: '', accountId: null, type: null, priority: null, weight: 100 });
}

/** An account of the product with a webhook, and a caller with its key. */
export interface Customer {
  id: string;
  caller: Caller;
  sql: Database;
}

/** Waits until all that a customer has sent is over. */
export async function settled(client: Client, { id, sql }: Pick<Customer, 'id' | 'sql'>): Promise<void> {
  await until('everything is started', async () => {
    const waiting = await sql`select from reservations where account_id = ${id} limit 1`;
    return waiting.count === 0;
  });
  await noneRunning(client, `Account = '${id}'`);
}

/** Adds an account whose webhook is the receiver. */
export async function addCustomer(product: Product, receiverPort: number): Promise<Customer> {
  const { id, key } = await addAccount(product.sql);
  const caller = openCaller(product.apiUrl, key, CONNECTIONS);
  await caller.webhook(`http://127.0.0.1:${receiverPort}/`);
  return { id, caller, sql: product.sql };
}

/** (c) The product as one contender: requests for single messages, or for several. */
export function productContender(
  { client, receiver, servers }: Ground,
  product: Product,
  customer: Customer,
  recipients: number,
): Contender {
  return {
    key: recipients === 1 ? 'product' : `product${recipients}`,
    title: recipients === 1 ? 'this product' : `this product, requests of ${recipients}`,
    ...{ pids: product.pids, roles: product.roles, databaseUrl: servers.databaseUrl, recipients },
    async send() {
      const accepted = await customer.caller.send(recipients === 1 ? numberOf(0) : numbers(recipients));
      return idsOf(accepted);
    },
    refused: () => customer.caller.refused(),
    ...endedByWebhooks(receiver, () => customer.caller.refused()),
    settled: () => settled(client, customer),
    extraFolder: null,
    stop: () => Promise.resolve(),
  };
}

/** So many different numbers. */
export function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => numberOf(index));
}

const BATCH = 500;
const BATCHES_IN_FLIGHT = 4;

/** Sends many messages, in as few requests as the service allows; `options` is asked for each request. */
export async function sendMany(
  { caller }: Customer,
  count: number,
  options: () => SendOptions,
): Promise<void> {
  const sizes = Array.from({ length: Math.ceil(count / BATCH) }, (_, index) =>
    Math.min(BATCH, count - index * BATCH),
  );
  await run(sizes.length, BATCHES_IN_FLIGHT, () => caller.send(numbers(sizes.pop()!), options()));
}

function numberOf(index: number): string {
  return `+48500${String(100_000 + index * 1_000).padStart(6, '0')}`;
}

function idsOf(accepted: unknown): string[] {
  const answer = accepted as { id: string } | { messages: { id: string }[] };
  return 'id' in answer ? [answer.id] : answer.messages.map(({ id }) => id);
}
