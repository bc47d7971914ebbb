import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TEMPLATE_VARIABLE } from '../support/databaseTemplate.ts';
import type { Change } from './changes.ts';

/** What a run of tests came to. */
export interface Run {
  green: boolean;
  /** The first test that failed, or that none was run; null where neither is so. */
  failed: string | null;
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { name: string; assertionResults: { status: string; fullName: string }[] }[];
}

const NOTHING_RAN = 'no test was run: what they have in common names none, or their servers did not start';
// A change may have code go round for ever, where no test's own limit can end it.
const PATIENCE_MS = 15 * 60_000;

/** A copy of the project in which tests run, with a change or without. */
export interface Lane {
  run(tests: Pick<Change, 'tests' | 'only'>): Promise<Run>;
  runWith(change: Change): Promise<Run>;
}

/**
 * Makes a copy of the project in a new folder below `parent`: the files that git knows or would add, what was built, and the
 * installed packages by a link.
 * @param template of the database, which changes of migrations do without
 */
export async function openLane(parent: string, template: string): Promise<Lane> {
  const folder = await mkdtemp(join(parent, 'lane-'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  // What is deleted, and not committed yet, is listed too.
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(name))) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(file, join(folder, file));
  }
  await cp('build', join(folder, 'build'), { recursive: true });
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  const env = { ...process.env, [TEMPLATE_VARIABLE]: template };
  return {
    run: (tests) => runTests(folder, tests, env),
    async runWith(change) {
      const path = join(folder, change.file);
      const source = await readFile(path, 'utf8');
      await writeFile(path, changed(source, change));
      try {
        const ownTables = change.file.startsWith('db/migrations/');
        return await runTests(folder, change, ownTables ? { ...env, [TEMPLATE_VARIABLE]: undefined } : env);
      } finally {
        await writeFile(path, source);
      }
    },
  };
}

/**
 * The source with the change made.
 * @throws Error where it has not what is to be changed
 */
export function changed(source: string, { name, file, from, to, at = 0 }: Change): string {
  const pieces = source.split(from);
  if (at === 0 ? pieces.length !== 2 : pieces.length <= at) {
    throw new Error(`${name}: ${file} has the text to change ${pieces.length - 1} times`);
  }
  const before = at === 0 ? 1 : at;
  return pieces.slice(0, before).join(from) + to + pieces.slice(before).join(from);
}

async function runTests(
  folder: string,
  { tests, only }: Pick<Change, 'tests' | 'only'>,
  env: NodeJS.ProcessEnv,
): Promise<Run> {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const entry = join(folder, 'node_modules/vitest/vitest.mjs');
  const args = [
    entry,
    'run',
    ...tests,
    '--bail=1',
    '--maxWorkers=1',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ];
  if (only !== undefined) args.push('-t', only);
  const { code, late } = await vitest(folder, args, env);
  if (late) return { green: false, failed: `did not end within ${PATIENCE_MS / 60_000} minutes` };
  const ran = await readFile(report, 'utf8')
    .then((text) => JSON.parse(text) as Report)
    .catch(() => null);
  // A change that keeps a file from being read, or a service from its start, is caught without a test.
  if (code === 0 && (ran === null || ran.numPassedTests + ran.numFailedTests === 0))
    return { green: true, failed: NOTHING_RAN };
  return { green: code === 0, failed: ran === null ? null : firstFailed(ran) };
}

/** In a group of processes of its own, which ends whole where it does not end by itself. */
async function vitest(
  cwd: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; late: boolean }> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore', detached: true });
  let late = false;
  const patience = setTimeout(() => {
    late = true;
    process.kill(-child.pid!, 'SIGKILL');
  }, PATIENCE_MS);
  const code = await new Promise<number>((resolve) => child.on('exit', (status) => resolve(status ?? 1)));
  clearTimeout(patience);
  return { code, late };
}

function firstFailed({ testResults }: Report): string | null {
  for (const { assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed) return failed.fullName;
  }
  return null;
}
