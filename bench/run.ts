import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { openDatabase } from '../db/connection.ts';
import { measureAccepting } from './accept.ts';
import { compare } from './compare.ts';
import type { Ground } from './contender.ts';
import { startContenders } from './contenders/start.ts';
import { type Options, readOptions } from './options.ts';
import { startReceiver } from './receiver.ts';
import { summary } from './report/summary.ts';
import type { Results } from './results.ts';
import { startServers } from './servers.ts';
import { loadNow, readSetting } from './setting.ts';
import { startBenchSmsc } from './smsc.ts';

const loadBefore = loadNow();
const options = readOptions(process.argv.slice(2));
const stops: (() => Promise<void>)[] = [];
const stopAll = async (): Promise<void> => {
  for (const stop of stops.splice(0).reverse()) await stop();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopAll().finally(() => process.exit(130)));
}
try {
  const results = await measureAll(await prepare(options));
  const out = resolve(options.out);
  mkdirSync(join(out, 'benchmarks'), { recursive: true });
  writeFileSync(join(out, 'benchmarks', 'results.json'), JSON.stringify(results, null, 1) + '\n');
  console.log(summary(results));
} finally {
  await stopAll();
}

async function prepare({ temporal, profiles }: Options): Promise<Ground> {
  const servers = await startServers(temporal);
  stops.push(() => servers.stop());
  const smsc = await startBenchSmsc({ reports: true });
  stops.push(() => smsc.stop());
  const receiver = await startReceiver();
  stops.push(() => receiver.stop());
  const connection = await Connection.connect({ address: servers.temporalAddress });
  stops.push(() => connection.close());
  return { servers, smsc, receiver, profiles, client: new Client({ connection }) };
}

async function measureAll(ground: Ground): Promise<Results> {
  const sql = openDatabase(ground.servers.databaseUrl, 2);
  stops.push(() => sql.end({ timeout: 5 }));
  const wants = (part: Options['parts'][number]): boolean => options.parts.includes(part);
  const results: Results = { setting: await readSetting(options, ground.client, sql, [], loadBefore) };

  const started = await startContenders(ground, neededContenders());
  stops.push(() => started.stop());
  results.setting.missing.push(...started.missing);
  if (wants('compare')) {
    const chosen = started.contenders.filter(({ key }) => (options.contenders as string[]).includes(key));
    results.compared = await compare(ground, sql, chosen, options);
  }
  if (wants('accept') && started.customer !== null) {
    console.error('accepting …');
    const { rounds, messages } = options;
    results.accepting = await measureAccepting(ground.client, started.customer, {
      rounds,
      requests: Math.ceil(messages / 5),
    });
  }
  return results;
}

/** Accepting is measured between the ceiling's worker and the product. */
function neededContenders(): Options['contenders'] {
  if (!options.parts.includes('compare')) return ['ceiling', 'product'];
  return options.parts.includes('accept')
    ? [...new Set<Options['contenders'][number]>([...options.contenders, 'ceiling', 'product'])]
    : options.contenders;
}
