import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const UNDISTURBED = join(ROOT, 'test/support/undisturbed.ts');
const IMPORTS = `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { afterAll, beforeAll, describe, expect, test } from 'vitest';
  import { Disturbed, undisturbed } from ${JSON.stringify(UNDISTURBED)};
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const block = (ms) => { for (const end = Date.now() + ms; Date.now() < end; ) Math.sqrt(end); };
  const stop = async (ms) => {
    const command = \`kill -STOP \${process.pid}; sleep \${ms / 1000}; kill -CONT \${process.pid}\`;
    await once(spawn('/bin/sh', ['-c', command]), 'exit');
  };
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'goniec-run-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Outcome {
  code: number;
  /** All lines of the output, without colours. */
  lines: string[];
}

vi.setConfig({ testTimeout: 180_000 });

let runs = 0;

/** Runs `test/run.ts` on a suite of these files, each of them with {@link IMPORTS}. */
async function run(files: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const suite = join(folder, String((runs += 1)));
  await mkdir(suite);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(suite, name), name.endsWith('.test.ts') ? IMPORTS + text : text);
  }
  return await new Promise((resolve) => {
    const command = ['--import', 'tsx', 'test/run.ts', '--root', suite, ...args];
    // What this run's own vitest tells its tests is not for another one.
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, CI: 'true', NO_COLOR: '1' };
    execFile(process.execPath, command, { cwd: ROOT, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), lines: (stdout + stderr).split('\n') });
    });
  });
}

/** The counts that a run ended with. */
const closing = ({ lines }: Outcome): string | undefined =>
  lines.filter((line) => /^\d+ passed, \d+ failed(, \d+ skipped)?$/.test(line)).at(-1);

describe('the closing line and the exit code of a run', () => {
  test('tell what passed, and what was told not to run', async () => {
    const outcome = await run({ 'one.test.ts': `test('a', () => {}); test.skip('b', () => {});` });
    expect([closing(outcome), outcome.code]).toEqual(['1 passed, 0 failed, 1 skipped', 0]);
    expect(outcome.lines.filter((line) => /again|Broken/.test(line))).toEqual([]);
  });

  test('tell what never ran, and what broke without being a test', async () => {
    const outcome = await run({
      'server.test.ts': `
        test('a', () => {});
        describe('b', () => {
          beforeAll(() => { throw new Error('no server'); });
          test('c', () => {});
          describe('d', () => { test('e', () => {}); test('f', () => {}); });
        });`,
      'fails.test.ts': `test('a', () => {}); test('b', () => expect(1).toBe(2));`,
      'end.test.ts': `afterAll(() => { throw new Error('no end'); }); test('a', () => {});`,
      'load.test.ts': `test('a', () => {}); throw new Error('no');`,
      'empty.test.ts': '',
      'late.test.ts': `test('a', () => { setTimeout(() => { throw new Error('late'); }); }); test('b', () => wait(100));`,
    });
    expect([closing(outcome), outcome.code]).toEqual(['5 passed, 8 failed', 1]);
    const broken = outcome.lines
      .filter((line) => line.startsWith('Broken: '))
      .map((line) => line.replace(/\S*\//, ''));
    expect(broken.sort()).toEqual([
      'Broken: empty.test.ts broke',
      'Broken: end.test.ts broke',
      'Broken: load.test.ts broke',
      'Broken: unhandled error: late',
    ]);
    const failures = outcome.lines
      .filter((line) => line.startsWith('Failed: '))
      .map((line) => line.replace(/\S*\//, ''));
    expect(failures.sort()).toEqual([
      'Failed: fails.test.ts > b: expected 1 to be 2 // Object.is equality',
      ...['c', 'd > e', 'd > f'].map((name) => `Failed: server.test.ts > b > ${name}: it never ran`),
    ]);
  });

  test('tell of a process that died with its tests', async () => {
    const dies = `test('a', () => {}); test('b', () => process.kill(process.pid, 'SIGKILL')); test('c', () => {});`;
    const outcome = await run({ 'dies.test.ts': dies, 'lives.test.ts': `test('d', () => {});` });
    expect(closing(outcome)).toMatch(/^[12] passed, [2-4] failed$/);
    expect(outcome.code).toBe(1);
  });

  test('tell of a whole project whose service did not start', async () => {
    const outcome = await run({
      'vitest.config.ts': `export default { test: { globalSetup: ['setup.ts'] } };`,
      'setup.ts': `export default () => { throw new Error('the service did not start'); };`,
      'one.test.ts': `test('a', () => {});`,
      'two.test.ts': `test('b', () => {});`,
    });
    expect([closing(outcome), outcome.code]).toEqual(['0 passed, 2 failed', 1]);
    expect(outcome.lines.join('\n')).toContain('the service did not start');
  });

  test('tell of names that match nothing', async () => {
    const files = { 'one.test.ts': `test('a', () => {});` };
    const both = await run(files, 'one.test.ts', 'other.test.ts');
    expect([closing(both), both.code]).toEqual(['1 passed, 1 failed', 1]);
    const none = await run(files, 'other.test.ts');
    expect([closing(none), none.code]).toEqual(['0 passed, 1 failed', 1]);
    const filtered = await run(files, '-t', 'b');
    expect([closing(filtered), filtered.code]).toEqual(['0 passed, 1 failed, 1 skipped', 1]);
  });
});

const SCENARIOS = `
  let stopped = 0, blocked = 0, quiet = 0, seen = 0, probed = 0, busy = 0;
  test('stopped', undisturbed(async () => { await wait(200); if (stopped++ === 0) await stop(800); expect(stopped).toBe(2); }));
  test('blocked', undisturbed(async () => { await wait(200); blocked++; block(1500); expect(blocked).toBe(2); }));
  test('quiet', undisturbed(async () => { quiet++; await wait(700); expect(quiet).toBe(2); }));
  test('seen', undisturbed(() => { if (seen++ < 2) throw new Disturbed('the server took it away'); }));
  const slow = [{ server: 'the server', ask: () => wait(900) }];
  test('probed', undisturbed(async () => { probed++; await wait(700); expect(probed).toBe(2); }, () => slow));
  const quick = [{ server: 'the server', ask: () => wait(10) }];
  test('busy', undisturbed(async () => { busy++; await wait(50); block(1500); await wait(50); expect(busy).toBe(2); }, () => quick));
  const computing = [{ server: 'the server', pid: process.pid, ask: async () => { for (let i = 0; i < 15; i++) { block(100); await wait(1); } } }];
  test('its own', undisturbed(async () => { await wait(1300); expect(1).toBe(2); }, () => computing));
  test('always', undisturbed(async () => { await wait(100); await stop(800); expect(1).toBe(2); }));
`;

test('a scenario is run again, and that is told, only where something stood still that was not computing', async () => {
  const outcome = await run({ 'one.test.ts': SCENARIOS });
  const again = outcome.lines.indexOf('4 scenarios were run again:');
  expect(outcome.lines.slice(again + 1, again + 6)).toEqual([
    expect.stringMatching(/^ {2}stopped: this process stood still for \d+ ms$/),
    '  seen: the server took it away; the server took it away',
    expect.stringMatching(/^ {2}probed: the server stood still for \d+ ms$/),
    expect.stringMatching(
      /^ {2}always: this process stood still for \d+ ms; this process stood still for \d+ ms$/,
    ),
    '3 passed, 5 failed',
  ]);
  expect(outcome.lines).toContainEqual(
    expect.stringMatching(
      /^Run again: stopped: this process stood still for \d+ ms; it had failed with: expected 1 to be 2/,
    ),
  );
});
