import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { endings } from '../support/endings.ts';
import { checkAtRest } from './atRest.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { groupBy } from './group.ts';
import {
  type AllInOne,
  type Installation,
  processesNaming,
  type Separate,
  startAllInOne,
  startSeparately,
} from './installation.ts';
import { type Load, makeTellingAccounts, planLoad, startLoad, type Told, untilAnswered } from './load.ts';
import { SEED } from './seed.ts';

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 1);
const REQUESTS = Number(process.env['CRASH_REQUESTS'] ?? 150);

console.log(`CRASH_SEED=${SEED} CRASH_ROUNDS=${ROUNDS} CRASH_REQUESTS=${REQUESTS}`);

/** Something that kills and brings back while a load runs; returns the moment of each kill, epoch milliseconds. */
type Disaster<I> = (installation: I, load: Load, chance: Chance) => Promise<number[]>;

const started = endings();
afterEach(() => started.all());

async function survive<I extends Installation>(
  name: string,
  start: () => Promise<I>,
  disaster: Disaster<I>,
): Promise<void> {
  const installation = await start();
  started.add(() => installation.stop());
  const { accounts, receiver } = await makeTellingAccounts(installation, started);
  const told: Told[] = [];

  for (let round = 1; round <= ROUNDS; round += 1) {
    const chance = chanceFrom(SEED, `${name} ${round}`);
    const load = startLoad(installation.apiUrls, accounts, planLoad(chance, `${round}`, REQUESTS));
    const kills = await disaster(installation, load, chance);
    told.push(...(await load.done));
    report(name, round, load, kills);
    await checkAtRest(installation, { accounts, receiver, told });
    expect(load.complaints, 'answers no caller should see').toEqual([]);
  }
}

function report(name: string, round: number, { answers }: Load, kills: number[]): void {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const recoveries = kills.map((kill) => {
    const trouble = answers.filter(({ at, status }) => at >= kill && (status === 0 || status >= 500));
    const back = answers.find(({ at, status, ms }) => at - ms >= kill && status === 201);
    return `${seconds((back?.at ?? kill) - kill)} (${trouble.length} failed tries)`;
  });
  const statuses = groupBy(answers, ({ status }) => status);
  const counts = [...statuses].map(([status, all]) => `${status}: ${all.length}`).sort();
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  console.log(
    `${name}, round ${round}: accepts again after ${recoveries.join(', ')}; ` +
      `all answered ${seconds(Date.now() - kills.at(-1)!)} after the last kill; ` +
      `answers ${counts.join(', ')}; slowest ${seconds(slowest)}`,
  );
}

/** Waits for a random moment in the given part of the load. */
async function moment(load: Load, chance: Chance, from: number, to: number): Promise<void> {
  await untilAnswered(load, Math.floor(REQUESTS * (from + chance.next() * (to - from))));
  await delay(chance.between(0, 100));
}

const killAllInOne: Disaster<AllInOne> = async (service, load, chance) => {
  await moment(load, chance, 0.15, 0.6);
  const before = processesNaming(service.dataDir).map(({ pid }) => pid);
  const at = Date.now();
  await service.main.kill();
  await service.main.start();
  const left = processesNaming(service.dataDir).filter(({ pid }) => before.includes(pid));
  expect(left, 'servers of the killed process').toEqual([]);
  return [at];
};

const killServer =
  (name: 'postgres' | 'temporal'): Disaster<Separate> =>
  async (service, load, chance) => {
    await moment(load, chance, 0.15, 0.6);
    const at = Date.now();
    await service[name].kill();
    await service[name].start();
    return [at];
  };

const killOneThenOther =
  (part: 'workers' | 'apis'): Disaster<Separate> =>
  async (service, load, chance) => {
    const kills: number[] = [];
    const [first, second] = chance.odds(0.5) ? service[part] : [...service[part]].reverse();
    await moment(load, chance, 0.1, 0.3);
    kills.push(Date.now());
    await first!.kill();
    await first!.start();
    await moment(load, chance, 0.5, 0.7);
    kills.push(Date.now());
    await second!.kill();
    await second!.start();
    return kills;
  };

describe('kill -9 in the middle of a load loses, doubles and overcharges nothing', () => {
  test('the all-in-one process', () => survive('all-in-one', startAllInOne, killAllInOne));
  test('one worker of two, then the other', () =>
    survive('workers', startSeparately, killOneThenOther('workers')));
  test('one API of two, then the other', () => survive('APIs', startSeparately, killOneThenOther('apis')));
  test('the Temporal server', () => survive('Temporal', startSeparately, killServer('temporal')));
  test('PostgreSQL with all its backends', () =>
    survive('PostgreSQL', startSeparately, killServer('postgres')));
});
