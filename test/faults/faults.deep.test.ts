import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identify } from '../../bin/runfile.ts';
import { chanceFrom } from '../crash/chance.ts';
import type { Planned } from '../crash/load.ts';
import { type AnyLink, type Play, startPlay } from '../crash/play.ts';
import { VICTIMS } from '../crash/stage.ts';
import { eventually } from '../support/eventually.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { type Probe, type Probes, startProbes, summary } from './probes.ts';
import { type Fault, FAULTS, readsAreUnharmed, sendsAreUnharmed, type Server, SERVERS } from './table.ts';
import { startToxiproxy, type Toxiproxy } from './toxiproxy.ts';
import { SEED } from '../crash/seed.ts';

const ONLY = new RegExp(process.env['FAULTS'] ?? '');
const LASTS_MS = Number(process.env['FAULT_SECONDS'] ?? 12) * 1000;
// An API answers within ten seconds; the rest is for a machine that has more to do.
const ANSWER_MS = 12_000;
// Of a request that has nothing to do with what is broken.
const UNHARMED_MS = 5_000;
// A Temporal connection that says nothing is given up after 45 s, a worker's database connection after a minute.
const RECOVERY_MS = 120_000;
const DURING = 4;
const TRIES = 4;

console.log(`CRASH_SEED=${SEED} FAULTS=${ONLY.source} FAULT_SECONDS=${LASTS_MS / 1000}`);

const CASES = (Object.keys(SERVERS) as Server[])
  .flatMap((server) => FAULTS.map((fault) => ({ server, fault, name: `${server}: ${fault.name}` })))
  .filter(({ name }) => ONLY.test(name))
  .map((one, index) => ({ ...one, number: index + 1 }));

let toxiproxy: Toxiproxy;
let play: Play;
const strandable = {} as Record<AnyLink, Proxy>;

beforeAll(async () => {
  toxiproxy = await startToxiproxy();
  play = await startPlay(chanceFrom(SEED, 'faults'), 1, async (link, port) => {
    // Toxiproxy stands next to the process, which so meets real refusals and resets.
    strandable[link] = await startProxy(port);
    return await toxiproxy.add(link, strandable[link].port);
  });
});
afterAll(async () => {
  await play?.stop();
  for (const proxy of Object.values(strandable)) await proxy.close();
  await toxiproxy?.stop();
});

async function breakIt(server: Server, { toxics }: Fault): Promise<void> {
  for (const link of SERVERS[server]) {
    if (toxics === 'refused') await toxiproxy.disable(link);
    else if (toxics === 'stranded') strandable[link].strand();
    else for (const toxic of toxics) await toxiproxy.poison(link, toxic);
  }
}

/** A message of one's own, whose webhooks go by the poisoned way. */
function messageOf(what: 'during' | 'after', number: number, index: number): Planned {
  const subscriber = String(number * 10 + index).padStart(3, '0');
  return {
    tag: `${what}-${number}-${index}`,
    payer: 'stepping',
    recipients: [`+4851${what === 'during' ? 4 : 3}${subscriber}500`],
    single: true,
    text: 'Burza',
    scheduled: null,
    cancel: false,
  };
}

/** Sends while something is wrong; what becomes of it is looked at in the end. */
async function sendDuring(number: number): Promise<void> {
  const requests = Array.from({ length: DURING }, (_, index) => messageOf('during', number, index));
  play.scene.told.push(...(await Promise.all(requests.map((request) => play.caller.send(request)))));
}

/** Sends until a message has come all the way, its webhook included: then everything works. */
async function untilAllWorks(number: number): Promise<number> {
  const since = Date.now();
  for (let index = 0; index < TRIES; index += 1) {
    const told = await play.caller.send(messageOf('after', number, index));
    play.scene.told.push(told);
    const { id } = told.messages[0]!;
    const [message] = await eventually(
      () => play.sql<{ submission: string; told: boolean }[]>`
        select m.submission, exists (select from webhook_events e where e.subject_id = m.id
                                       and e.type = 'message.delivered' and e.state = 'delivered') as told
          from messages m where m.id = ${id}`,
      ([row]) => row!.told || row!.submission === 'unanswered',
      RECOVERY_MS,
    );
    // Its submit was lost with the last of what was wrong: nobody knows, so it is not repeated.
    if (message!.told) return Date.now() - since;
  }
  throw new Error('no message comes all the way');
}

function checkAnswers(server: Server, fault: Fault, { reads, sends }: Probes): void {
  const statuses = (probes: Probe[]): number[] => [...new Set(probes.map(({ status }) => status))].sort();
  const slowest = (probes: Probe[]): number => Math.max(0, ...probes.map(({ ms }) => ms));
  expect(
    statuses(reads).filter((one) => ![200, 502, 504].includes(one)),
    'reads',
  ).toEqual([]);
  expect(
    statuses(sends).filter((one) => ![201, 502, 504].includes(one)),
    'sends',
  ).toEqual([]);
  expect(slowest([...reads, ...sends]), 'the slowest answer').toBeLessThan(ANSWER_MS);
  if (readsAreUnharmed(server)) {
    expect(statuses(reads), 'reads that need nothing of it').toEqual([200]);
    expect(slowest(reads)).toBeLessThan(UNHARMED_MS);
  }
  if (sendsAreUnharmed(server)) expect(statuses(sends), 'sends that need nothing of it').toEqual([201]);
  if (fault.bearable) {
    expect(reads.filter(({ status }) => status === 200).length, 'reads in spite of it').toBeGreaterThan(0);
    expect(sends.filter(({ status }) => status === 201).length, 'sends in spite of it').toBeGreaterThan(0);
  }
}

describe('under load, with a network that is', () => {
  test.each(CASES)('$name', async ({ server, fault, name, number }) => {
    const { stage, scene } = play;
    const pids = VICTIMS.map((one) => stage.processes[one].pid);
    await breakIt(server, fault);
    const probes = startProbes(scene.apiUrl, scene.accounts.probing, String(number));
    const during = sendDuring(number);
    during.catch(() => undefined);
    await delay(LASTS_MS);
    await toxiproxy.reset();
    // An SMSC ends a session that does not answer; PostgreSQL, Temporal and receivers may not notice for hours.
    if (server === 'smsc') strandable['worker to smsc'].notice();
    const back = untilAllWorks(number);
    back.catch(() => undefined);
    await probes.stop();
    scene.told.push(...probes.told);
    await during;
    const recovery = await back;
    // Else Temporal gives tasks to the polls of dead connections for up to a minute, each lost for ten seconds: in the next case.
    if (server === 'temporal') for (const link of SERVERS[server]) strandable[link].notice();
    console.log(
      `  ${name}; reads ${summary(probes.reads)}; sends ${summary(probes.sends)}; ` +
        `a message all the way ${(recovery / 1000).toFixed(1)} s after it ended`,
    );
    checkAnswers(server, fault, probes);
    expect(VICTIMS.map((one) => stage.processes[one].pid)).toEqual(pids);
    expect(
      pids.filter((pid) => identify(pid) === null),
      'nobody had to be started again',
    ).toEqual([]);
  });

  test('nothing was lost, doubled or overcharged', async () => {
    console.log(`  ${await play.end()} messages accepted, every one as promised`);
  });
});
