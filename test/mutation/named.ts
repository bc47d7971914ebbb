import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { execFileSync, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Change, changes } from './changes.ts';

const LEAST_CAUGHT = 0.9;

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { name: string; assertionResults: { status: string; fullName: string }[] }[];
}

/** What a run of tests came to. */
interface Run {
  green: boolean;
  /** The first test that failed; null where none did. */
  failed: string | null;
}

const NOTHING_RAN = 'no test was run: what they have in common names none, or their servers did not start';

/**
 * Makes named changes that a real fault could be in a copy of the project, one at a time, and runs the tests that should fail
 * for each. `npm run test:mutation -- named credit` takes those that have a word in their name or that of their tests.
 */
async function runNamed(words: readonly string[]): Promise<number> {
  const chosen = changes().filter(({ name, tests }) =>
    words.every((word) => [name, ...tests].some((text) => text.includes(word))),
  );
  if (chosen.length === 0) throw new Error('no change has these words');
  await expectApplicable(chosen);
  const folder = await copyOfProject();
  let caught = 0;
  const survived: string[] = [];
  try {
    await expectGreen(folder, chosen);
    for (const change of chosen) {
      const started = Date.now();
      const { green, failed } = await withChange(folder, change, () =>
        runTests(folder, change.tests, change.only),
      );
      const seconds = Math.round((Date.now() - started) / 1000);
      if (green) survived.push(change.name);
      else caught += 1;
      console.log(
        `${green ? 'SURVIVED' : 'caught'}  ${change.name} (${seconds} s)${green ? '' : `: ${failed ?? 'nothing could run'}`}`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const known = chosen.filter(({ name, survives }) => survives !== undefined && survived.includes(name));
  for (const { name, survives } of known) console.log(`known  ${name}: ${survives}`);
  console.log(`${caught} caught, ${survived.length} survived, of which ${known.length} are known`);
  return caught >= LEAST_CAUGHT * chosen.length && known.length === survived.length ? 0 : 1;
}

/** The files that git knows or would add, and the installed packages by a link. */
async function copyOfProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'goniec-mutation-'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of listed.split('\0').filter((name) => name !== '')) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(file, join(folder, file)).catch((error: NodeJS.ErrnoException) => {
      // Deleted, and not committed yet.
      if (error.code !== 'ENOENT') throw error;
    });
  }
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Tests that fail without any change would catch everything. */
async function expectGreen(folder: string, chosen: readonly Change[]): Promise<void> {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const only = chosen.flatMap((change) => change.only ?? []);
  const { green, failed } = await runTests(
    folder,
    files,
    only.length < chosen.length ? undefined : only.join('|'),
  );
  if (!green) throw new Error(`without any change: ${failed ?? 'the tests did not run'}`);
}

/** One that fits the code no longer is said before any test is run. */
async function expectApplicable(chosen: readonly Change[]): Promise<void> {
  for (const change of chosen) changed(await readFile(change.file, 'utf8'), change);
}

async function withChange<T>(folder: string, change: Change, work: () => Promise<T>): Promise<T> {
  const path = join(folder, change.file);
  const source = await readFile(path, 'utf8');
  await writeFile(path, changed(source, change));
  try {
    return await work();
  } finally {
    await writeFile(path, source);
  }
}

function changed(source: string, { name, file, from, to, at = 0 }: Change): string {
  const pieces = source.split(from);
  if (at === 0 ? pieces.length !== 2 : pieces.length <= at) {
    throw new Error(`${name}: ${file} has the text to change ${pieces.length - 1} times`);
  }
  const before = at === 0 ? 1 : at;
  return pieces.slice(0, before).join(from) + to + pieces.slice(before).join(from);
}

async function runTests(folder: string, files: readonly string[], only?: string): Promise<Run> {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const entry = join(folder, 'node_modules/vitest/vitest.mjs');
  const args = [entry, 'run', ...files, '--bail=1', '--reporter=json', `--outputFile.json=${report}`];
  if (only !== undefined) args.push('-t', only);
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' });
  const code = await new Promise<number>((resolve) => child.on('exit', (status) => resolve(status ?? 1)));
  const ran = await readFile(report, 'utf8')
    .then((text) => JSON.parse(text) as Report)
    .catch(() => null);
  // A change that keeps a file from being read, or a service from its start, is caught without a test.
  if (code === 0 && (ran === null || ran.numPassedTests + ran.numFailedTests === 0))
    throw new Error(NOTHING_RAN);
  return { green: code === 0, failed: ran === null ? null : firstFailed(ran) };
}

function firstFailed({ testResults }: Report): string | null {
  for (const { assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed) return failed.fullName;
  }
  return null;
}

process.exitCode = await runNamed(process.argv.slice(2));
