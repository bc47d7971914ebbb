import { setMaxListeners } from 'node:events';
import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { acceptedMessagesAfter, acceptedMessagesOf } from '../db/messages/startable.ts';
import type { StartableMessage } from '../domain/startable.ts';
import { startOnce } from '../workflows/startOnce.ts';
import { messageStart } from '../workflows/startOptions.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { StartTurns } from '../pipeline/startTurns.ts';

// So many of a request wait for their turns at once.
const PAGE = 20;

/** Starting the workflows of messages that were charged together. */
export function batchActivities(sql: Database, client: Client, turns: StartTurns) {
  /** In turn; true unless it was started before. */
  async function startInTurn(message: StartableMessage, signal: AbortSignal): Promise<boolean> {
    const end = await turns.take(message, signal);
    let broughtTask: boolean | null = null;
    try {
      broughtTask = await startMessage(client, message);
      return broughtTask !== null;
    } finally {
      end(broughtTask);
    }
  }

  /** Where one cannot be started the others leave their turns: all come again with the next attempt. @returns how many were started */
  async function startEach(messages: readonly StartableMessage[], signal: AbortSignal): Promise<number> {
    const failed = new AbortController();
    const over = AbortSignal.any([signal, failed.signal]);
    // Each that waits for its turn listens for the end of this.
    setMaxListeners(messages.length, over);
    try {
      const results = await Promise.all(messages.map((message) => startInTurn(message, over)));
      return results.filter(Boolean).length;
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  }

  return {
    /**
     * Starts the `message` workflow of every accepted message of the request that has none, in the order of their
     * ids. The heartbeat carries the last id up to which all have theirs, so that a later attempt goes on from there.
     * @returns how many were started by this attempt
     */
    async startMessages(requestId: string): Promise<number> {
      const context = Context.current();
      const signal = context.cancellationSignal;
      let after = (context.info.heartbeatDetails as string | undefined) ?? '';
      const startAll = async (): Promise<number> => {
        let started = 0;
        for (;;) {
          const page = await acceptedMessagesAfter(sql, requestId, after, PAGE);
          const last = page.at(-1);
          if (!last) return started;
          started += await startEach(page, signal);
          after = last.id;
          context.heartbeat(after);
        }
      };
      return await withHeartbeat(startAll, () => after);
    },

    /** Starts those of requests of one message each. @returns how many were started by this attempt */
    async startGathered(requestIds: readonly string[]): Promise<number> {
      const signal = Context.current().cancellationSignal;
      return await withHeartbeat(async () => {
        const messages = await acceptedMessagesOf(sql, requestIds);
        let started = 0;
        for (let at = 0; at < messages.length; at += PAGE)
          started += await startEach(messages.slice(at, at + PAGE), signal);
        return started;
      });
    },
  };
}

/** @returns whether its first task came along, which is where this worker has a place for it; null: it was there before */
async function startMessage(client: Client, message: StartableMessage): Promise<boolean | null> {
  const starting = client.workflow.start('message', {
    ...messageStart(message, true),
    workflowIdConflictPolicy: 'FAIL',
    requestEagerStart: true,
  });
  // A cancel that came before us may have started it, or an earlier attempt of ours.
  const started = await startOnce(starting);
  return started === null ? null : started.eagerlyStarted;
}
