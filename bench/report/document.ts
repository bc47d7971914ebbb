import type { Results, Setting } from '../results.ts';
import type { Chart } from './charts.ts';
import { acceptCpuTable, acceptTable, batchTable, costTable, cpuTable, rateTable } from './compareTables.ts';
import { floodTable, growthTables, windowTable } from './growthTables.ts';
import { figure, grouped } from './markdown.ts';
import { flatness, queueTable, targetTable } from './targets.ts';

const ALT: Record<Chart['name'], string> = {
  rates: 'Messages per second of each contender',
  cpu: 'CPU milliseconds per message of each contender, by process',
  latency: 'Median time to accept a request at half load, of each contender',
  memory: 'Memory of each process by the number of messages asleep',
  idle: 'Idle CPU of each process by the number of messages asleep',
  window: 'Submits per second after a window has opened, all and those with priority',
};

/**
 * The document of a run, in Markdown.
 * @param folder where charts and raw data are, relative to the document
 */
export function benchmarkDocument(results: Results, charts: Chart[], folder: string): string {
  const has = new Map(charts.map(({ name }) => [name, `![${ALT[name]}](${folder}/${name}.svg)`]));
  const chart = (name: Chart['name']): string => has.get(name) ?? '';
  return [
    heading(results.setting, folder),
    elsewhere(results),
    ...targets(results),
    ...compared(results, chart),
    ...accepting(results),
    ...growing(results, chart),
    rerun(),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function heading(setting: Setting, folder: string): string {
  const { machine, versions, options } = setting;
  const quick = setting.quick
    ? '\n\n> **A quick run**: it shows that everything works. Its numbers are too small and its machine was too busy for the figures to mean anything.'
    : '';
  const missing = setting.missing.map((what) => `\n\n> Not measured: ${what}`).join('');
  return `# Benchmarks

The service beside what one could use instead, and how it grows. Written by \`npm run bench\`; the figures of every round are in [${folder}/results.json](${folder}/results.json).${quick}${missing}

Measured ${setting.at} with \`${setting.command}\` on ${machine.cpus} × ${machine.model}, ${machine.memoryGb} GB, where everything runs: servers, processes, load, SMSC and receiver; load before the start ${machine.loadBefore.toFixed(2)}. ${setting.ownTemporal ? 'Temporal is the development server that `npm start` brings, its state in an SQLite file' : 'Temporal was there already'}. ${Object.entries(
    versions,
  )
    .map(([name, version]) => `${name} ${version}`)
    .join(
      ', ',
    )}. ${grouped(String(options.messages))} messages each, ${options.inFlight} requests open at once, rounds in turns: ${options.rounds}, of which the middle one counts.`;
}

/** Parts of other runs: what a run as a whole takes, few machines can be left alone for. */
function elsewhere({ elsewhere = {} }: Results): string {
  return Object.entries(elsewhere)
    .map(
      ([part, { at, command, loadBefore }]) =>
        `> Of another run: \`${part}\`, measured ${at} with \`${command}\`; load before its start ${loadBefore.toFixed(2)}.`,
    )
    .join('\n>\n');
}

function targets(results: Results): string[] {
  return [
    '## What was to be reached',
    'Ratios within one run each. What bounds them, by profile, is in `docs/throughput.md`.',
  ].concat(targetTable(results));
}

function compared(results: Results, chart: (name: Chart['name']) => string): string[] {
  if (results.compared === undefined) return [];
  return [
    '## Four ways',
    `One PostgreSQL and one Temporal server for all, the same provider (the service's SMPP client and an SMSC that reports each message at once), the same receiver. The life cycle: a request by HTTP, a charge in PostgreSQL, a submit, its answer stored, a signed webhook \`message.sent\`, the delivery report, a signed webhook \`message.delivered\`.

- **a workflow that does nothing** (a): started plainly, over nothing but its worker. What Temporal can do here at all.
- **plain pipeline** (b): the life cycle after Temporal's samples, \`bench/plain/\`: a plain start, one activity for each step, a signal for the report, every option as it is by default.
- **this product** (c): API and worker, a process each. It does more than the others: keys, scopes and rate limits, idempotency, routes, opt-outs, a ledger that cannot be overdrawn, parts submitted at most once, attempts at webhooks logged, texts and numbers kept out of Temporal's histories.
- **pg-boss** and **BullMQ** (d): the life cycle on job queues, \`bench/queues/\`: the message and its charge written in the request, a job for the submit and one for each webhook, up to 100 of a queue at once. With pg-boss the job is written in the same transaction; with BullMQ a crash between the two loses it.

(b) and (d) know one account and one key. To (d) would have to be added: an end of the wait for a report, cancelling, and a way to see what became of a message whose job is gone.`,
    chart('rates'),
    rateTable(results.compared),
    'Messages per second: from the first request to the last acknowledged webhook. At half load requests come by chance (Poisson) at half of that rate; their time counts from the planned instant. "Sent again": requests that were answered 502 or 504, which accepts nothing, and repeated.',
    '### Beside the job queues',
    'Messages per second of this product divided by theirs.',
    queueTable(results),
    '### What a message costs',
    chart('latency'),
    chart('cpu'),
    'CPU milliseconds of each process, until nothing was under way:',
    cpuTable(results.compared),
    "Histories of ten messages on average, of requests with several without their batch's own. SQL: statements with BEGIN and COMMIT, and milliseconds in PostgreSQL. Bytes: tables with indexes, write-ahead log, Temporal's file, Redis's files; each grows in steps.",
    costTable(results.compared),
  ];
}

function accepting({ accepting }: Results): string[] {
  if (accepting === undefined) return [];
  return [
    '## Accepting',
    'A request beside the least that an accepted request could cost: an update-with-start of a workflow that only answers. One after the other, and so many at once; messages accepted are sent and reported meanwhile.',
    acceptTable(accepting),
    'CPU milliseconds of each process for such a message, from its request to its end:',
    acceptCpuTable(accepting),
    batchTable(accepting),
  ];
}

function growing(results: Results, chart: (name: Chart['name']) => string): string[] {
  const { growth, window, flood } = results;
  return [
    ...(growth === undefined && window === undefined && flood === undefined ? [] : ['## How it grows']),
    ...(growth === undefined
      ? []
      : [
          '### Messages asleep',
          `Sent in requests of 500 for a time two months away, then looked at: ten idle seconds, then single messages at ten a second. Fresh processes of API and worker; Temporal and PostgreSQL had all the rest of this run behind them. PostgreSQL's memory counts pages in common once.${flatnessText(results)}`,
          chart('memory'),
          chart('idle'),
          growthTables(growth),
        ]),
    ...(window === undefined
      ? []
      : [
          '### A window opens',
          `${grouped(String(window.messages))} messages with the same send time, ${grouped(String(window.priority))} of them, sent last, with priority. ${figure(window.perSecond)} submits a second until the last one.${window.allAsleep ? '' : ' **Not all had their workflows by then**, so that lateness has the rest of their start in it.'}`,
          chart('window'),
          windowTable(window),
        ]),
    ...(flood === undefined
      ? []
      : [
          "### Another account's flood",
          `One account sends ${grouped(String(flood.flood))} messages in requests of 500, while another one sends ${flood.singles} single ones at three a second. When the last of those was submitted, ${grouped(String(flood.stillWaiting))} of the flood still waited.`,
          floodTable(flood),
        ]),
  ];
}

function flatnessText(results: Results): string {
  const found = flatness(results);
  return found === null
    ? ''
    : ` From the first to the last step the worker's memory grew by a factor of ${figure(found)}.`;
}

function rerun(): string {
  return `## How to run it

\`\`\`
npm run bench                              # all of it, an hour and a half; writes this document
npm run bench -- --quick                   # everything once, in small, into build/bench
npm run bench -- --only growth --asleep 1000,10000 --out docs --add    # a part anew, the others as they are
npm run bench -- --only compare --contenders ceiling,plain,product --rounds 5 --profile build/profiles
npm run bench -- --temporal 127.0.0.1:7233 --pid temporal1=123 --pid temporal2=124 --name cluster
\`\`\`

- \`--only\`: of \`compare\`, \`accept\`, \`window\`, \`flood\`, \`growth\`; \`--contenders\`: of \`ceiling\`, \`plain\`, \`product\`, \`product100\`, \`pgboss\`, \`bullmq\`.
- \`--messages\`, \`--in-flight\`, \`--rounds\`, \`--window\`, \`--flood\`, \`--asleep\`: how much of it.
- \`--profile <folder>\`: CPU profiles of the processes, written when they end.
- \`--add\`: leaves what an earlier run found of the parts that are not measured now. Each part is written as soon as it is there.
- \`--temporal\`: a server that is there already, namespace \`default\`; \`--pid name=number\` counts a process of it. Sleeping messages are left behind in it.
- \`--out <folder>\`, \`--name <name>\`: where results go (\`docs\`, or \`build/bench\` for a part or a quick run), and what their files are called.

Redis is the one on PATH (\`redis-server\` or \`valkey-server\`), or named in \`REDIS_SERVER_PATH\`, else fetched with Maven once for a machine; without one BullMQ is left out.`;
}
