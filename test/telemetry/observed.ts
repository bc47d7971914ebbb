import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { newApiKey } from '../../db/accounts/keys.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { eventually } from '../support/eventually.ts';
import { type ServiceProcess, type StartedService, startService } from '../support/service.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { type Scrape, scrape } from './exposition.ts';

/** One API and one worker that are watched. */
export interface Observed {
  started: StartedService;
  sql: Database;
  scrapeApi: () => Promise<Scrape>;
  scrapeWorker: () => Promise<Scrape>;
  stop(): Promise<void>;
}

/** An account whose every secret the test knows. */
export interface ObservedAccount {
  id: string;
  key: string;
  /** A request with the account's key and a body as JSON. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }>;
}

/**
 * Starts a service of this test's own, with metrics.
 * @param settings environment variables of both processes
 */
export async function startObserved(settings: Record<string, string> = {}): Promise<Observed> {
  const asked = { ...settings, METRICS_PORT: '0' };
  const started = await startService({ api: asked, worker: asked });
  const [apiPort, workerPort] = await Promise.all([metricsPort(started.api), metricsPort(started.worker)]);
  const sql = openDatabase(started.service.databaseUrl, 2);
  return {
    ...{ started, sql },
    scrapeApi: () => scrape(apiPort),
    scrapeWorker: () => scrape(workerPort),
    async stop() {
      await sql.end({ timeout: 1 });
      await started.stop();
    },
  };
}

/** Where a process says that it serves its metrics. */
export async function metricsPort({ lines }: ServiceProcess): Promise<number> {
  const told = () => lines.find((line) => line.includes('"metrics at /metrics"'));
  const line = await eventually(() => Promise.resolve(told()), Boolean);
  return z.object({ port: z.number() }).parse(JSON.parse(line!)).port;
}

/** Makes an account with money, a key and an inbound number. */
export async function observedAccount(
  { sql, started }: Observed,
  { balance = 10_000, inboundNumber }: { balance?: number; inboundNumber?: string } = {},
): Promise<ObservedAccount> {
  const id = newId('cl');
  const { key, hash, hint } = newApiKey('live');
  await sql`
    insert into accounts (id, name, mode, price_per_part_grosze, rate_limit_per_minute, inbound_number)
    values (${id}, 'Kwiaciarnia Zofii Nowak', 'live', 10, 100000, ${inboundNumber ?? null})`;
  if (balance > 0)
    await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'opening', ${balance})`;
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes)
    values (${newId('key')}, ${id}, ${hash}, ${hint}, 'live', ${['send', 'read', 'manage']})`;
  return {
    ...{ id, key },
    async call(method, path, body) {
      const response = await fetch(`${started.service.apiUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

/** A receiver that the account's webhook leads to; returns its secret too. */
export async function listening(
  account: ObservedAccount,
  answer?: (call: number) => number,
): Promise<{ receiver: WebhookReceiver; secret: string }> {
  const receiver = await startReceiver(answer);
  // The address itself may be a secret of the customer's.
  const url = `${receiver.url}/${randomBytes(8).toString('hex')}`;
  const { text } = await account.call('PUT', '/v1/account/webhook', { url });
  const { webhook_secret: secret } = JSON.parse(text) as { webhook_secret: string };
  receiver.useSecret(secret);
  return { receiver: { ...receiver, url }, secret };
}
