import { readdir, readFile } from 'node:fs/promises';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
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

/** What each history came to, by its workflow's id: all by one worker, since a worker takes longer to start than one of them. */
async function replayAll(callStacks: boolean): Promise<Map<string, unknown>> {
  const workflowBundle = await bundleWorkflows(callStacks);
  const given = histories.map(({ history, workflowId }) => ({
    workflowId,
    history: historyFromJSON(history),
  }));
  const found = new Map<string, unknown>();
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, given)) {
    found.set(workflowId, error ?? null);
  }
  return found;
}

let plain: Map<string, unknown>;
let withoutCallStacks: Map<string, unknown>;
beforeAll(async () => {
  plain = await replayAll(true);
  withoutCallStacks = await replayAll(false);
});

describe('histories recorded since 0.7.0 replay', () => {
  test.each(histories)('$file', ({ workflowId }) => {
    expect(plain.get(workflowId)).toBeNull();
  });
});

describe('and with call stacks switched off since', () => {
  test.each(histories)('$file', ({ workflowId }) => {
    expect(withoutCallStacks.get(workflowId)).toBeNull();
  });
});

test('no two of them share an id', () => {
  expect(plain.size).toBe(histories.length);
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
    for (const personal of ['48500100', 'Dzień dobry', 'TEST', 'whsec_', 'klient.example', 'Temat']) {
      expect(readable.includes(personal), `${file} holds ${personal}`).toBe(false);
    }
  }
});
