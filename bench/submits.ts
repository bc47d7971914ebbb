import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { middle, run, type Timing } from './load.ts';
import { type BenchSmsc, startBenchSmsc } from './smsc.ts';
import { openBare, openProvider, type SubmitClient } from './submitClients.ts';

/**
 * Measures submits per second (`npm run bench:submits`): of the SMPP provider alone beside the bare package `smpp`, by turns
 * over one session each to the same local SMSC with the same number of submits open. Prints a Markdown table. The whole
 * service with an SMPP route is measured by `npm run bench`.
 *
 * --submits <n>   of each client in each round (20000)
 * --rounds <n>    the middle one by its median latency counts (3)
 */
const { values } = parseArgs({
  options: {
    submits: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
  },
});
const WINDOWS = [1, 10, 100];
const WARM_UP = 2_000;
const submits = Number(values.submits);
const rounds = Number(values.rounds);

console.log(
  `Measured ${new Date().toISOString()} on ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ` +
    `${process.versions.node}; load before the start ${loadavg()[0]!.toFixed(2)}; everything on this machine.\n`,
);
await compareClients();

async function compareClients(): Promise<void> {
  const smsc = await startBenchSmsc({ reports: false });
  try {
    console.log('| client | window | submits/s | p50 ms | p95 ms | p99 ms |');
    console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
    for (const window of WINDOWS) {
      const found: Record<'provider' | 'bare', Timing[]> = { provider: [], bare: [] };
      for (let round = 0; round < rounds; round += 1) {
        found.provider.push(await timed(smsc, await openProvider(smsc.port, window), window));
        found.bare.push(await timed(smsc, await openBare(smsc.port), window));
      }
      console.log(row(['provider', window], middle(found.provider)));
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

function row(what: (string | number)[], { perSecond, median, p95, p99 }: Timing): string {
  const figures = [median, p95, p99].map((ms) => ms.toFixed(2));
  return `| ${[...what, perSecond.toFixed(0), ...figures].join(' | ')} |`;
}
