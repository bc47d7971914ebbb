import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCLI } from 'vitest/node';
import { type Share, SHARE_VARIABLE } from './beside.ts';
import { REPORT_VARIABLE, type RunReport } from './countingReporter.ts';

const REPORTER = fileURLToPath(new URL('countingReporter.ts', import.meta.url));

/**
 * Runs vitest with the arguments given, and ends with a line of the true counts, as 'N passed, N failed' and ', N skipped' where some were.
 * @returns the exit code: 0 only where something ran, and all that was asked for
 */
export async function runTests(args: string[]): Promise<number> {
  const { code, report } = await vitest(args, 'inherit');
  return close(code, withNothingThatPasses(withNamesThatMatchNothing(report, args)));
}

/** All tests, in processes beside each other as far as they can be; ends as {@link runTests} does. */
export async function runWhole(): Promise<number> {
  const [most, apart] = await Promise.all([share('most', 'inherit'), share('apart', 'pipe')]);
  console.log(apart.output);
  const quiet = await share('quiet', 'inherit');
  const outcomes = [most, apart, quiet];
  const code = Math.max(...outcomes.map((outcome) => outcome.code));
  return close(code, withNothingThatPasses(sumOf(outcomes.map(({ report }) => report))));
}

function share(name: Share, output: 'inherit' | 'pipe'): Promise<Outcome> {
  return vitest([], output, { [SHARE_VARIABLE]: name });
}

function close(code: number, report: RunReport): number {
  for (const line of linesOf(report)) console.log(line);
  return code === 0 && report.failed > 0 ? 1 : code;
}

function sumOf(reports: readonly RunReport[]): RunReport {
  const sum = (of: (report: RunReport) => number): number => reports.reduce((all, one) => all + of(one), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    broken: reports.flatMap(({ broken }) => broken),
    failures: reports.flatMap(({ failures }) => failures),
    files: reports.flatMap(({ files }) => files),
    runAgain: reports.flatMap(({ runAgain }) => runAgain),
  };
}

async function readReport(path: string, code: number): Promise<RunReport> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as RunReport;
  } catch {
    const broken = [`vitest ended with code ${code} before it had run anything to its end`];
    return { passed: 0, failed: 1, skipped: 0, broken, failures: [], files: [], runAgain: [] };
  }
}

/** A name of a file that is none would pass unnoticed beside others that are. */
function withNamesThatMatchNothing(report: RunReport, args: string[]): RunReport {
  if (report.files.length === 0) return report;
  const { filter } = parseCLI(['vitest', 'run', ...args], { allowUnknownOptions: true });
  const unmatched = filter.filter((name) => !report.files.some((file) => file.includes(fileOf(name))));
  return {
    ...report,
    failed: report.failed + unmatched.length,
    broken: [...report.broken, ...unmatched.map((name) => `no test file matches ${name}`)],
  };
}

function withNothingThatPasses(report: RunReport): RunReport {
  if (report.passed + report.failed > 0) return report;
  return { ...report, failed: 1, broken: [...report.broken, 'no test ran at all'] };
}

// As vitest takes them: part of a path, perhaps with a line number.
const fileOf = (name: string): string => name.replace(/^\.\//, '').replace(/:\d+$/, '');

function linesOf({ passed, failed, skipped, broken, failures, runAgain }: RunReport): string[] {
  return [
    ...failures.map(({ test, cause }) => `Failed: ${test}: ${cause}`),
    ...broken.map((what) => `Broken: ${what}`),
    ...(runAgain.length === 0 ? [] : [`${runAgain.length} scenarios were run again:`]),
    ...runAgain.map(({ test, causes }) => `  ${test}: ${causes.join('; ')}`),
    `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`,
  ];
}

interface Outcome {
  code: number;
  report: RunReport;
  /** What it wrote, where that was not passed on. */
  output: string;
}

async function vitest(
  args: readonly string[],
  output: 'inherit' | 'pipe',
  env: Record<string, string> = {},
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'goniec-report-'));
  try {
    const path = join(folder, 'report.json');
    const line = ['run', ...args, '--reporter=default', `--reporter=${REPORTER}`];
    const ended = await runVitest(line, output, { ...env, [REPORT_VARIABLE]: path });
    return { ...ended, report: await readReport(path, ended.code) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runVitest(
  line: string[],
  output: 'inherit' | 'pipe',
  env: Record<string, string>,
): Promise<Pick<Outcome, 'code' | 'output'>> {
  const entry = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const child = spawn(process.execPath, [entry, ...line], {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
  });
  const pieces: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (piece: Buffer) => pieces.push(piece));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) =>
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(pieces).toString() })),
  );
}
