import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identify } from '../../bin/runfile.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { lockRow, type RowLock } from './holds.ts';
import type { Planned } from './load.ts';
import { type AnyLink, type Play, startPlay } from './play.ts';
import { type Victim, VICTIMS } from './stage.ts';
import { type AtStep, MissedStep, type Step, STEPS, type StepTools } from './steps.ts';
import { SEED } from './seed.ts';

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 1);
const ONLY = new RegExp(process.env['CRASH_STEPS'] ?? '');
const NUMBERS_PER_CASE = 150;
const BRING_PATIENCE_MS = 60_000;
const ANSWER_PATIENCE_MS = 90_000;
const BRING_TRIES = 3;
const STEP_TEXT = 'Krok po kroku';

console.log(`CRASH_SEED=${SEED} CRASH_ROUNDS=${ROUNDS} CRASH_STEPS=${ONLY.source}`);

interface Case {
  step: Step;
  victim: Victim;
  name: string;
}

/** Every step with everybody who can be killed there, in an order of the seed's. */
function casesOf(chance: Chance): Case[] {
  const cases = STEPS.flatMap((step) =>
    step.victims.map((victim) => ({ step, victim, name: `${victim} killed: ${step.name}` })),
  ).filter(({ name }) => ONLY.test(name));
  return chance.shuffled(cases);
}

/** A play whose links can be frozen and whose rows can be locked. */
interface Stepping {
  play: Play;
  tools: StepTools;
  /** Undoes whatever a step holds. */
  letEverythingGo(): Promise<void>;
  stop(): Promise<void>;
}

async function startStepping(chance: Chance, round: number): Promise<Stepping> {
  const proxies = {} as Record<AnyLink, Proxy>;
  const play = await startPlay(chance, round, async (link, port) => {
    proxies[link] = await startProxy(port);
    return proxies[link].port;
  });
  const { sql, client, network, receiver, caller } = play;
  const locks: RowLock[] = [];
  const lock: StepTools['lock'] = async (what, id) => {
    const locked = await lockRow(sql, what, id);
    locks.push(locked);
    return locked;
  };
  const account = play.scene.accounts.stepping;
  return {
    play,
    tools: { sql, client, proxies, network, receiver, account, lock, ...caller },
    async letEverythingGo() {
      for (const proxy of Object.values(proxies)) proxy.restore();
      for (const one of locks.splice(0)) await one.release();
    },
    async stop() {
      await play.stop();
      for (const proxy of Object.values(proxies)) await proxy.close();
    },
  };
}

function requestFor(
  { recipients = 1, scheduledSeconds, ending = '500' }: Step,
  number: number,
  beside = 0,
): Planned {
  const first = 10_000 + number * NUMBERS_PER_CASE + beside;
  return {
    tag: beside === 0 ? `step-${number}` : `step-${number}-${beside}`,
    payer: 'stepping',
    recipients: Array.from({ length: recipients }, (_, index) => `+485${first + index}${ending}`),
    single: recipients === 1,
    text: STEP_TEXT,
    scheduled: scheduledSeconds ?? null,
    cancel: false,
  };
}

/** Brings a message to the step, with another one where the first was not seen there. */
async function bringTo(stepping: Stepping, step: Step, number: number): Promise<AtStep> {
  const late = `the message does not come to the step "${step.name}"`;
  for (let attempt = 1; ; attempt += 1) {
    const place = number + (attempt - 1) * STEPS.length * VICTIMS.length;
    const besides = Array.from({ length: step.beside ?? 0 }, (_, i) => requestFor(step, place, i + 1));
    try {
      const bringing = step.bring(stepping.tools, requestFor(step, place), besides);
      return await before(BRING_PATIENCE_MS, late, bringing);
    } catch (error) {
      if (!(error instanceof MissedStep) || attempt === BRING_TRIES) throw error;
      console.log(`  missed the step "${step.name}": ${error.message}`);
      await stepping.letEverythingGo();
      stepping.play.scene.told.push(...(await Promise.all(error.told)));
    }
  }
}

/** Brings a message to the step, kills there, and waits until its caller has what everybody gets in the end. */
async function killThere(
  stepping: Stepping,
  { step, victim, name }: Case,
  number: number,
  chance: Chance,
): Promise<void> {
  const { stage, scene } = stepping.play;
  const victimOf = stage.processes[victim];
  const others = VICTIMS.filter((one) => one !== victim).map((one) => stage.processes[one]);
  const pids = others.map(({ pid }) => pid);
  const { told, others: besideTold = [], answers, letGo, frozen } = await bringTo(stepping, step, number);
  await delay(chance.between(0, 50));
  const at = Date.now();
  await victimOf.kill();
  const letGoFirst = frozen || chance.odds(0.5);
  if (letGoFirst) await letGo();
  await victimOf.start();
  if (!letGoFirst) await letGo();
  await before(ANSWER_PATIENCE_MS, 'its caller gets no answer', Promise.all(answers));
  scene.told.push(await told, ...(await Promise.all(besideTold)));
  console.log(`  ${name}; its caller was answered after ${((Date.now() - at) / 1000).toFixed(1)} s`);
  expect(others.map(({ pid }) => pid)).toEqual(pids);
  expect(
    pids.filter((pid) => identify(pid) === null),
    'those who were not killed live on',
  ).toEqual([]);
}

async function before<T>(patienceMs: number, otherwise: string, work: Promise<T>): Promise<T> {
  const ended = new AbortController();
  // Awaited no more when it is too late; then nobody is to hear of its failure.
  work.catch(() => undefined);
  const late = delay(patienceMs, undefined, { signal: ended.signal, ref: false }).then(() => {
    throw new Error(otherwise);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    ended.abort();
  }
}

describe.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))('round %i', (round) => {
  const chance = chanceFrom(SEED, `steps ${round}`);
  const cases = casesOf(chance);
  let stepping: Stepping;

  beforeAll(async () => {
    stepping = await startStepping(chance, round);
  }, 600_000);
  afterAll(async () => {
    await stepping?.stop();
  }, 120_000);

  test.each(cases.map((one, index) => ({ ...one, number: index + 1 })))('$name', async (one) => {
    try {
      await killThere(stepping, one, one.number, chanceFrom(SEED, `${round} ${one.name}`));
    } catch (error) {
      const again = `CRASH_SEED=${SEED} CRASH_ROUNDS=${ROUNDS} CRASH_STEPS='${one.name}'`;
      console.log(
        `  FAILED ${one.name}: ${String(error)}; again: ${again} npm run test:deep -- test/crash/steps`,
      );
      throw error;
    } finally {
      await stepping.letEverythingGo();
    }
  });

  test('nothing was lost, doubled or overcharged', async () => {
    console.log(`  ${await stepping.play.end()} messages accepted, every one as promised`);
  });
});
