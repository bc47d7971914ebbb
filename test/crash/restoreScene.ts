import { execFile } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { loadSecretsKey } from '../../bin/secrets.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import type { Endings } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { type AllInOne, newDataDir, startAllInOne } from './installation.ts';
import { type Account, headersOf, makeAccounts, oneCaller } from './load.ts';
import { type Network, startNetwork } from './network.ts';
import { sendBySmpp } from './smppRoute.ts';

const PATIENCE_MS = 120_000;

/** A message and when it is due, epoch milliseconds. */
export interface Sent {
  id: string;
  to: string;
  dueAt: number;
}

/** `npm start` and one account, whose messages leave by an SMSC that no restore changes. */
export interface RestoreScene {
  service: AllInOne;
  network: Network;
  receiver: WebhookReceiver;
  sql: Database;
  client: Client;
  account: Account;
  /** From now on webhook calls are left unanswered, or answered again. */
  leaveOpen: (open: boolean) => void;
  send: (dueInSeconds?: number) => Promise<Sent>;
  /** As the API has it; `unknown` where it has no such message. */
  statusOf: (sent: Sent) => Promise<string>;
  untilStatus: (status: string, ...sent: Sent[]) => Promise<void>;
  /** How often the SMSC took each of them. */
  taken: (...sent: Sent[]) => number[];
  /** Stops the service, has something done to its data, and starts it again. */
  whileStopped: (work: () => Promise<unknown>) => Promise<void>;
}

/** Starts it; it ends with the test. */
export async function startRestoreScene(started: Endings): Promise<RestoreScene> {
  const service = await startAllInOne();
  started.add(() => service.stop());
  const network = await startNetwork();
  started.add(() => network.smsc.stop());
  let open = false;
  const receiver = await startReceiver(() => (open ? new Promise<number>(() => undefined) : 200));
  started.add(() => receiver.close());
  const quiet = { url: receiver.url, useSecret: () => undefined };
  const { telling: account } = await makeAccounts(service, { telling: receiver, stepping: quiet });
  const secretsKey = await loadSecretsKey({ SECRETS_KEY: undefined, DATA_DIR: service.dataDir });
  const { databaseUrl, temporalAddress, apiUrls } = service;
  await sendBySmpp({ databaseUrl, secretsKey }, network.smsc, network.smsc.port, [account]);
  const sql = openDatabase(databaseUrl, 1);
  started.add(() => sql.end({ timeout: 5 }));
  const connection = Connection.lazy({ address: temporalAddress });
  started.add(() => connection.close());

  const caller = oneCaller(apiUrls, account, { answers: [], complaints: [] });
  let subscriber = 0;
  const statusOf = async ({ id }: Sent): Promise<string> => {
    const response = await fetch(`${apiUrls[0]}/v1/messages/${id}`, { headers: headersOf(account) });
    return response.status === 404 ? 'unknown' : shown.parse(await response.json()).status;
  };
  return {
    service,
    network,
    receiver,
    sql,
    client: new Client({ connection }),
    account,
    leaveOpen: (value) => void (open = value),
    async send(dueInSeconds) {
      subscriber += 1;
      const to = `+48501${String(subscriber).padStart(3, '0')}500`;
      const about = { tag: `restore-${subscriber}`, payer: 'telling', text: 'Kopia' } as const;
      const scheduled = dueInSeconds ?? null;
      const dueAt = Date.now() + (scheduled ?? 0) * 1000;
      const told = await caller.send({ ...about, recipients: [to], single: true, scheduled, cancel: false });
      return { id: told.messages[0]!.id, to, dueAt };
    },
    statusOf,
    async untilStatus(status, ...sent) {
      for (const one of sent)
        await eventually(
          () => statusOf(one),
          (now) => now === status,
          PATIENCE_MS,
        );
    },
    taken: (...sent) => sent.map(({ to }) => network.taken(to)['1'] ?? 0),
    async whileStopped(work) {
      await service.main.stop();
      await work();
      await service.main.start();
    },
  };
}

const shown = z.object({ status: z.string() });

/** Backs up a folder of the service while that is stopped; the copy goes with the test. */
export function folderBackup(
  folder: string,
  started: Endings,
): Record<'take' | 'putBack', () => Promise<unknown>> {
  const backup = newDataDir();
  started.add(() => rmSync(backup, { recursive: true, force: true }));
  // Owners too: PostgreSQL may run as another user.
  const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', `${from}/.`, to]);
  return {
    take: () => copy(folder, backup),
    async putBack() {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
      await copy(backup, folder);
    },
  };
}
