import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { smppSettings } from '../carriers/smpp/settings.ts';
import { type Database, openDatabase } from '../db/connection.ts';
import {
  addRoute,
  addRule,
  readRouteRules,
  readRouting,
  removeRule,
  sealCredentials,
} from '../db/routes/routes.ts';
import { installRuntime } from '../worker/runtime.ts';
import { middle, run, type Timing } from './load.ts';
import { measure, type Scenario } from './measure.ts';
import { type Servers, startServers } from './servers.ts';
import { type BenchSmsc, startBenchSmsc } from './smsc.ts';
import { openBare, openCarrier, type SubmitClient } from './submitClients.ts';
import { until } from './until.ts';

/**
 * Measures submits per second (`npm run bench:submits`): of the SMPP carrier alone beside the bare package `smpp`, by turns
 * over one session each to the same local SMSC with the same number of submits open; then of the whole service with
 * an SMPP route, from HTTP requests to delivery reports. Prints Markdown tables.
 *
 * --submits <n>   of each client in each round (20000)
 * --rounds <n>    the middle one by its median latency counts (3)
 * --carrier       only the carrier and the bare package
 * --messages <n>  of the whole service: single ones, and four requests of a quarter each (1000)
 */
const { values } = parseArgs({
  options: {
    submits: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    messages: { type: 'string', default: '1000' },
    carrier: { type: 'boolean', default: false },
  },
});
const WINDOWS = [1, 10, 100];
const WARM_UP = 2_000;
const ROUTE = 'bench';
const ROUTE_SETTINGS = { sessions: 2, window: 100 };
const submits = Number(values.submits);
const rounds = Number(values.rounds);
const messages = Number(values.messages);

console.log(
  `Measured ${new Date().toISOString()} on ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ` +
    `${process.versions.node}; load before the start ${loadavg()[0]!.toFixed(2)}; everything on this machine.\n`,
);
await compareClients();
if (!values.carrier) await measureService();

async function compareClients(): Promise<void> {
  const smsc = await startBenchSmsc({ reports: false });
  try {
    console.log('| client | window | submits/s | p50 ms | p95 ms | p99 ms |');
    console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
    for (const window of WINDOWS) {
      const found: Record<'carrier' | 'bare', Timing[]> = { carrier: [], bare: [] };
      for (let round = 0; round < rounds; round += 1) {
        found.carrier.push(await timed(smsc, await openCarrier(smsc.port, window), window));
        found.bare.push(await timed(smsc, await openBare(smsc.port), window));
      }
      console.log(row(['carrier', window], middle(found.carrier)));
      console.log(row(['bare `smpp`', window], middle(found.bare)));
    }
  } finally {
    await smsc.stop();
  }
}

async function timed(smsc: BenchSmsc, client: SubmitClient, window: number): Promise<Timing> {
  try {
    await run(WARM_UP, window, () => client.submit());
    await smsc.counts();
    const timing = await run(submits, window, () => client.submit());
    const { submits: seen } = await smsc.counts();
    if (seen !== submits) throw new Error(`the SMSC saw ${seen} submits of ${submits}`);
    return timing;
  } finally {
    await client.close();
  }
}

async function measureService(): Promise<void> {
  installRuntime(pino({ level: 'silent' }));
  const smsc = await startBenchSmsc({ reports: true });
  const servers = await startServers({ together: false, profiles: null });
  const sql = openDatabase(servers.databaseUrl, 2);
  const connection = await Connection.connect({ address: servers.temporalAddress });
  const bench = { servers, sql, client: new Client({ connection }) };
  try {
    await sendAllTo(sql, servers, smsc.port);
    await measure(bench, { name: 'warm-up', requests: 60, concurrency: 4, recipients: 1 });
    console.log('\n| whole service | at once | accepted/s | submits/s | delivered/s | CPU ms per message |');
    console.log('| --- | ---: | ---: | ---: | ---: | --- |');
    for (const scenario of scenarios()) {
      await smsc.counts();
      const { accept, messagesPerSecond, cpuMs } = await measure(bench, scenario);
      const seen = await smsc.counts();
      const all = scenario.requests * scenario.recipients;
      if (seen.submits !== all) throw new Error(`the SMSC saw ${seen.submits} submits of ${all}`);
      const cpu = Object.entries(cpuMs).map(([name, ms]) => `${name} ${ms.toFixed(1)}`);
      const perSecond = (1000 * seen.submits) / (seen.lastAt - seen.firstAt);
      const accepted = accept.perSecond * scenario.recipients;
      const figures = [accepted, perSecond, messagesPerSecond].map((figure) => figure.toFixed(0));
      console.log(`| ${[scenario.name, scenario.concurrency, ...figures, cpu.join(', ')].join(' | ')} |`);
    }
  } finally {
    await connection.close();
    await sql.end({ timeout: 5 });
    await servers.stop();
    await smsc.stop();
  }
}

function scenarios(): Scenario[] {
  const quarter = Math.floor(messages / 4);
  return [
    { name: 'single messages', requests: messages, concurrency: 16, recipients: 1 },
    { name: `requests of ${quarter}`, requests: 4, concurrency: 4, recipients: quarter },
  ];
}

/** Makes an SMPP route the only one, and waits until it works. */
async function sendAllTo(sql: Database, servers: Servers, port: number): Promise<void> {
  const credentials = { systemId: 'bench', password: 'bench' };
  await addRoute(sql, {
    ...{ name: ROUTE, kind: 'smpp', state: 'active', ratePerSecond: null, brokenAfterS: 10 },
    settings: smppSettings.parse({ host: '127.0.0.1', port, ...ROUTE_SETTINGS }),
    credentials: sealCredentials(servers.secretsKey, ROUTE, credentials),
  });
  for (const { id } of await readRouteRules(sql)) await removeRule(sql, id);
  await addRule(sql, { route: ROUTE, prefix: '', accountId: null, type: null, priority: null, weight: 100 });
  await until('the route works', async () => {
    const { routes } = await readRouting(sql);
    return routes.some(({ name, working }) => name === ROUTE && working);
  });
}

function row(what: (string | number)[], { perSecond, median, p95, p99 }: Timing): string {
  const figures = [median, p95, p99].map((ms) => ms.toFixed(2));
  return `| ${[...what, perSecond.toFixed(0), ...figures].join(' | ')} |`;
}
