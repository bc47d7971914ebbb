import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import type { Client } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { postgresVersion } from './database.ts';
import type { Options } from './options.ts';
import type { Setting } from './results.ts';

const PACKAGES = ['@temporalio/worker', 'postgres', 'pg-boss', 'bullmq', 'koa'];

/** Machine, versions and sizes of this run. */
export async function readSetting(
  options: Options,
  client: Client,
  sql: Database,
  missing: string[],
  loadBefore: number,
): Promise<Setting> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  const { messages, inFlight, rounds } = options;
  return {
    at: new Date().toISOString(),
    quick: options.quick,
    command: ['npm run bench', ...argumentsText(process.argv.slice(2))].join(' -- '),
    machine: {
      cpus: cpus().length,
      model: cpus()[0]?.model.trim() ?? 'unknown',
      memoryGb: Math.round(totalmem() / 2 ** 30),
      loadBefore,
    },
    versions: {
      Node: process.versions.node,
      'Temporal server': serverVersion ?? 'unknown',
      PostgreSQL: await postgresVersion(sql),
      ...Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
    },
    options: { messages, inFlight, rounds },
    ownTemporal: options.temporal === null,
    missing,
  };
}

function argumentsText(given: string[]): string[] {
  return given.length === 0 ? [] : [given.join(' ')];
}

// Not by `require`: some packages do not export theirs.
function versionOf(name: string): string {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** The machine's load before anything is started. */
export const loadNow = (): number => loadavg()[0]!;
