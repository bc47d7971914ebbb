import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { openDatabase } from '../db/connection.ts';
import { installRuntime } from '../worker/runtime.ts';
import { type Baseline, startBaseline } from './baseline.ts';
import { middle, run, type Timing } from './load.ts';
import {
  type Bench,
  measure,
  measureHealth,
  measureIdle,
  type Measurement,
  type Scenario,
} from './measure.ts';
import { markdown, type Results } from './report.ts';
import { startServers } from './servers.ts';

/**
 * Measures the service through its HTTP interface (`npm run bench`), against a bare update-with-start on the same
 * Temporal server. Prints Markdown tables; the figures behind them go to `results.json`.
 *
 * --out <folder>   where results go (build/bench)
 * --messages <n>   messages of each scenario with single ones (300)
 * --rounds <n>     how often each scenario runs; the middle one by its median latency counts (3)
 * --only <text>    only the scenarios with the text in their name, such as `webhook`
 * --together       API and worker in one process, as `npm start` runs them
 * --profile        also writes CPU profiles of the service's processes into the results' folder
 */
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'build/bench' },
    messages: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    together: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  },
});
const CONCURRENCY = [1, 4, 16];
const HEALTH_REQUESTS = 500;
const WARM_UP = 60;

const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const messages = Number(values.messages);
const rounds = Number(values.rounds);
const loadBefore = loadavg()[0]!;

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200).end());
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

installRuntime(pino({ level: 'silent' }));
const servers = await startServers({ together: values.together, profiles: values.profile ? out : null });
try {
  const sql = openDatabase(servers.databaseUrl, 2);
  const connection = await Connection.connect({ address: servers.temporalAddress });
  const baseline = await startBaseline(servers.temporalAddress);
  const results = await measureAll({ servers, sql, client: new Client({ connection }) }, baseline);
  writeFileSync(join(out, 'results.json'), JSON.stringify(results, null, 1));
  writeFileSync(join(out, 'results.md'), markdown(results) + '\n');
  console.log(markdown(results));
  await baseline.stop();
  await connection.close();
  await sql.end({ timeout: 5 });
} finally {
  await servers.stop();
  receiver.closeAllConnections();
  receiver.close();
}

async function measureAll(bench: Bench, baseline: Baseline): Promise<Results> {
  const say = (what: string): void => console.error(`measures ${what} …`);
  say('nothing yet, warming up');
  await run(WARM_UP, 4, () => baseline.updateWithStart());
  await measure(bench, { name: 'warm-up', requests: WARM_UP, concurrency: 4, recipients: 1, webhookUrl });

  say('idleness');
  const idle = await measureIdle(bench);
  const bare = new Map<number, Timing[]>(CONCURRENCY.map((concurrency) => [concurrency, []]));
  const health = new Map<number, Timing[]>(CONCURRENCY.map((concurrency) => [concurrency, []]));
  const found = new Map<string, Measurement[]>();
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round} of ${rounds}`);
    for (const concurrency of CONCURRENCY) {
      health.get(concurrency)!.push(await measureHealth(bench, HEALTH_REQUESTS, concurrency));
      bare.get(concurrency)!.push(await run(messages, concurrency, () => baseline.updateWithStart()));
      for (const scenario of scenarios().filter((one) => one.concurrency === concurrency)) {
        const key = `${scenario.name} ${concurrency}`;
        const measurement = await measure(bench, scenario);
        found.set(key, [...(found.get(key) ?? []), measurement]);
        say(`${key}: accepted by ${measurement.accept.median.toFixed(0)} ms`);
      }
    }
  }
  const [cpu] = cpus();
  return {
    at: new Date().toISOString(),
    machine: {
      cpus: cpus().length,
      model: cpu?.model ?? 'unknown',
      memoryGb: Math.round(totalmem() / 2 ** 30),
      loadBefore,
      node: process.versions.node,
    },
    together: values.together,
    idle,
    baseline: CONCURRENCY.map((concurrency) => ({
      concurrency,
      bare: middle(bare.get(concurrency)!),
      health: middle(health.get(concurrency)!),
    })),
    measurements: [...found.values()].map(middleMeasurement),
  };
}

function scenarios(): Scenario[] {
  const single = { name: 'single', requests: messages, recipients: 1 };
  return [
    ...CONCURRENCY.map((concurrency) => ({ ...single, concurrency })),
    { ...single, name: 'single with webhook', concurrency: 16, webhookUrl },
    { ...single, name: 'ten single ones', requests: 10, concurrency: 4 },
    { name: 'request of 500', requests: 1, concurrency: 1, recipients: 500 },
  ].filter(({ name }) => name.includes(values.only));
}

function middleMeasurement(all: Measurement[]): Measurement {
  return all.toSorted((a, b) => a.messagesPerSecond - b.messagesPerSecond)[Math.floor(all.length / 2)]!;
}
