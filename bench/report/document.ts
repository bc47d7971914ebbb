import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Ground } from '../ground.ts';
import type { Options } from '../options.ts';
import { acceptTable, apisTable, batchTable, compareTable, floodTable, type Results } from './tables.ts';
import { targetTable } from './targets.ts';

const PACKAGES = ['@temporalio/worker', 'postgres', 'koa'];
const LOAD_BEFORE = loadavg()[0]!;

/** Writes the document of a run, in Markdown. @param setting of {@link describeSetting} */
export async function writeDocument(setting: string, results: Results, { out }: Options): Promise<void> {
  const path = `${resolve(out)}.md`;
  const text = [setting, ...sections(results)].join('\n\n');
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

The service beside the least and the plainest that could be in its place. Written by [\`npm run bench\`](throughput.md#measuring).${
    options.quick
      ? '\n\n> **A quick run**: it shows that everything works. It is too small for its figures to mean anything.'
      : ''
  }

Measured ${new Date().toISOString()} with \`npm run bench${given === '' ? '' : ` -- ${given}`}\` on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, where everything runs; load before the start ${LOAD_BEFORE.toFixed(2)}. ${options.temporal === null ? 'Temporal is the development server of `npm start`, its state in an SQLite file' : 'Temporal was there already'}. ${Object.entries(
    versions,
  )
    .map(([name, version]) => `${name} ${version}`)
    .join(
      ', ',
    )}. ${options.messages.toLocaleString('en')} messages each, ${options.inFlight} requests open at once, rounds in turns: ${options.rounds}, the middle one counts.`;
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
    'Within one run each; (a), (b) and (c) are below. What bounds them: [throughput](throughput.md).',
    table,
  ];
}

function compared({ compare }: Results): string[] {
  if (compare === undefined) return [];
  return [
    '## Three ways',
    `One PostgreSQL and one Temporal server for all, the same SMSC and receiver. A life cycle: request, charge, submit, answer stored, signed webhook, delivery report, signed webhook.

- **a workflow that does nothing** (a): what Temporal can do here at all.
- **plain pipeline** (b), \`bench/plain/\`: after Temporal's samples, an activity for each step, a signal for the report.
- **this product** (c): with scopes, rate limits, idempotency, routes, opt-outs, a ledger, parts submitted at most once, webhook attempts logged, no texts or numbers in histories.

Messages per second from the first request to the last acknowledged webhook; SQL statements with BEGIN and COMMIT; CPU milliseconds of each process. All but the first are for one message.`,
    compareTable(compare),
  ];
}

function accepting({ accept }: Results): string[] {
  if (accept === undefined) return [];
  return [
    '## Accepting',
    '`POST /v1/messages` beside the least that it could cost through Temporal: a bare update-with-start of a workflow that only answers. Accepted messages are sent and reported meanwhile.',
    acceptTable(accept),
    batchTable(accept),
  ];
}

function flood({ flood }: Results): string[] {
  if (flood === undefined) return [];
  return [
    "## Another account's flood",
    `From request to submit, of ${flood.singles} single messages at three a second, while another account sends ${flood.flood.toLocaleString('en')} in requests of 500; ${flood.stillWaiting.toLocaleString('en')} of these still waited at the end.`,
    floodTable(flood),
  ];
}

function apis({ apis }: Results): string[] {
  if (apis === undefined) return [];
  return [
    '## API processes',
    'Single messages, 64 requests open at once over all API processes; one worker.',
    apisTable(apis),
  ];
}
