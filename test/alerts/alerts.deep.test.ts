import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alertRules } from '../telemetry/queries.ts';
import { evaluated, promtool, RULES } from './promtool.ts';
import { EXPECTATIONS } from './scenarios.ts';

let run: Awaited<ReturnType<typeof promtool>>;
let folder: string;

beforeAll(async () => {
  run = await promtool();
  folder = mkdtempSync(join(tmpdir(), 'goniec-alerts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function goodOf(ran: Promise<{ good: boolean; output: string }>): Promise<void> {
  const { good, output } = await ran;
  expect(good, output).toBe(true);
}

test('Prometheus takes the rules as they are', async () => {
  await goodOf(run(['check', 'rules', '--lint=all', '--lint-fatal', RULES]));
});

test('every alert is known here', () => {
  expect(Object.keys(EXPECTATIONS).sort()).toEqual(
    alertRules()
      .map(({ name }) => name)
      .sort(),
  );
});

describe.each(Object.entries(EXPECTATIONS))('%s', (alert, { fires, silent }) => {
  test.each(Object.entries(fires))('fires: %s', async (_, { firing, ...scenario }) => {
    await goodOf(evaluated(run, folder, { alert, scenario, firing: [firing] }));
  });

  test.each(Object.entries(silent))('stays silent: %s', async (_, scenario) => {
    await goodOf(evaluated(run, folder, { alert, scenario, firing: [] }));
  });
});
