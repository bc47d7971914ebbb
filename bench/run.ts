import { Client, Connection } from '@temporalio/client';
import { openDatabase } from '../db/connection.ts';
import { measureAccepting } from './accept.ts';
import { measureAlone } from './alone.ts';
import { compare } from './compare.ts';
import type { Ground } from './contender.ts';
import { startContenders } from './contenders/start.ts';
import { type Options, readOptions } from './options.ts';
import { stopPrograms } from './program.ts';
import { startReceiver } from './receiver.ts';
import { merge } from './report/merge.ts';
import { summary } from './report/summary.ts';
import { readResults, writeResults } from './report/write.ts';
import type { Results } from './results.ts';
import { startServers } from './servers.ts';
import { loadNow, readSetting } from './setting.ts';
import { startBenchSmsc } from './smsc.ts';

const loadBefore = loadNow();
const options = readOptions(process.argv.slice(2));
const earlier = options.add ? readResults(options) : null;
const stops: (() => Promise<void>)[] = [];
let stopping: Promise<void> | undefined;
/** Once, whoever asks: what is broken off must be gone before this process is. */
const stopAll = (): Promise<void> =>
  (stopping ??= (async () => {
    await stopPrograms();
    for (const stop of stops.splice(0).reverse())
      await stop().catch((error: unknown) => console.error(error));
  })());
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopAll().finally(() => process.exit(130)));
}
try {
  const results = options.redraw ? readResults(options) : await measureAll(await prepare(options));
  await keep(results);
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

/** After every part, since the whole takes an hour and more: what is measured is not lost with what comes after it. */
async function keep(results: Results): Promise<void> {
  await writeResults(earlier === null ? results : merge(earlier, results), options);
}

async function measureAll(ground: Ground): Promise<Results> {
  const sql = openDatabase(ground.servers.databaseUrl, 2);
  stops.push(() => sql.end({ timeout: 5 }));
  const wants = (part: Options['parts'][number]): boolean => options.parts.includes(part);
  const results: Results = { setting: await readSetting(options, ground.client, sql, [], loadBefore) };

  let secretsKey: Buffer | undefined;
  if (wants('compare') || wants('accept')) {
    const started = await startContenders(ground, neededContenders());
    stops.push(() => started.stop());
    secretsKey = started.product?.secretsKey;
    results.setting.missing.push(...started.missing);
    if (wants('compare')) {
      const chosen = started.contenders.filter(({ key }) => (options.contenders as string[]).includes(key));
      results.compared = await compare(ground, sql, chosen, options);
      await keep(results);
    }
    if (wants('accept') && started.customer !== null) {
      console.error('accepting …');
      const requests = Math.ceil(options.messages / 5);
      results.accepting = await measureAccepting(ground.client, started.customer, {
        rounds: options.rounds,
        requests,
        pids: { ...ground.servers.pids, ...started.product?.pids },
      });
      await keep(results);
    }
    await stops.pop()!();
  }
  if (wants('window') || wants('flood') || wants('growth')) {
    await measureAlone(ground, options, secretsKey, async (found) => {
      Object.assign(results, found);
      await keep(results);
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
