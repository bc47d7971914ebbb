import { readdir, readFile } from 'node:fs/promises';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundleWorkflows } from '../../worker/bundle.ts';
import * as workflows from '../../workflows/index.ts';

const FOLDER = new URL('./histories/', import.meta.url);
const files = (await readdir(FOLDER, { recursive: true })).filter((file) => file.endsWith('.json')).sort();
const histories = await Promise.all(
  files.map(async (file) => {
    const text = await readFile(new URL(file, FOLDER), 'utf8');
    return { file, text, ...(JSON.parse(text) as { workflowId: string; history: unknown }) };
  }),
);

let bundle: WorkflowBundleOption;
let withExtras: WorkflowBundleOption;
beforeAll(async () => {
  bundle = await bundleWorkflows();
  withExtras = await bundleWorkflows({ traced: true, callStacks: true });
}, 60_000);

describe('histories recorded by this and earlier releases replay', () => {
  test.each(histories)('$file', async ({ history, workflowId }) => {
    await Worker.runReplayHistory({ workflowBundle: bundle }, historyFromJSON(history), workflowId);
  });
});

describe('and with traces and call stacks switched on since', () => {
  test.each(histories)('$file', async ({ history, workflowId }) => {
    await Worker.runReplayHistory({ workflowBundle: withExtras }, historyFromJSON(history), workflowId);
  });
});

test('every workflow has a recorded history', () => {
  const recorded = new Set(
    histories.map(({ text }) => /"workflowType":\s*\{\s*"name":\s*"(\w+)"/.exec(text)?.[1]),
  );
  expect([...recorded].sort()).toEqual(Object.keys(workflows).sort());
});

test('histories hold no phone number, text, sender or secret', () => {
  for (const { text, file } of histories) {
    const payloads = [...text.matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g)].map((match) =>
      Buffer.from(match[1]!, 'base64').toString('utf8'),
    );
    const readable = [text, ...payloads].join('\n');
    for (const personal of ['48500100', 'Dzień dobry', 'TEST', 'whsec_']) {
      expect(readable.includes(personal), `${file} holds ${personal}`).toBe(false);
    }
  }
});
