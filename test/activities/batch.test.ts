import { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { batchActivities } from '../../activities/batch.ts';
import { newId } from '../../db/ids.ts';
import { createStartTurns, type StartTurns } from '../../pipeline/startTurns.ts';
import { HOUR, type Pipeline, startPipeline } from '../workflows/pipeline.ts';

const MESSAGES = 20;
// Those before it are started, most of those behind it wait for their turns when it fails.
const FAILING = 3;

let pipeline: Pipeline;
let connection: NativeConnection;
let working: Client;
beforeAll(async () => {
  pipeline = await startPipeline('real');
  // As a worker's: its starts may bring their first tasks along.
  connection = await NativeConnection.connect({ address: pipeline.address });
  working = new Client({ connection, namespace: pipeline.namespace });
});
afterAll(async () => {
  await connection?.close();
  await pipeline?.close();
});

/** Messages that are charged and have no workflow yet, each of a request of its own unless one is named. */
async function charged(requestId?: string): Promise<{ id: string; requestId: string }[]> {
  const account = await pipeline.account();
  const messages = [];
  for (let i = 0; i < MESSAGES; i += 1)
    messages.push(
      await pipeline.draft(account, {
        sendAt: Date.now() + HOUR,
        ...(requestId === undefined ? {} : { requestId }),
      }),
    );
  const ids = messages.map(({ id }) => id);
  await pipeline.sql`update messages set status = accepted_as where id = any(${ids})`;
  return messages;
}

/** The turns of a worker with that gap between starts, and what became of each that was asked for. */
function observedTurns(gap: { ms: () => number }): { turns: StartTurns; taken: Promise<unknown>[] } {
  const turns = createStartTurns(gap);
  const taken: Promise<unknown>[] = [];
  const take: StartTurns['take'] = (whose, signal) => {
    const taking = turns.take(whose, signal);
    taken.push(taking);
    return taking;
  };
  return { turns: { take }, taken };
}

/** A client that cannot start the workflow of one message, and what each start that was asked for came to. */
function failingAt(id: string): { client: Client; asked: Promise<unknown>[] } {
  const asked: Promise<unknown>[] = [];
  const { workflow } = working;
  const start = (...args: Parameters<typeof workflow.start>): Promise<unknown> => {
    const starting = args[1].workflowId === id ? Promise.reject(new Error('away')) : workflow.start(...args);
    asked.push(starting);
    return starting;
  };
  const failing = new Proxy(workflow, {
    get: (target, name) => (name === 'start' ? start : (Reflect.get(target, name) as unknown)),
  });
  const client = new Proxy(working, {
    get: (target, name) => (name === 'workflow' ? failing : (Reflect.get(target, name) as unknown)),
  });
  return { client, asked };
}

const fulfilled = (all: readonly PromiseSettledResult<unknown>[]): number =>
  all.filter(({ status }) => status === 'fulfilled').length;

type Steps = ReturnType<typeof batchActivities>;

test.each([
  ['a request of several', true, (steps: Steps, ids: string[]) => steps.startMessages(ids[0]!)],
  ['requests charged together', false, (steps: Steps, ids: string[]) => steps.startGathered(ids)],
])(
  'where one start of %s fails the others leave their turns, and come with the next attempt',
  async (_, shared, begin) => {
    const messages = await charged(shared ? newId('req') : undefined);
    const requestIds = messages.map(({ requestId }) => requestId);
    const gap = { ms: () => 100 };
    const { turns, taken } = observedTurns(gap);
    const attempt = (client: Client): Promise<number> =>
      new MockActivityEnvironment().run(() =>
        begin(batchActivities(pipeline.sql, client, turns), requestIds),
      );

    const { client, asked } = failingAt(messages[FAILING]!.id);
    await expect(attempt(client)).rejects.toThrow('away');
    // The queue is empty: nobody waits in it who would be let in later.
    const turnsTaken = await Promise.allSettled(taken);
    expect(turnsTaken).toHaveLength(MESSAGES);
    expect(fulfilled(turnsTaken)).toBe(asked.length);
    expect(asked.length).toBeLessThan(MESSAGES / 2);
    for (const one of turnsTaken)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ message: 'away' });

    const started = fulfilled(await Promise.allSettled(asked));
    expect(started).toBe(asked.length - 1);
    gap.ms = () => 0;
    expect(await attempt(working)).toBe(MESSAGES - started);
    expect(await attempt(working), 'a third one finds them all').toBe(0);
    for (const { id } of messages)
      expect((await pipeline.client.workflow.getHandle(id).describe()).type).toBe('message');
  },
);
