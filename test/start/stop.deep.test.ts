import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { identify, readRunFile } from '../../bin/runfile.ts';
import { newApiKey } from '../../db/accounts/keys.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { encrypt } from '../../db/installation.ts';
import { newId } from '../../db/ids.ts';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { Client, Connection } from '@temporalio/client';
import type { Account } from '../crash/load.ts';
import { sendBySmpp } from '../crash/smppRoute.ts';
import { startSmsc } from '../smsc/smsc.ts';
import { startHttpReceiver } from '../support/httpReceiver.ts';
import { spawnProcess, startService } from '../support/service.ts';
import { treeOf } from './processTree.ts';
import { dataFolder, startWhole } from './support.ts';
import { until } from '../support/eventually.ts';

// Each one's own grace, and what a busy machine takes besides.
const SLACK_MS = 60_000;
const API_MS = 18_000 + SLACK_MS;
const WORKER_MS = 30_000 + SLACK_MS;
const START_MS = 85_000 + SLACK_MS;

/** Stands all processes of a server still, as a hanging disk or machine would; lets them go on when the test ends. */
function freeze(...roots: number[]): () => void {
  const pids = roots.flatMap((root) => treeOf(root).map(({ pid }) => pid));
  const tell = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended.
      }
    }
  };
  tell('SIGSTOP');
  onTestFinished(() => tell('SIGCONT'));
  return () => tell('SIGCONT');
}

const pidIn = (dataDir: string, name: string): number =>
  (JSON.parse(readFileSync(join(dataDir, `${name}.pid`), 'utf8')) as { pid: number }).pid;

/** How long a process takes from the signal to its end, in milliseconds. */
async function endOf(child: ChildProcess, name: NodeJS.Signals = 'SIGTERM'): Promise<number> {
  const from = performance.now();
  const ended = once(child, 'exit');
  child.kill(name);
  await ended;
  return performance.now() - from;
}

async function untilGone(pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter((pid) => identify(pid) !== null), { timeout: 200_000 }).toEqual([]);
}

describe('SIGTERM', () => {
  it(
    'ends API and worker within their grace while database, Temporal, SMSC, webhook receivers and callers hang; nothing is lost',
    { timeout: 400_000 },
    async () => {
      const servers = inject('servers');
      const { service, api, worker, stop } = await startService();
      onTestFinished(stop);
      const receiver = await startHttpReceiver(() => undefined);
      onTestFinished(() => receiver.close());
      const smsc = await startSmsc();
      onTestFinished(() => smsc.stop());
      smsc.behave = () => ({ answer: 'never', connection: 'freeze' });
      const sql = openDatabase(service.databaseUrl, 2);
      onTestFinished(() => sql.end({ timeout: 1 }));
      const secretsKey = Buffer.from(service.secretsKey, 'base64');
      const account = await payer(sql, secretsKey, receiver.url);
      const { key, id: accountId } = account;
      await sendBySmpp({ databaseUrl: service.databaseUrl, secretsKey }, smsc, smsc.port, [account]);

      const send = () =>
        fetch(`${service.apiUrl}/v1/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ to: '500100200', text: 'while all hangs' }),
        });
      expect((await send()).status).toBe(201);
      await until('the SMSC has it', () => Promise.resolve(smsc.submits.length > 0));
      // A workflow of something that is not there used to keep a worker for minutes.
      const { temporalAddress: address, temporalNamespace: namespace } = service;
      const connection = await Connection.connect({ address });
      await new Client({ connection, namespace }).workflow.start('inbound', {
        workflowId: 'in_0',
        taskQueue: MESSAGES_QUEUE,
      });
      await connection.close();
      const url = new URL(service.apiUrl);
      const half = connect(Number(url.port), '127.0.0.1');
      half.on('error', () => undefined);
      half.write(
        `POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{`,
      );
      onTestFinished(() => void half.destroy());

      const thaw = freeze(servers.pids.postgres, servers.pids.temporal);
      const pending = send().catch(() => undefined);
      await sleep(500);
      const took = await Promise.all([endOf(api.child), endOf(worker.child)]);
      console.log(`API ${Math.round(took[0])} ms, worker ${Math.round(took[1])} ms`);
      expect(took[0]).toBeLessThan(API_MS);
      expect(took[1]).toBeLessThan(WORKER_MS);
      await pending;
      thaw();

      // What was cut off stands as the database has it: not submitted again, and nobody is told that it was not.
      const again = await spawnProcess('worker', service);
      onTestFinished(() => again.stop());
      await until(
        'the message is known as unanswered',
        async () =>
          (await sql`select from messages where account_id = ${accountId} and submission = 'unanswered'`)
            .length === 1,
      );
      expect(smsc.submits.length).toBe(1);
    },
  );

  it('ends npm start and its servers within the grace while these hang', { timeout: 400_000 }, async () => {
    const dataDir = dataFolder();
    const { child } = await startWhole(dataDir);
    onTestFinished(() => void child.kill('SIGKILL'));
    const servers = ['postgres', 'temporal'].map((name) => pidIn(dataDir, name));
    const backends = treeOf(servers[0]!).map(({ pid }) => pid);
    const thaw = freeze(...servers);
    const pending = fetch(`${readRunFile(dataDir)!.apiUrl}/v1/health`).catch(() => undefined);
    const took = await endOf(child);
    console.log(`npm start ${Math.round(took)} ms`);
    expect(took).toBeLessThan(START_MS);
    await pending;
    thaw();
    await untilGone([...servers, ...backends]);
  });
});

/** A live account with money, a key, a webhook, and a route of its own to the SMSC. */
async function payer(sql: Database, secretsKey: Buffer, webhook: string): Promise<Account> {
  const id = newId('cl');
  const { key, hash, hint } = newApiKey('live');
  await sql`
    insert into accounts (id, name, mode, webhook_url, webhook_secret)
    values (${id}, 'Test', 'live', ${webhook}, ${encrypt(secretsKey, id, 'whsec_test')})`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'opening', 1000)`;
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes)
    values (${newId('key')}, ${id}, ${hash}, ${hint}, 'live', ${['send', 'read']})`;
  return { id, key, openingGrosze: 1000, openingCredits: 0 };
}
