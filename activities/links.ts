import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { countClick, type UncountedClick, uncountedClicks } from '../db/links/clicks.ts';
import type { Database } from '../db/connection.ts';
import { clickStart } from '../workflows/startOptions.ts';
import { unknownClick } from './failures.ts';

// By then the API has started the workflow of a click, or never will.
const FORGOTTEN_SECONDS = 5;
const PAGE = 500;
// More at once would only make messages wait behind clicks.
const STARTS_AT_ONCE = 10;
const START_MS = 5_000;

/** What the `click` workflow does. */
export function linkActivities(sql: Database) {
  return {
    /**
     * Counts the click, once; returns the webhook event that is to be delivered for it, if any.
     * @throws ApplicationFailure `UnknownClick`, for good
     */
    async countClick(clickId: string): Promise<string | null> {
      const event = await countClick(sql, clickId);
      if (event === undefined) throw unknownClick(clickId);
      return event;
    },
  };
}

/**
 * Starts the workflows of clicks that nobody has counted: the API ended, Temporal was away, or more came at once than
 * the API starts. One page of them; safe to run in several processes, as a second start finds the first.
 * @throws the first failure of a start; the rest waits for the next call
 */
export async function startForgottenClicks(sql: Database, client: Client): Promise<void> {
  const clicks = await uncountedClicks(sql, FORGOTTEN_SECONDS, PAGE);
  for (let i = 0; i < clicks.length; i += STARTS_AT_ONCE) {
    await client.connection.withDeadline(Date.now() + START_MS, () =>
      Promise.all(clicks.slice(i, i + STARTS_AT_ONCE).map((click) => startOnce(client, click))),
    );
  }
}

async function startOnce(client: Client, click: UncountedClick): Promise<void> {
  try {
    await client.workflow.start('click', clickStart(click));
  } catch (error) {
    // Counted between our reading and our start.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
