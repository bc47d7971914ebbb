import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { endings } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { ageEvents } from '../support/lateEvents.ts';
import { checkAtRest } from './atRest.ts';
import { chanceFrom } from './chance.ts';
import { type AllInOne, startAllInOne } from './installation.ts';
import { makeTellingAccounts, planLoad, startLoad } from './load.ts';
import { SEED } from './seed.ts';

const REQUESTS = 60;
const RECONCILED_WITHIN_MS = 60_000;
const RECONCILIATIONS = 2;

const started = endings();
afterEach(() => started.all());

// The runbook of docs/operations.md, "Restore a backup".
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
  const restarts = () => sql`select subject from audit_log where action = 'message workflow started again'`;
  for (let time = 1; time <= RECONCILIATIONS; time += 1) await reconcile(service, sql);
  console.log(
    `restored: ${(await restarts()).length} workflows started again, ${untold.length} events had nobody`,
  );
  expect((await restarts()).length).toBeGreaterThan(0);
  const told = [...known, ...forgotten];
  await checkAtRest(service, { accounts, receiver, told, endedWorkflowsForgotten: true });
});

/** Has everything that is open looked at as if nothing had happened to it for a while. */
async function reconcile({ temporalAddress }: AllInOne, sql: Database): Promise<void> {
  await sql`
    update messages set updated_at = updated_at - interval '1 hour'
     where status in ('scheduled', 'queued', 'sent')`;
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const client = new Client({ connection });
    const schedule = client.schedule.getHandle('reconciliation');
    const lastRun = async (): Promise<string | undefined> => {
      const { recentActions } = (await schedule.describe()).info;
      return recentActions.at(-1)?.action.workflow.workflowId;
    };
    const before = await lastRun();
    await schedule.trigger();
    const run = await eventually(lastRun, (id) => id !== undefined && id !== before, RECONCILED_WITHIN_MS);
    await client.workflow.getHandle(run!).result();
  } finally {
    await connection.close();
  }
}

function copyTemporal(from: string, to: string): void {
  const files = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('temporal.db'));
  mkdirSync(to, { recursive: true });
  for (const name of files(to)) rmSync(join(to, name));
  for (const name of files(from)) copyFileSync(join(from, name), join(to, name));
}
