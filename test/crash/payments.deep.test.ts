import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterEach, expect, test, vi } from 'vitest';
import { type Database, openDatabase, transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { moveCheckout, returnReversal, reverse } from '../../db/money/simulatedPayments.ts';
import { netOfReversal, withVat } from '../../domain/vat.ts';
import { simulatedEvent, simulatedEventKey } from '../../payments/simulatedEvents.ts';
import { endings } from '../support/endings.ts';
import { eventually, until } from '../support/eventually.ts';
import { sessionOf, storeTopUp } from '../support/payments.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { groupBy } from './group.ts';
import { type Separate, startParts } from './installation.ts';
import { SEED } from './seed.ts';

const EVENTS = 60;
const PATIENCE_MS = 3 * 60_000;
const ACCOUNTS = 6;
const NET = 50_000;
// WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
const OUTRUN = 1;

const started = endings();
afterEach(() => started.all());

/** What happens to a top-up at its processor, one after the other, and what has become of it in the end. */
interface Story {
  happens: readonly Happening[];
  state: 'paid' | 'failed' | 'expired';
  /** What is with the payer in the end, gross. */
  back?: { kind: 'refund' | 'dispute'; grosze: number[] };
}
type Happening = (sql: Database, session: string) => Promise<unknown>;

const decides =
  (state: 'paid' | 'unpaid' | 'expired'): Happening =>
  (sql, session) =>
    moveCheckout(sql, session, ['open'], {
      ...{ state, method: 'p24' },
      ...(state === 'expired' ? {} : { reference: `pi_${session}` }),
    });
const confirms =
  (state: 'paid' | 'failed'): Happening =>
  (sql, session) =>
    moveCheckout(sql, session, ['unpaid'], { state });
const takesBack =
  (kind: 'refund' | 'dispute', grossGrosze: number, part = 1): Happening =>
  (sql, session) =>
    transaction(sql, (tx) => reverse(tx, session, { id: `${kind}_${session}_${part}`, kind, grossGrosze }));
const returns =
  (kind: 'refund' | 'dispute'): Happening =>
  (sql, session) =>
    returnReversal(sql, session, `${kind}_${session}_1`);

const GROSS = withVat(NET).grossGrosze;
const PARTS = [20_033, 20_034, GROSS - 40_067];
const STORIES: Record<string, Story> = {
  paid: { happens: [decides('paid')], state: 'paid' },
  confirmed: { happens: [decides('unpaid'), confirms('paid')], state: 'paid' },
  'not confirmed': { happens: [decides('unpaid'), confirms('failed')], state: 'failed' },
  expired: { happens: [decides('expired')], state: 'expired' },
  'refunded in three parts': {
    happens: [decides('paid'), ...PARTS.map((grosze, index) => takesBack('refund', grosze, index + 1))],
    state: 'paid',
    back: { kind: 'refund', grosze: PARTS },
  },
  'refund failed': {
    happens: [decides('paid'), takesBack('refund', 12_345), returns('refund')],
    state: 'paid',
  },
  'dispute lost': {
    happens: [decides('unpaid'), confirms('paid'), takesBack('dispute', GROSS)],
    state: 'paid',
    back: { kind: 'dispute', grosze: [GROSS] },
  },
  'dispute won': {
    happens: [decides('paid'), takesBack('dispute', GROSS), returns('dispute')],
    state: 'paid',
  },
};

interface TopUp extends Story {
  name: string;
  id: string;
  account: string;
  session: string;
}

/** Tries again until PostgreSQL is there. */
async function insisting<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(200);
    }
  }
}

/** An event of a processor, or one that claims to be. */
interface Event {
  about: string;
  path: string;
  body: string;
  headers: () => Record<string, string>;
  /** The answer that it has to be given. */
  status: number;
}

/** Answered 0: not at all. */
async function post(url: string, { path, body, headers }: Event): Promise<number> {
  return await fetch(url + path, { method: 'POST', body, headers: headers() }).then(
    async (answer) => {
      await answer.text();
      return answer.status;
    },
    () => 0,
  );
}

const SIMULATED = '/v1/payments/simulated';

/** Signed when it is sent, as a processor signs each attempt anew. */
function eventOf(key: Buffer, id: string): Event {
  const { body } = simulatedEvent(key, id);
  const headers = () => simulatedEvent(key, id).headers;
  return { about: id, path: SIMULATED, body, headers, status: 200 };
}

/** Events that are none: nothing may come of them. */
function forgedEvents(key: Buffer, ids: readonly string[], chance: Chance): Event[] {
  const one = (): Event => eventOf(key, chance.pick(ids));
  const stale = (event: Event): Event => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    const signed = event.headers();
    clock.mockRestore();
    return { ...event, headers: () => signed, status: 400 };
  };
  return [
    ...[one(), one()].map((event) => ({
      ...event,
      body: event.body.replace('changed', 'chanced'),
      status: 400,
    })),
    ...[one(), one()].map(stale),
    { ...eventOf(Buffer.alloc(32), chance.pick(ids)), status: 400 },
    { ...one(), headers: () => ({}), status: 400 },
    ...[newId('pay'), newId('pay')].map((id) => eventOf(key, id)),
    ...[one(), one()].map((event) => ({ ...event, path: '/v1/payments/stripe', status: 404 })),
    { ...one(), path: '/v1/payments/other', status: 404 },
  ];
}

/** All steps of all top-ups, mixed, each with the order of its own kept. */
function mixed(topUps: readonly TopUp[], chance: Chance): (() => [TopUp, Happening])[] {
  const left = new Map(topUps.map((topUp) => [topUp.id, [...topUp.happens]]));
  const order = chance.shuffled(topUps.flatMap((topUp) => topUp.happens.map(() => topUp)));
  return order.map((topUp) => () => [topUp, left.get(topUp.id)!.shift()!]);
}

/** Kills one process after the other and starts it again, until it is told to end. */
function startKilling(
  { apis, workers, postgres }: Pick<Separate, 'postgres'> & KillableParts,
  chance: Chance,
) {
  const killed: string[] = [];
  let ends = false;
  const done = (async () => {
    while (!ends) {
      const round = { api: apis[0]!, worker: workers[0]!, postgres };
      for (const [name, victim] of chance.shuffled(Object.entries(round))) {
        await delay(chance.between(1_000, 6_000));
        await victim.kill();
        killed.push(name);
        await delay(chance.between(0, 800));
        await victim.start();
      }
    }
  })();
  return {
    async end(): Promise<string[]> {
      ends = true;
      await done;
      return killed;
    },
  };
}
type KillableParts = Pick<Awaited<ReturnType<typeof startParts>>, 'apis' | 'workers'>;

async function newAccount(sql: Database): Promise<string> {
  const id = newId('cl');
  await sql`insert into accounts (id, name, mode) values (${id}, 'Payer', 'test')`;
  return id;
}

/** What the ledger has to have for a top-up, net: its sums by reference. */
function owed({ session, state, back }: TopUp): [reference: string, grosze: number][] {
  if (state !== 'paid') return [];
  const before = { netGrosze: 0, grossGrosze: 0 };
  const gone = (back?.grosze ?? []).map((grossGrosze, index): [string, number] => {
    const net = netOfReversal(withVat(NET), before, grossGrosze);
    before.netGrosze += net;
    before.grossGrosze += grossGrosze;
    return [`simulated:${back!.kind}_${session}_${index + 1}`, -net];
  });
  return [[`simulated:pi_${session}`, NET], ...gone];
}

interface Entry {
  accountId: string;
  reference: string;
  amountGrosze: number;
}

const ledger = (sql: Database) => sql<Entry[]>`
  select account_id, reference, amount_grosze from ledger_entries order by reference`;

/** Without what went and came back, which a look may have come too late for. */
function settled(entries: readonly Entry[]): [string, number][] {
  const byReversal = groupBy(entries, ({ reference }) => reference.replace(/:returned$/, ''));
  return [...byReversal].flatMap(([reference, some]): [string, number][] => {
    const returned = some.some((entry) => entry.reference !== reference);
    const sum = some.reduce((total, { amountGrosze }) => total + amountGrosze, 0);
    expect(some.length, reference).toBe(returned ? 2 : 1);
    if (returned) expect(sum, reference).toBe(0);
    return returned ? [] : [[reference, sum]];
  });
}

test(
  'top-ups among shuffled, doubled, late and forged events and kills of API, worker and PostgreSQL: each booked once',
  async () => {
    console.log(`CRASH_SEED=${SEED}`);
    const chance = chanceFrom(SEED, 'payments');
    const service = await startParts(1);
    started.add(() => service.stop());
    const sql = openDatabase(service.databaseUrl, 4);
    started.add(() => sql.end({ timeout: 5 }));
    const connection = await Connection.connect({ address: service.temporalAddress });
    started.add(() => connection.close());
    const { workflow } = new Client({ connection });
    const key = simulatedEventKey(service.secretsKey);
    const [api = ''] = service.apiUrls;

    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => newAccount(sql)));
    const wanted = await Promise.all(
      Object.entries(STORIES).map(async ([name, story], index) => {
        const account = accounts[index % ACCOUNTS]!;
        return { ...story, name, account, id: await storeTopUp(sql, account, NET) };
      }),
    );
    const killing = startKilling(service, chance);
    const topUps: TopUp[] = [];
    for (const one of wanted) topUps.push({ ...one, session: await insisting(() => sessionOf(sql, one.id)) });

    // What is sent comes out of the events so far in any order: later and more than once, between what happens.
    const ids = topUps.map(({ id }) => id);
    const forged = forgedEvents(key, ids, chance);
    const steps = mixed(topUps, chance);
    const doubled = chance.shuffled(
      Array.from({ length: EVENTS - forged.length - steps.length }, (_, i) => i),
    );
    const waiting = [...forged];
    const unanswered: Event[] = [];
    const answers = new Map<number, number>();
    let sent = 0;
    const send = async (event: Event): Promise<void> => {
      await delay(chance.between(200, 1_500));
      const status = await post(api, event);
      sent += 1;
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === event.status) return;
      expect([0, 503], `${event.path} ${event.body}`).toContain(status);
      unanswered.push(event);
    };
    for (const [index, step] of steps.entries()) {
      const [topUp, happens] = step();
      await insisting(() => happens(sql, topUp.session));
      waiting.push(eventOf(key, topUp.id));
      for (const extra of doubled) if (extra % steps.length === index) waiting.push(eventOf(key, topUp.id));
      for (let count = chance.between(1, 5); count > 0 && waiting.length > 0; count -= 1)
        await send(waiting.splice(chance.between(0, waiting.length - 1), 1)[0]!);
    }
    for (const event of chance.shuffled(waiting)) await send(event);
    const killed = await killing.end();
    console.log(
      `${sent} events, answered ${JSON.stringify([...answers])}, among kills of ${killed.join(', ')}`,
    );
    expect(sent).toBe(EVENTS);
    expect(new Set(killed)).toEqual(new Set(['api', 'worker', 'postgres']));

    // A processor sends what was not answered 200 again until it is.
    for (const event of chance.shuffled(unanswered))
      await until(event.body, async () => (await post(api, event)) === event.status);
    const due = topUps.flatMap(owed).sort();
    await eventually(
      async () => settled(await ledger(sql)).sort(),
      (booked) => JSON.stringify(booked) === JSON.stringify(due),
      PATIENCE_MS,
    );

    const rest = async (id: string) => {
      const { events } = await workflow.getHandle(id).fetchHistory();
      const last = events!.at(-1);
      if (last?.workflowExecutionCompletedEventAttributes) return 'ended';
      return last?.timerStartedEventAttributes ? 'waits' : 'works';
    };
    const check = async () => {
      for (const { id, name, state } of topUps) {
        const expected = state === 'paid' ? 'waits' : 'ended';
        expect(
          await eventually(
            () => rest(id),
            (now) => now !== 'works',
          ),
          name,
        ).toBe(expected);
      }
      const entries = await ledger(sql);
      expect(settled(entries).sort()).toEqual(due);
      for (const account of accounts) {
        const sum = topUps
          .filter((topUp) => topUp.account === account)
          .flatMap(owed)
          .reduce((total, [, grosze]) => total + grosze, 0);
        const [books] = await sql`
          select balance_grosze::int as balance, mode,
                 (select coalesce(sum(amount_grosze), 0)::int from ledger_entries where account_id = a.id) as ledger
            from accounts a where id = ${account}`;
        expect(books).toEqual({ balance: sum, ledger: sum, mode: sum > 0 ? 'live' : 'test' });
      }
      return entries;
    };
    const before = await check();

    // Every event once more, when all is over, changes nothing.
    for (const event of chance.shuffled([...forged, ...ids.map((id) => eventOf(key, id))]))
      expect(await post(api, event)).toBe(event.status);
    expect(await check()).toEqual(before);

    const states = await sql<{ id: string; state: string }[]>`select id, state from payments order by id`;
    expect(states.map(({ id, state }) => [id, state])).toEqual(
      topUps.map(({ id, state }) => [id, state]).sort(),
    );
    const booked = await sql`select subject from audit_log where action = 'payment book' order by subject`;
    const paid = topUps.filter(({ state }) => state === 'paid');
    expect(booked.map(({ subject }) => String(subject))).toEqual(paid.map(({ id }) => id).sort());
    const findings = await sql`select kind, subject from findings where state = 'open'`;
    const lost = topUps.find(({ name }) => name === 'dispute lost')!;
    expect([...findings]).toEqual([{ kind: 'payment_disputed', subject: lost.id }]);
    expect(await failedTasks(workflow, ids)).toEqual([]);
  },
  4 * PATIENCE_MS,
);

/** Workflow tasks that failed by their code; a task that a signal outran is tried again by design. */
async function failedTasks(workflow: Client['workflow'], ids: readonly string[]): Promise<string[]> {
  const failed: string[] = [];
  for (const id of ids) {
    const { events } = await workflow.getHandle(id).fetchHistory();
    for (const { workflowTaskFailedEventAttributes: one } of events!)
      if (one && Number(one.cause) !== OUTRUN) failed.push(`${id}: ${one.failure?.message}`);
  }
  return failed;
}
