import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pino, { type Logger } from 'pino';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { encrypt } from '../../db/installation.ts';
import { newId } from '../../db/ids.ts';
import type { Channel } from '../../domain/channelDeclaration.ts';
import { rulesOf } from '../../domain/channels.ts';
import { installRuntime, type WorkerOptions } from '../../worker/servers.ts';
import { startWorker } from '../../worker/worker.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts.ts';
import type { StartableMessage } from '../../domain/statuses.ts';
import { messageStart } from '../../workflows/startOptions.ts';
import { createTestNamespace } from '../support/namespace.ts';
import { createTestDatabase, type Servers } from '../support/servers.ts';
import { startTimeSkippingServer } from '../support/timeSkippingServer.ts';
import { until } from '../support/eventually.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const WEBHOOK_SECRET = 'whsec_test';

/** The worker with its database on a server whose clock the test moves. */
export interface Pipeline {
  sql: Database;
  client: Client;
  databaseUrl: string;
  /** Of the Temporal server, host:port. */
  address: string;
  namespace: string;
  secretsKey: Buffer;
  /** Lets the server's time pass; workflow timers fire, nobody waits. */
  sleep(ms: number): Promise<void>;
  /** The server's time, epoch milliseconds. */
  now(): Promise<number>;
  account(options?: { balance?: number; webhookUrl?: string; testCredits?: number }): Promise<string>;
  /** Writes an accepted message, charged; its workflow starts with `start`. */
  message(account: string, options?: MessageOptions): Promise<StartableMessage>;
  start(message: StartableMessage): Promise<void>;
  /** Writes an accepted message and starts its workflow. */
  send(account: string, options?: MessageOptions): Promise<StartableMessage>;
  setStatus(account: string, status: string): Promise<void>;
  /** The state of a workflow in Temporal, such as RUNNING. */
  stateOf(id: string): Promise<string>;
  /** Waits until a workflow has ended; returns how. */
  untilClosed(id: string): Promise<string>;
  /** Status and submission of a message. */
  row(id: string): Promise<StoredMessage>;
  untilUnanswered(id: string): Promise<void>;
  /** The account's balance in grosze; fails where the ledger sums up to something else. */
  balance(account: string): Promise<number>;
  /** How many submits of the message's parts the simulated network took. */
  submits(id: string): Promise<number>;
  /** Polls until the message has the status. */
  untilStatus(id: string, status: string): Promise<void>;
  close(): Promise<void>;
}

export interface StoredMessage {
  status: string;
  submission: string;
  route: string;
  recipient: string;
  errorCode: string | null;
  deliveredAt: Date | null;
}

export interface MessageOptions {
  ending?: string;
  sendAt?: number | null;
  giveUpAt?: number;
  text?: string;
  cost?: number;
  requestId?: string;
  testCredits?: number;
  /** An SMS unless said. */
  channel?: Channel;
  /** What the channel has beside the text. */
  content?: object;
  /** The route it is given to; `simulator` unless said. */
  route?: string;
}

/** Pauses regular work of the service, so that it leaves what a test has lost to the test. */
export async function pauseSchedule(client: Client, name = 'reconciliation'): Promise<void> {
  const schedule = client.schedule.getHandle(name);
  const pause = () =>
    schedule.pause().then(
      () => true,
      () => false,
    );
  await until('the schedule exists', pause);
}

/** Where the workflows of a test run. */
export interface TemporalServer {
  address: string;
  namespace: string;
  client: Client;
  sleep(ms: number): Promise<void>;
  now(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a server of a test's own whose clock stands still until the test moves it. */
export async function timeSkippingServer(): Promise<TemporalServer> {
  const server = await startTimeSkippingServer();
  const { connection } = server;
  // This server cannot list them, so there is nothing to compare with; their types are 2 keyword, 6 datetime.
  await connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(
      Object.values(SEARCH_ATTRIBUTES).map(({ name, type }) => [name, type === 'DATETIME' ? 6 : 2]),
    ),
  });
  return { ...server, namespace: 'default', client: new Client({ connection }) };
}

/** A namespace of the test's own on the Temporal of the run. */
async function realServer(servers: Servers): Promise<TemporalServer> {
  const { temporalAddress: address } = servers;
  const namespace = await createTestNamespace(servers);
  const connection = await Connection.connect({ address });
  return {
    address,
    namespace,
    client: new Client({ connection, namespace }),
    sleep: (ms) => delay(ms),
    now: () => Promise.resolve(Date.now()),
    stop: () => connection.close(),
  };
}

/**
 * Starts the worker on a database of this test's own.
 * @param server `time-skipping` is a server of this test's own, which moves its clock by `sleep`; `real` is a namespace of the run's
 * @param settings of the worker, beyond the usual ones
 * @param log of the worker; nothing is logged unless TEST_LOG says so
 */
export async function startPipeline(
  server: 'time-skipping' | 'real' = 'time-skipping',
  settings: Partial<WorkerOptions['config']> = {},
  log: Logger = pino({ level: process.env.TEST_LOG ?? 'silent' }),
  servers: Servers = inject('servers'),
): Promise<Pipeline> {
  const database = await createTestDatabase(servers);
  const sql = openDatabase(database.url);
  installRuntime(log);
  const temporal = server === 'real' ? await realServer(servers) : await timeSkippingServer();
  const { client } = temporal;
  const secretsKey = randomBytes(32);
  const worker = await startWorker({
    databaseUrl: database.partUrls.worker,
    databasePool: 10,
    temporal: { address: temporal.address, namespace: temporal.namespace },
    config: { WEBHOOK_ALLOW_PRIVATE: true, ...settings },
    secretsKey,
    seller: null,
    shortUrl: 'https://s.example',
    log,
  });

  const pipeline: Pipeline = {
    ...{ sql, client, databaseUrl: database.url, address: temporal.address, secretsKey },
    namespace: temporal.namespace,
    sleep: (ms) => temporal.sleep(ms),
    now: () => temporal.now(),

    async account({ balance = 1000, webhookUrl, testCredits = 0 } = {}) {
      const id = newId('cl');
      const secret = encrypt(secretsKey, id, WEBHOOK_SECRET);
      await sql`
        insert into accounts (id, name, mode, webhook_url, webhook_secret)
        values (${id}, 'Test', ${testCredits > 0 ? 'test' : 'live'}, ${webhookUrl ?? null}, ${secret})`;
      await sql`
        insert into ledger_entries (account_id, kind, amount_grosze, test_credits)
        values (${id}, 'opening', ${balance}, ${testCredits})`;
      return id;
    },

    async message(account, options = {}) {
      const { ending = '000', sendAt = null, text = 'Dzień dobry', cost = 15, testCredits = 0 } = options;
      const { route = 'simulator', channel = 'sms', content = null } = options;
      const giveUpAt = options.giveUpAt ?? (sendAt ?? (await temporal.now())) + 3 * DAY;
      const message: StartableMessage = {
        id: newId('msg'),
        channel,
        accountId: account,
        requestId: options.requestId ?? newId('req'),
        batched: options.requestId !== undefined,
        route,
        sendAt,
        giveUpAt,
        priority: false,
      };
      const { parts, cut } = rulesOf(channel).measure({ text, content });
      const status = sendAt === null ? 'queued' : 'scheduled';
      await sql`
        insert into messages (id, account_id, request_id, status, accepted_as, recipient, sender, text, parts, cut,
                              cost_grosze, test_credits, send_at, give_up_at, route, channel, content)
        values (${message.id}, ${account}, ${message.requestId}, ${status}, ${status},
                ${'+48500100' + ending}, 'TEST', ${text}, ${parts}, ${cut}, ${cost}, ${testCredits},
                ${sendAt === null ? null : new Date(sendAt)}, ${new Date(giveUpAt)}, ${route}, ${channel},
                ${content === null ? null : JSON.stringify(content)}::text::jsonb)`;
      if (cost > 0 || testCredits > 0)
        await sql`
          insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id)
          values (${account}, 'charge', ${testCredits > 0 ? 0 : -cost}, ${-testCredits}, 'message', ${message.id})`;
      return message;
    },

    async start(message) {
      await client.workflow.start('message', messageStart(message));
    },

    async send(account, options) {
      const message = await pipeline.message(account, options);
      await pipeline.start(message);
      return message;
    },

    async setStatus(account, status) {
      await sql`update accounts set status = ${status} where id = ${account}`;
    },

    stateOf: async (id) => (await client.workflow.getHandle(id).describe()).status.name,

    async untilClosed(id) {
      let state = '';
      await until(`workflow ${id} closes`, async () => (state = await pipeline.stateOf(id)) !== 'RUNNING');
      return state;
    },

    async row(id) {
      const [row] = await sql<StoredMessage[]>`
        select status, submission, route, recipient, error_code, delivered_at from messages where id = ${id}`;
      return row!;
    },

    untilUnanswered: (id) =>
      until(`${id} is unanswered`, async () => (await pipeline.row(id)).submission === 'unanswered'),

    async balance(account) {
      const [found] = await sql<{ balance: number; ledger: number }[]>`
        select balance_grosze as balance,
               (select sum(amount_grosze)::bigint from ledger_entries where account_id = a.id) as ledger
          from accounts a where id = ${account}`;
      if (found === undefined || found.balance !== found.ledger) {
        throw new Error(`${account}: balance ${found?.balance}, by the ledger ${found?.ledger}`);
      }
      return found.balance;
    },

    async submits(id) {
      const [found] = await sql<{ n: number }[]>`
        select count(*)::int as n from simulator_submits where reference like ${id + '/%'}`;
      return found!.n;
    },

    untilStatus: (id, status) =>
      until(`${id} becomes ${status}`, async () => (await pipeline.row(id)).status === status),

    async close() {
      await worker.stop();
      await temporal.stop();
      await sql.end();
      await database.drop();
    },
  };
  return pipeline;
}
