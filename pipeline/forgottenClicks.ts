import type { Client } from '@temporalio/client';
import { uncountedAmong, type UncountedClick, uncountedClicks } from '../db/links/clicks.ts';
import type { Database } from '../db/connection.ts';
import { startOnce } from '../workflows/startOnce.ts';
import { clickStart, type TO_REPEAT } from '../workflows/startOptions.ts';
import { startForgotten } from './startForgotten.ts';

// By then the API has started the workflow of a click, or never will.
const FORGOTTEN_SECONDS = 5;
const PAGE = 500;
// More at once would only make messages wait behind clicks.
const STARTS_MAX = 10;
const START_MS = 5_000;

/**
 * Starts the workflows of clicks that nobody has counted: the API ended, Temporal was away, or more came at once than
 * the API starts. One page of them; safe to run in several processes, as a second start finds the first.
 * @throws the first failure of a start; the rest waits for the next call
 */
export async function startForgottenClicks(sql: Database, client: Client): Promise<void> {
  const clicks = await uncountedClicks(sql, FORGOTTEN_SECONDS, PAGE);
  await startForgotten(
    clicks,
    (some, reuse) => startAll(client, some, reuse),
    (completed) => uncountedAmong(sql, completed),
  );
}

async function startAll(
  client: Client,
  clicks: readonly UncountedClick[],
  reuse: Partial<typeof TO_REPEAT>,
): Promise<UncountedClick[]> {
  const completed: UncountedClick[] = [];
  const start = async (click: UncountedClick): Promise<void> => {
    const started = await startOnce(client.workflow.start('click', { ...clickStart(click), ...reuse }));
    if (started === null) completed.push(click);
  };
  for (let i = 0; i < clicks.length; i += STARTS_MAX) {
    await client.connection.withDeadline(Date.now() + START_MS, () =>
      Promise.all(clicks.slice(i, i + STARTS_MAX).map(start)),
    );
  }
  return completed;
}
