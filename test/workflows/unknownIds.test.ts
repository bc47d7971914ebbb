import { WorkflowFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';

let pipeline: Pipeline;
let known: { accountId: string; messageId: string; requestId: string };
beforeAll(async () => {
  pipeline = await startPipeline('real');
  const accountId = await pipeline.account();
  const message = await pipeline.message(accountId);
  known = { accountId, messageId: message.id, requestId: message.requestId };
});
afterAll(() => pipeline.close());

/** How a workflow of this id ends that somebody has started by hand, in one line. */
async function endOf(type: string, workflowId: string, args: unknown[]): Promise<string> {
  const handle = await pipeline.client.workflow.start(type, { workflowId, taskQueue: MESSAGES_QUEUE, args });
  return await handle.result().then(
    (result) => `completed ${JSON.stringify(result)}`,
    (error: unknown) => (error instanceof WorkflowFailedError ? `failed ${causeOf(error)}` : String(error)),
  );
}

function causeOf(error: Error): string {
  let last: unknown = error;
  while (last instanceof Error && last.cause !== undefined) last = last.cause;
  return last instanceof Error && 'type' in last ? String(last.type) : String(last);
}

const messageInput = (sendAt: number | null = null) => ({
  ...{ accountId: known.accountId, requestId: newId('req'), route: 'simulator', sendAt },
  ...{ giveUpAt: Date.now() + 3_600_000, priority: false },
});

/** Each workflow that loads something by its id, started by hand, and how it ends where there is no such thing. */
const WORKFLOWS: Record<
  string,
  { prefix: Parameters<typeof newId>[0]; args: (id: string) => unknown[]; end: string }
> = {
  inbound: { prefix: 'in', args: () => [], end: 'failed UnknownReply' },
  notify: { prefix: 'evt', args: () => [], end: 'completed {"events":0}' },
  resend: { prefix: 'evt', args: () => [], end: 'completed undefined' },
  message: { prefix: 'msg', args: () => [messageInput()], end: 'failed UnknownMessage' },
  'message, scheduled': {
    ...{ prefix: 'msg', args: () => [messageInput(Date.now() + 500)], end: 'failed UnknownMessage' },
  },
  lookup: {
    prefix: 'hlr',
    args: () => [{ route: 'simulator' }],
    end: 'completed {"state":"failed","reason":"abandoned"}',
  },
};

describe.each(Object.entries(WORKFLOWS))('%s, started with an id', (name, { prefix, args, end }) => {
  const type = name.split(',')[0]!;

  it('that there is nothing of, ends and says so', async () => {
    const id = newId(prefix);
    expect(await endOf(type, id, args(id))).toBe(end);
  });

  it('of another kind, ends and touches nothing', async () => {
    const id = prefix === 'msg' ? newId('req') : known.messageId;
    expect(await endOf(type, id, args(id))).toBe(end);
    const [row] = await pipeline.sql`select status from messages where id = ${known.messageId}`;
    expect(row).toEqual({ status: 'queued' });
  });
});

it('resend, started with a round that nobody asked for, and with none, ends', async () => {
  const [event] = await pipeline.sql<{ id: string }[]>`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    values (${newId('evt')}, ${known.accountId}, 'message', ${known.messageId}, 'message.sent', '{}') returning id`;
  for (const round of [1, 99, -1])
    expect(await endOf('resend', `${event!.id}-${round}`, [])).toBe('completed undefined');
  expect(await pipeline.sql`select state from webhook_events where id = ${event!.id}`).toEqual([
    { state: 'pending' },
  ]);
});
