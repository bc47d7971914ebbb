import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { findTemporalServer } from '../../tools/cluster/temporalServer.ts';
import { checkAtRest } from '../crash/atRest.ts';
import { type Chance, chanceFrom } from '../crash/chance.ts';
import {
  type Accounts,
  type Load,
  makeAccounts,
  planLoad,
  startLoad,
  type Told,
  untilAnswered,
} from '../crash/load.ts';
import { endings } from '../support/endings.ts';
import { refusingEvery, startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { BUILD_PATIENCE_MS, type Cluster, startCluster } from './cluster.ts';

const SEED = Number(process.env['CLUSTER_SEED'] ?? randomInt(1_000_000));
const ROUNDS = Number(process.env['CLUSTER_ROUNDS'] ?? 1);
// While each of the processes falls.
const REQUESTS = Number(process.env['CLUSTER_REQUESTS'] ?? 40);
const VICTIMS = [
  ...['temporal-1', 'temporal-2', 'worker-1', 'worker-2', 'api-1', 'api-2'],
  ...['balancer', 'api-balancer', 'postgres'],
];
const HANGS_MS = 25_000;

console.log(`CLUSTER_SEED=${SEED} CLUSTER_ROUNDS=${ROUNDS} CLUSTER_REQUESTS=${REQUESTS}`);

beforeAll(async () => {
  await findTemporalServer((line) => console.log(line));
}, BUILD_PATIENCE_MS);

const started = endings();
afterEach(() => started.all());

/** A cluster with what a load needs. */
interface Stage {
  cluster: Cluster;
  receiver: WebhookReceiver;
  accounts: Accounts;
  told: Told[];
}

async function setStage(...args: string[]): Promise<Stage> {
  const cluster = await startCluster(args);
  started.add(() => cluster.stop());
  const receiver = await startReceiver(refusingEvery(25));
  started.add(() => receiver.close());
  const quiet = await startReceiver();
  started.add(() => quiet.close());
  const accounts = await makeAccounts(cluster, { telling: receiver, stepping: quiet });
  return { cluster, receiver, accounts, told: [] };
}

/** Runs a load, lets something happen at a random moment of it, and says what callers noticed. */
async function during(
  { cluster, accounts, told }: Stage,
  what: string,
  chance: Chance,
  happen: () => Promise<void> | void,
): Promise<Load> {
  const load = startLoad(cluster.apiUrls, accounts, planLoad(chance, `${what} `, REQUESTS));
  await untilAnswered(load, Math.floor(REQUESTS * (0.1 + chance.next() * 0.5)));
  await delay(chance.between(0, 100));
  const at = Date.now();
  await happen();
  told.push(...(await load.done));
  const retried = load.answers.filter(({ status }) => ![200, 201, 402].includes(status));
  const statuses = [...new Set(retried.map(({ status }) => status))].join(', ');
  const next = load.answers.find((answer) => answer.at - answer.ms >= at && answer.status === 201);
  const back = next === undefined ? 'the load was over' : `${((next.at - at) / 1000).toFixed(1)} s`;
  const slowest = Math.max(...load.answers.map(({ ms }) => ms)) / 1000;
  console.log(
    `  ${what}: next accepted after ${back}; ${retried.length} of ${load.answers.length} calls repeated` +
      `${retried.length === 0 ? '' : ` (${statuses})`}; slowest ${slowest.toFixed(1)} s`,
  );
  expect(load.complaints, `${what}: answers no caller should see`).toEqual([]);
  return load;
}

const expectNothingWrong = ({ cluster, ...known }: Stage): Promise<void> => checkAtRest(cluster, known);

test('any one process killed under load is not noticed beyond repeated requests', async () => {
  const stage = await setStage();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const chance = chanceFrom(SEED, `killed ${round}`);
    console.log(`round ${round}`);
    for (const victim of chance.shuffled(VICTIMS)) {
      const pid = stage.cluster.pid(victim);
      await during(stage, `${round} ${victim} killed`, chance, () => void process.kill(pid, 'SIGKILL'));
      await stage.cluster.untilBack(victim, pid);
    }
    await expectNothingWrong(stage);
  }
});

test('a Temporal server that hangs, then one that is gone for good, leave the work to the other', async () => {
  const stage = await setStage('--no-restart');
  const chance = chanceFrom(SEED, 'hangs');
  const [hanging, lost] = chance.shuffled(['temporal-1', 'temporal-2']) as [string, string];
  const pid = stage.cluster.pid(hanging);
  const goOn = (): void => void process.kill(pid, 'SIGCONT');
  started.add(() => Promise.resolve().then(goOn));
  await during(stage, `${hanging} hangs`, chance, async () => {
    process.kill(pid, 'SIGSTOP');
    await delay(HANGS_MS);
    goOn();
  });
  await during(stage, `after ${hanging} went on`, chance, () => undefined);
  await during(stage, `${lost} gone for good`, chance, () => {
    process.kill(stage.cluster.pid(lost), 'SIGKILL');
  });
  await expectNothingWrong(stage);
  expect(stage.cluster.output()).toContain(`${lost} has ended unexpectedly`);
  expect(stage.cluster.now().processes.map(({ name }) => name)).not.toContain(lost);
});
