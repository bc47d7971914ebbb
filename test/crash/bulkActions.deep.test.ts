import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type Database, openDatabase } from '../../db/connection.ts';
import { endings } from '../support/endings.ts';
import { eventually, whileProgressing } from '../support/eventually.ts';
import { chanceFrom } from './chance.ts';
import { type Separate, startSeparately } from './installation.ts';
import { SEED } from './seed.ts';

const MESSAGES = Number(process.env['CRASH_BULK'] ?? 2_000);
// Longer than whatever a killed worker leaves behind takes to be given up.
const IDLE_MS = 180_000;
const NO_LIMIT = 0;
const KILLS = 6;
// As many as a bulk acts on at once.
const AT_ONCE = 10;

const started = endings();
afterEach(() => started.all());

/** Accepts messages to numbers that the simulated network takes without an answer. */
async function sendUnanswered(service: Separate): Promise<string> {
  const created = await service.admin(
    ...['accounts', 'create', '--name', 'Bulk', '--mode', 'live', '--balance', '1000000', '--price', '10'],
  );
  const account = z.string().parse(created['id']);
  const { token } = await service.admin('tokens', 'create', '--account', account, '--label', 'crash');
  const recipients = Array.from({ length: MESSAGES }, (_, index) => `+48${600_000 + index}905`);
  const response = await fetch(`${service.apiUrls[0]}/v1/sms/bulk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(token)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ recipients, message: 'Promocja do piątku.' }),
  });
  expect(response.status).toBe(200);
  return account;
}

const countUnanswered = async (sql: Database): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from messages where status = 'queued' and submission = 'unanswered'`;
  return row!.count;
};

const untilAllUnanswered = (sql: Database) =>
  whileProgressing(() => countUnanswered(sql), {
    progress: (count) => count,
    holds: (count) => count === MESSAGES,
    idleMs: IDLE_MS,
  });

interface Look {
  open: number;
  done: number;
  others: number;
  recorded: number;
  resubmitted: number;
  ended: boolean;
}

/** At one instant, what the bulk says and what is so. @param tries of a message that it has resubmitted */
async function look(sql: Database, bulk: string, tries: number): Promise<Look> {
  const [found] = await sql<Look[]>`
    select count(*) filter (where outcome is null)::int as open,
           count(*) filter (where outcome = 'done')::int as done,
           count(*) filter (where outcome in ('refused', 'unknown'))::int as others,
           (select count(distinct subject)::int from audit_log
             where action = 'messages resubmit' and details->>'bulk' = ${bulk}) as recorded,
           (select count(*)::int from message_parts where tries >= ${tries} or (tries = ${tries - 1} and state = 'held')) as resubmitted,
           (select ended_at is not null from bulks where id = ${bulk}) as ended
      from bulk_items where bulk_id = ${bulk}`;
  const { open, done, others, recorded, resubmitted } = found!;
  expect(others).toBe(0);
  expect(open + done).toBe(MESSAGES);
  expect(recorded).toBe(done);
  expect(resubmitted).toBeGreaterThanOrEqual(done);
  expect(resubmitted).toBeLessThanOrEqual(done + AT_ONCE);
  return found!;
}

test(
  'a bulk of resubmits that API and workers are killed in acts on each once, says how far it is, and stops',
  async () => {
    const service = await startSeparately();
    started.add(() => service.stop());
    const chance = chanceFrom(SEED, 'bulk of resubmits');
    console.log(`CRASH_SEED=${SEED}`);
    const sql = openDatabase(service.databaseUrl, 2);
    started.add(() => sql.end({ timeout: 5 }));
    const account = await sendUnanswered(service);
    await untilAllUnanswered(sql);

    const line = ['bulks', 'start', '--action', 'resubmit', '--account', account];
    expect(await service.admin(...line)).toMatchObject({ on: MESSAGES, accounts: 1, refund_grosze: 0 });
    const start = async (): Promise<string> =>
      z.string().parse((await service.admin(...line, '--yes'))['id']);

    const bulk = await start();
    let killed = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const victim = chance.pick([...service.workers, ...service.workers, ...service.apis]);
      const at = Math.floor((MESSAGES * kill) / (KILLS + 1));
      await whileProgressing(() => look(sql, bulk, 2), {
        progress: ({ done }) => done,
        holds: ({ done }) => done >= at,
        idleMs: IDLE_MS,
      });
      await victim.kill();
      const { done, ended } = await look(sql, bulk, 2);
      if (!ended) killed += 1;
      console.log(`killed at ${done} of ${MESSAGES}`);
      await victim.start();
    }
    expect(killed).toBeGreaterThanOrEqual(KILLS / 2);
    await whileProgressing(() => look(sql, bulk, 2), {
      progress: ({ done }) => done,
      holds: ({ ended }) => ended,
      idleMs: IDLE_MS,
    });
    expect(await service.admin('bulks', 'show', bulk)).toMatchObject({
      ...{ state: 'ended', items: MESSAGES, done: MESSAGES, open: 0, refused: 0, unknown: 0 },
    });
    await untilAllUnanswered(sql);
    expect(await sql`select distinct tries from message_parts`).toEqual([{ tries: 2 }]);
    // One whose worker was killed while it submitted may never have left, but none leaves twice by itself.
    const [submits] = await sql<{ most: number; all: number }[]>`
      select max(submits)::int as most, sum(submits)::int as all from (
        select count(*) as submits from simulator_submits group by destination) s`;
    console.log(`${submits!.all} submits of ${MESSAGES * 2}`);
    expect(submits!.most).toBe(2);
    const records = await sql`
      select from audit_log where action = 'messages resubmit' group by subject having count(*) <> 1`;
    expect(records).toHaveLength(0);

    const next = await start();
    await eventually(
      () => look(sql, next, 3),
      ({ done }) => done > MESSAGES / 20,
    );
    await service.workers[0].kill();
    expect(await service.admin('bulks', 'stop', next)).toMatchObject({ state: 'stopping' });
    await service.workers[0].start();
    const { done, open } = await eventually(
      () => look(sql, next, 3),
      ({ ended }) => ended,
    );
    console.log(`stopped at ${done}`);
    expect(open).toBeGreaterThan(0);
    expect(await service.admin('bulks', 'show', next)).toMatchObject({ state: 'stopped', done, open });
    await untilAllUnanswered(sql);
    expect(await sql`select from message_parts where tries = 3`).toHaveLength(done);
  },
  NO_LIMIT,
);
