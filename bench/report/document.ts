import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Ground } from '../ground.ts';
import type { Options } from '../options.ts';
import {
  acceptCpuTable,
  acceptTable,
  apisTable,
  batchTable,
  cpuTable,
  floodTable,
  rateTable,
  type Results,
} from './tables.ts';
import { targetTable } from './targets.ts';

const PACKAGES = ['@temporalio/worker', 'postgres', 'koa'];
const LOAD_BEFORE = loadavg()[0]!;

/** Writes the document of a run, in Markdown. @param setting of {@link describeSetting} */
export async function writeDocument(setting: string, results: Results, { out }: Options): Promise<void> {
  const path = `${resolve(out)}.md`;
  const text = [setting, ...sections(results), RERUN].join('\n\n');
  const config = await resolveConfig(import.meta.filename);
  mkdirSync(dirname(path), { recursive: true });
  // As everything in the project is formatted.
  writeFileSync(path, await format(text, { ...config, filepath: path }));
  console.error(`written: ${path}`);
}

/** What was found: words and tables. */
export function sections(results: Results): string[] {
  return [targets, compared, accepting, flood, apis].flatMap((section) => section(results));
}

/** Machine, versions and sizes of this run. */
export async function describeSetting(options: Options, { client, sql }: Ground): Promise<string> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  const [postgres] = await sql<{ version: string }[]>`select current_setting('server_version') as version`;
  const versions = {
    ...{ Node: process.versions.node, 'Temporal server': serverVersion, PostgreSQL: postgres!.version },
    ...Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
  };
  const given = process.argv.slice(2).join(' ');
  return `# Benchmarks

The service beside the least and the plainest that could be in its place. Written by \`npm run bench\`.${
    options.quick
      ? '\n\n> **A quick run**: it shows that everything works. It is too small for its figures to mean anything.'
      : ''
  }

Measured ${new Date().toISOString()} with \`npm run bench${given === '' ? '' : ` -- ${given}`}\` on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, where everything runs: servers, processes, load, SMSC and receiver; load before the start ${LOAD_BEFORE.toFixed(2)}. ${options.temporal === null ? 'Temporal is the development server that `npm start` brings, its state in an SQLite file' : 'Temporal was there already'}. ${Object.entries(
    versions,
  )
    .map(([name, version]) => `${name} ${version}`)
    .join(
      ', ',
    )}. ${options.messages.toLocaleString('en')} messages each, ${options.inFlight} requests open at once unless it says otherwise, rounds in turns: ${options.rounds}, of which the middle one counts.`;
}

// Not by `require`: some packages do not export theirs.
function versionOf(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function targets(results: Results): string[] {
  const table = targetTable(results);
  if (table === null) return [];
  return [
    '## What was to be reached',
    'Within one run each; (a), (b) and (c) are below. What bounds them is in [throughput](throughput.md).',
    table,
  ];
}

function compared({ compare }: Results): string[] {
  if (compare === undefined) return [];
  return [
    '## Three ways',
    `One PostgreSQL and one Temporal server for all, the same provider (the service's SMPP client and an SMSC that reports each message at once), the same receiver. The life cycle: a request by HTTP, a charge in PostgreSQL, a submit, its answer stored, a signed webhook \`message.sent\`, the delivery report, a signed webhook \`message.delivered\`.

- **a workflow that does nothing** (a): started plainly, over nothing but its worker. What Temporal can do here at all.
- **plain pipeline** (b): the life cycle after Temporal's samples, \`bench/plain/\`: a plain start, one activity for each step, a signal for the report, one account and one key, every option as it is by default.
- **this product** (c): API and worker, a process each. It does more: keys, scopes and rate limits, idempotency, routes, opt-outs, a ledger that cannot be overdrawn, parts submitted at most once, attempts at webhooks logged, texts and numbers kept out of Temporal's histories.

Messages per second: from the first request to the last acknowledged webhook. Histories of ten messages on average. Statements with BEGIN and COMMIT.`,
    rateTable(compare),
    'CPU milliseconds of each process for a message, until nothing was under way:',
    cpuTable(compare),
  ];
}

function accepting({ accept }: Results): string[] {
  if (accept === undefined) return [];
  return [
    '## Accepting',
    'A request beside the least that it could cost to accept through Temporal: an update-with-start of a workflow that only answers. One after the other, and so many at once; messages accepted are sent and reported meanwhile.',
    acceptTable(accept),
    'CPU milliseconds of each process for such a message, from its request to its end:',
    acceptCpuTable(accept),
    batchTable(accept),
  ];
}

function flood({ flood }: Results): string[] {
  if (flood === undefined) return [];
  return [
    "## Another account's flood",
    `One account sends ${flood.flood.toLocaleString('en')} messages in requests of 500, while another one sends ${flood.singles} single ones at three a second. When the last of those was submitted, ${flood.stillWaiting.toLocaleString('en')} of the flood still waited.`,
    floodTable(flood),
  ];
}

function apis({ apis }: Results): string[] {
  if (apis === undefined) return [];
  return [
    '## API processes',
    'Single messages, 64 requests open at once over all API processes; behind them one worker, on the same machine.',
    apisTable(apis),
  ];
}

const RERUN = `## How to run it

\`\`\`
npm run bench                              # all of it; writes this document
npm run bench -- --quick                   # everything once, in small, into build/bench
npm run bench -- --only compare --contenders ceiling,plain,product --rounds 5 --profile build/profiles
npm run bench -- --temporal 127.0.0.1:7233 --pid temporal-1=123 --pid temporal-2=124 --name cluster
\`\`\`

- \`--only\`: of \`compare\`, \`accept\`, \`flood\`, \`apis\`; \`--contenders\`: of \`ceiling\`, \`plain\`, \`product\`, \`product100\` (requests of 100).
- \`--messages\`, \`--rounds\`: how much of it; \`accept\` takes a fifth of the messages. \`--in-flight\`: requests open at once in \`compare\`. \`--flood\`: messages of the flood.
- \`--profile <folder>\`: CPU profiles of the processes, written when they end.
- \`--temporal\`: a server that is there already, namespace \`default\`; \`--pid name=number\` counts a process of it, one called \`…postgres\` with its children.
- \`--out <folder>\`, \`--name <name>\`: \`docs\`, or \`build/bench\` for a part or a quick run; \`benchmarks.md\`, or \`benchmarks-<name>.md\`. Each part is written as soon as it is there.
`;
