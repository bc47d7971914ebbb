import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowNotFoundError } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { endings } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { ageEvents } from '../support/lateEvents.ts';
import type { ReceivedCall } from '../support/webhookReceiver.ts';
import { checkAtRest } from './atRest.ts';
import { chanceFrom } from './chance.ts';
import { startAllInOne } from './installation.ts';
import { makeTellingAccounts, planLoad, PRICE, startLoad } from './load.ts';
import { reconcile } from './reconcile.ts';
import { folderBackup, type RestoreScene, type Sent, startRestoreScene } from './restoreScene.ts';
import { SEED } from './seed.ts';

const REQUESTS = 60;
const RECONCILIATIONS = 2;
// Two starts of the service come before each of these is over.
const BEFORE_FAULT_S = 25;
const AFTER_RESTORE_S = 75;

const started = endings();
afterEach(() => started.all());

// The runbook of docs/runbooks.md, "Restore a backup": what its table says.
test('Temporal restored alone, from a backup of before a load, loses, doubles and overcharges nothing', async () => {
  const service = await startAllInOne();
  started.add(() => service.stop());
  let refusing = false;
  const { accounts, receiver } = await makeTellingAccounts(service, started, () => refusing);
  const send = (round: string) =>
    startLoad(service.apiUrls, accounts, planLoad(chanceFrom(SEED, `restore ${round}`), round, REQUESTS))
      .done;

  const known = await send('1');
  await service.main.stop();
  copyTemporal(service.dataDir, join(service.dataDir, 'backup'));
  await service.main.start();
  const forgotten = await send('2');
  // Their workflows wait for the next attempt, and are forgotten.
  refusing = true;
  const before = receiver.calls.length;
  forgotten.push(...(await send('3')));
  await receiver.until((calls) => calls.length > before);
  await service.main.stop();
  refusing = false;
  const restoredAt = Date.now();
  copyTemporal(join(service.dataDir, 'backup'), service.dataDir);
  await service.main.start();

  const sql = openDatabase(service.databaseUrl, 1);
  started.add(() => sql.end({ timeout: 5 }));
  const untold = await ageEvents(sql, restoredAt);
  expect(untold.length).toBeGreaterThan(0);
  const restarts = () => sql`select subject from audit_log where action = 'workflow started again'`;
  for (let time = 1; time <= RECONCILIATIONS; time += 1) await reconcile(service, sql);
  console.log(
    `restored: ${(await restarts()).length} workflows started again, ${untold.length} events had nobody`,
  );
  expect((await restarts()).length).toBeGreaterThan(0);
  const told = [...known, ...forgotten];
  await checkAtRest(service, { accounts, receiver, told, endedWorkflowsForgotten: true });
});

/** Fails where the machine is too slow for what is to be shown. */
const expectAhead = (...sent: Sent[]): void =>
  expect(Date.now(), 'now').toBeLessThan(Math.min(...sent.map(({ dueAt }) => dueAt)));

async function expectBooks({ sql, account }: RestoreScene, paid: number): Promise<void> {
  const balance = account.openingGrosze - paid * PRICE;
  const [books] = await sql`
    select a.balance_grosze as balance, sum(l.amount_grosze)::bigint as entries
      from accounts a join ledger_entries l on l.account_id = a.id where a.id = ${account.id} group by a.id`;
  expect(books).toEqual({ balance, entries: balance });
}

async function findingsOf({ service }: RestoreScene): Promise<unknown[]> {
  const { data } = await service.admin('findings', 'list', '--state', 'all');
  return data as unknown[];
}

test('PostgreSQL restored alone: what waits is submitted once, and nothing that it does not know', async () => {
  const scene = await startRestoreScene(started);
  const { service, sql, client, receiver, send, untilStatus } = scene;
  const backup = folderBackup(join(service.dataDir, 'postgres'), started);
  const before = await send();
  await untilStatus('delivered', before);
  const meanwhile = await send(BEFORE_FAULT_S);
  const after = await send(AFTER_RESTORE_S);
  scene.leaveOpen(true);
  const untold = await send();
  await untilStatus('delivered', untold);
  await scene.whileStopped(backup.take);
  expectAhead(meanwhile);
  scene.leaveOpen(false);

  const forgotten = await send();
  const forgottenLater = await send(AFTER_RESTORE_S);
  await untilStatus('delivered', meanwhile, forgotten);
  const told = (type: string) => ofEvent(receiver.calls, untold, type);
  await receiver.until(() => told('message.delivered').length > 0);
  await client.workflow.getHandle(meanwhile.id).result();
  await scene.whileStopped(backup.putBack);
  expectAhead(after, forgottenLater);

  expect(await ageEvents(sql)).toHaveLength(2);
  // Temporal's list of what runs may be some seconds behind.
  const found = await eventually(
    async () => {
      await reconcile(service, sql);
      return await findingsOf(scene);
    },
    ({ length }) => length >= 2,
  );
  expect(found).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'workflow_ended', subject: meanwhile.id, state: 'open' }),
      expect.objectContaining({ kind: 'events_left', details: { of: untold.id }, state: 'repaired' }),
    ]),
  );
  expect(found).toHaveLength(2);
  await eventually(
    () => sql`select from webhook_events where subject_id = ${untold.id} and state = 'delivered'`,
    (events) => events.length === 2,
  );
  expect(told('message.delivered')).toHaveLength(2);

  await untilStatus('delivered', after);
  await expect(client.workflow.getHandle(forgottenLater.id).result()).rejects.toMatchObject({
    cause: { type: 'UnknownMessage', message: `no accepted message ${forgottenLater.id}` },
  });
  expect(Date.now()).toBeGreaterThanOrEqual(forgottenLater.dueAt);
  expect(
    await Promise.all([before, untold, after, meanwhile, forgotten, forgottenLater].map(scene.statusOf)),
  ).toEqual(['delivered', 'delivered', 'delivered', 'scheduled', 'unknown', 'unknown']);
  expect(scene.taken(before, untold, after, meanwhile, forgotten, forgottenLater)).toEqual([
    1, 1, 1, 1, 1, 0,
  ]);
  await expectBooks(scene, 4);
  expect(receiver.calls.every(({ verified }) => verified)).toBe(true);
});

test('both restored: they agree, and what was submitted since the backup is submitted once more', async () => {
  const scene = await startRestoreScene(started);
  const { service, sql, client, send, untilStatus } = scene;
  const backup = folderBackup(service.dataDir, started);
  const before = await send();
  await untilStatus('delivered', before);
  const meanwhile = await send(BEFORE_FAULT_S);
  const after = await send(AFTER_RESTORE_S);
  await scene.whileStopped(backup.take);
  expectAhead(meanwhile);

  const forgotten = await send();
  await untilStatus('delivered', meanwhile, forgotten);
  expect(scene.taken(meanwhile)).toEqual([1]);
  await scene.whileStopped(backup.putBack);
  expectAhead(after);

  await untilStatus('delivered', meanwhile);
  await reconcile(service, sql);
  expect(await findingsOf(scene)).toEqual([]);
  await untilStatus('delivered', after);
  expect(await scene.statusOf(forgotten)).toBe('unknown');
  await expect(client.workflow.getHandle(forgotten.id).describe()).rejects.toThrow(WorkflowNotFoundError);
  expect(scene.taken(before, after, forgotten, meanwhile)).toEqual([1, 1, 1, 2]);
  await expectBooks(scene, 3);
});

const ofEvent = (calls: ReceivedCall[], { id }: Sent, type: string): ReceivedCall[] =>
  calls.filter(({ event }) => event.type === type && event.data.message.id === id);

function copyTemporal(from: string, to: string): void {
  const files = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('temporal.db'));
  mkdirSync(to, { recursive: true });
  for (const name of files(to)) rmSync(join(to, name));
  for (const name of files(from)) copyFileSync(join(from, name), join(to, name));
}
