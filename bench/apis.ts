import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { noneRunning } from './contender.ts';
import { numbers, sendAllTo, startPart, startProduct } from './contenders/product.ts';
import { cpuMs } from './cpu.ts';
import { addAccount } from './database.ts';
import { openCaller, run } from './load.ts';
import { difference, per } from './measure.ts';
import { startServers } from './servers.ts';
import { startBenchSmsc } from './smsc.ts';

/**
 * Measures how accepting grows with API processes: single sends, so many at once, spread over 1, 2 and 4 of them, in turns; behind
 * them one worker, on the same machine. Prints a Markdown table.
 *
 * --messages <n>   for each number of APIs (400)
 * --in-flight <n>  requests at once, over all of them (64)
 * --temporal <address>  a server that is there already, one of `npm run cluster` say
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '400' },
    'in-flight': { type: 'string', default: '64' },
    temporal: { type: 'string' },
  },
});
const messages = Number(values.messages);
const inFlight = Number(values['in-flight']);
const APIS = [1, 2, 4];
const WARM_UP = 50;

const servers = await startServers(
  values.temporal === undefined ? null : { address: values.temporal, pids: {} },
);
const smsc = await startBenchSmsc({ reports: true });
const connection = await Connection.connect({ address: servers.temporalAddress });
const client = new Client({ connection });
const product = await startProduct(servers, null);
const more = await Promise.all(
  Array.from({ length: Math.max(...APIS) - 1 }, () => startPart('api', servers, product.secretsKey)),
);
try {
  await sendAllTo(product, smsc.port);
  const { id, key } = await addAccount(product.sql);
  const settled = (): Promise<void> => noneRunning(client, `Account = '${id}'`);
  const callers = [product.apiUrl, ...more.map(({ url }) => url)].map((url) =>
    openCaller(url, key, inFlight),
  );
  const pids = {
    ...{ ...servers.pids, ...product.pids },
    ...Object.fromEntries(more.map(({ pid }, index) => [`api${index + 2}`, pid])),
  };
  for (const caller of callers) await run(WARM_UP, 4, () => caller.send(numbers(1)[0]!));
  await settled();

  console.log('| APIs | accepted a second | median ms | 99 % ms | CPU ms of the APIs for a message |');
  console.log('| ---: | ---: | ---: | ---: | ---: |');
  for (const apis of APIS) {
    let next = 0;
    const before = cpuMs(pids);
    const { perSecond, median, p99 } = await run(messages, inFlight, () =>
      callers[(next += 1) % apis]!.send(numbers(1)[0]!),
    );
    await settled();
    const used = Object.entries(per(messages, difference(cpuMs(pids), before)));
    const ofApis = used.filter(([name]) => name.startsWith('api')).reduce((sum, [, ms]) => sum + ms, 0);
    console.log(
      `| ${apis} | ${perSecond.toFixed(0)} | ${median.toFixed(0)} | ${p99.toFixed(0)} | ${ofApis.toFixed(1)} |`,
    );
  }
  await Promise.all(callers.map((caller) => caller.close()));
} finally {
  await Promise.all(more.map((program) => program.stop()));
  await product.stop();
  await connection.close();
  await smsc.stop();
  await servers.stop();
}
