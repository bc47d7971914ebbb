import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { operatingUser } from '../../bin/admin/tools.ts';
import { runAdmin } from '../../bin/admin/program.ts';
import { serviceTools } from '../../bin/admin/tools.ts';
import { openDatabase, type Database } from '../../db/connection.ts';
import { newApiKey } from '../../db/accounts/keys.ts';
import { encrypt } from '../../db/installation.ts';
import { newId } from '../../db/ids.ts';
import { addRoute, addRule, sealCredentials } from '../../db/routes/routes.ts';
import type { MessageRecord } from '../../domain/records.ts';
import type { Smsc } from '../smsc/smsc.ts';
import { type ApiAnswer, type ApiClient, apiClient } from './client.ts';
import { eventually } from './eventually.ts';
import {
  environmentOf,
  type ServiceProcess,
  type ServiceUnderTest,
  spawnProcess,
  startService,
} from './service.ts';

/** What a part costs every account here, in grosze. */
export const PRICE = 10;
const OPENING_BALANCE = 1_000_000;

/** The whole service with several workers, for one test file. */
export interface Product {
  service: ServiceUnderTest;
  sql: Database;
  /** The database as its superuser, who sees PostgreSQL's own tables too. */
  superuserUrl: string;
  /** The first one. */
  worker: ServiceProcess;
  addWorker(): Promise<ServiceProcess>;
  account(webhook?: { url: string; secret: string }): Promise<ProductAccount>;
  /** Adds an SMPP route for one account alone, and waits until a worker is bound. */
  route(name: string, smsc: Smsc, account: ProductAccount, options?: RouteWish): Promise<void>;
  /** The command line of staff, as `npm run admin -- --json …`, in this process: one for each line costs more than what it does. */
  admin(words: string[], input?: string): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

export interface ProductAccount {
  id: string;
  key: string;
  api: ApiClient;
}

interface RouteWish {
  /** Settings of SMPP beside the address. */
  settings?: Record<string, unknown>;
  ratePerSecond?: number;
  brokenAfterS?: number;
  /** Sessions to wait for, over all workers; 1 unless told. */
  sessions?: number;
}

/** A message as it stands in the database. */
export interface Outcome {
  id: string;
  recipient: string;
  status: string;
  submission: string;
  reason: string | null;
  parts: number;
  cost: number;
  charges: number;
  refunds: number;
}

/** Starts PostgreSQL, Temporal, the API and workers. */
export async function startProduct(workers = 2): Promise<Product> {
  const { service, worker, superuserUrl, stop } = await startService();
  const more: ServiceProcess[] = [];
  const sql = openDatabase(service.databaseUrl, 4);
  const addWorker = async (): Promise<ServiceProcess> => {
    const worker = await spawnProcess('worker', service);
    more.push(worker);
    return worker;
  };
  const secretsKey = Buffer.from(service.secretsKey, 'base64');
  const product: Product = {
    service,
    sql,
    superuserUrl,
    worker,
    addWorker,
    account: (webhook) => newAccount(sql, service, secretsKey, webhook),
    async route(name, smsc, account, wish = {}) {
      const settings = { host: '127.0.0.1', port: smsc.port, ...wish.settings };
      await addRoute(sql, {
        name,
        kind: 'smpp',
        state: 'active',
        settings,
        credentials: sealCredentials(secretsKey, name, { systemId: smsc.systemId, password: smsc.password }),
        ratePerSecond: wish.ratePerSecond ?? null,
        brokenAfterS: wish.brokenAfterS ?? 10,
      });
      await addRule(sql, {
        route: name,
        prefix: '',
        accountId: account.id,
        type: null,
        priority: null,
        weight: 100,
      });
      await untilBound(sql, name, wish.sessions ?? 1);
    },
    admin: (words, input) => runLine(service, words, input),
    async stop() {
      await Promise.all(more.map((worker) => worker.stop()));
      await sql.end({ timeout: 5 });
      await stop();
    },
  };
  await Promise.all(Array.from({ length: workers - 1 }, addWorker)).catch(async (error: unknown) => {
    await product.stop();
    throw error;
  });
  return product;
}

/** Sends as customers should: again with the same key while the service says that it cannot, on a machine at its limit. */
export async function sendSurely(api: ApiClient, body: object): Promise<ApiAnswer> {
  const key = randomUUID();
  return await eventually(
    () => api.send(body, key),
    ({ status }) => status < 500,
  );
}

/**
 * Sends each message to a phone of its own, and expects it to be queued.
 * @param first the last six digits of the first phone; one file's phones must not be another's on the same service
 */
export function senderOf(
  account: () => ProductAccount,
  first: number,
): (body: object) => Promise<MessageRecord> {
  let next = first;
  return async (body) => {
    next += 1;
    const to = `+48500${next}`;
    const answer = await account().api.send({ to, ...body });
    expect(answer).toMatchObject({ status: 201, body: { status: 'queued', to } });
    return answer.body as unknown as MessageRecord;
  };
}

/** Waits until a route has so many sessions over all workers. */
export async function untilBound(sql: Database, route: string, sessions: number): Promise<void> {
  await eventually(
    () => sql<{ sessions: number; error: string | null }[]>`
      select coalesce(sum(sessions), 0)::int as sessions, max(last_error) as error
        from route_workers where route = ${route} and seen_at > now() - interval '5 seconds'`,
    ([row]) => row!.sessions >= sessions,
  );
}

/** All messages of an account with what was charged and given back for each. */
export async function outcomes(sql: Database, accountId: string): Promise<Outcome[]> {
  return await sql<Outcome[]>`
    select m.id, m.recipient, m.status, m.submission, m.error_code as reason, m.parts, m.cost_grosze as cost,
           (select count(*)::int from ledger_entries l where l.subject_id = m.id and l.kind = 'charge') as charges,
           (select count(*)::int from ledger_entries l where l.subject_id = m.id and l.kind = 'refund') as refunds
      from messages m where m.account_id = ${accountId} order by m.id`;
}

/** The balance, what the ledger sums up to, and what both must be by the messages' costs and ends. */
export async function accounts(
  sql: Database,
  accountId: string,
): Promise<{ balance: number; ledger: number; expected: number }> {
  const [row] = await sql<{ balance: number; ledger: number; expected: number }[]>`
    select a.balance_grosze as balance,
           (select sum(amount_grosze)::int from ledger_entries where account_id = a.id) as ledger,
           ${OPENING_BALANCE} - (select coalesce(sum(cost_grosze), 0)::int from messages m
              where m.account_id = a.id and m.status not in ('rejected', 'cancelled')
               and (m.status <> 'failed' or m.error_code = 'rejected_on_report'))
             as expected
      from accounts a where a.id = ${accountId}`;
  return row!;
}

async function newAccount(
  sql: Database,
  { apiUrl }: ServiceUnderTest,
  secretsKey: Buffer,
  webhook?: { url: string; secret: string },
): Promise<ProductAccount> {
  const id = newId('cl');
  const secret = webhook ? encrypt(secretsKey, id, webhook.secret) : null;
  await sql`
    insert into accounts (id, name, mode, price_per_part_grosze, rate_limit_per_minute, webhook_url, webhook_secret)
    values (${id}, 'Test', 'live', ${PRICE}, 1000000, ${webhook?.url ?? null}, ${secret})`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'opening', ${OPENING_BALANCE})`;
  const { key, hash, hint } = newApiKey('live');
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes)
    values (${newId('key')}, ${id}, ${hash}, ${hint}, 'live', ${['send', 'read', 'manage']})`;
  return { id, key, api: apiClient(apiUrl, key) };
}

/** `-` on the line reads `input`. */
async function runLine(
  service: ServiceUnderTest,
  words: string[],
  input = '',
): Promise<Record<string, unknown>> {
  const settings = environmentOf(service);
  let out = '';
  let err = '';
  const code = await runAdmin(['--json', ...words], {
    actor: operatingUser,
    openDatabase: () => Promise.resolve(openDatabase(service.databaseUrl, 1)),
    openTools: () => ({ ...serviceTools(settings), read: () => Promise.resolve(input) }),
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  if (code !== 0) throw new Error(`admin ${words.join(' ')}: ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}
