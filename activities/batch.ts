import { Context } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { acceptedMessagesAfter } from '../db/messages/startable.ts';
import type { StartableMessage } from '../domain/startable.ts';
import { messageStart } from '../workflows/startOptions.ts';

const PAGE = 100;
// Starting more at once would only make single messages wait behind them.
const STARTS_AT_ONCE = 10;

/** Starting the workflows of a request with several recipients. */
export function batchActivities(sql: Database, client: Client) {
  return {
    /**
     * Starts the `message` workflow of every accepted message of the request that has none, in the order of their
     * ids. The heartbeat carries the last id that was started, so that a later attempt goes on from there.
     * @returns how many were started by this attempt
     */
    async startMessages(requestId: string): Promise<number> {
      const context = Context.current();
      let after = (context.info.heartbeatDetails as string | undefined) ?? '';
      let started = 0;
      for (;;) {
        const page = await acceptedMessagesAfter(sql, requestId, after, PAGE);
        const last = page.at(-1);
        if (!last) return started;
        for (let i = 0; i < page.length; i += STARTS_AT_ONCE) {
          const chunk = page.slice(i, i + STARTS_AT_ONCE);
          const results = await Promise.all(chunk.map((message) => startOnce(client, message)));
          started += results.filter(Boolean).length;
          context.cancellationSignal.throwIfAborted();
          context.heartbeat(chunk.at(-1)?.id);
        }
        after = last.id;
      }
    },
  };
}

async function startOnce(client: Client, message: StartableMessage): Promise<boolean> {
  try {
    // Its first task comes along with the answer, where this worker has a place for it.
    await client.workflow.start('message', { ...messageStart(message, true), requestEagerStart: true });
    return true;
  } catch (error) {
    // A cancel that came before us has started it, or an earlier attempt of ours.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
