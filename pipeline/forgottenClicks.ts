import type { Client } from '@temporalio/client';
import { type FoundClick, uncountedAfter, uncountedAmong, type UncountedClick } from '../db/links/clicks.ts';
import type { Database } from '../db/connection.ts';
import { startOnce } from '../workflows/startOnce.ts';
import { clickStart, type TO_REPEAT } from '../workflows/startOptions.ts';
import { createStartedLately } from './startedLately.ts';
import { createCatchUp } from './startForgotten.ts';

// By then the API has started the workflow of a click, or never will.
const FORGOTTEN_SECONDS = 5;
const STARTS_MAX = 500;
// More at once would only make messages wait behind clicks.
const AT_ONCE = 10;
const START_MS = 5_000;

/**
 * Starts the workflows of clicks that nobody has counted: the API ended, Temporal was away, or more came at once than
 * the API starts.
 * @returns as `createCatchUp` does
 */
export function createForgottenClicks(sql: Database, client: Client): () => Promise<void> {
  return createCatchUp<UncountedClick, FoundClick>(
    {
      idOf: ({ id }) => id,
      openAfter: (after, limit) => uncountedAfter(sql, FORGOTTEN_SECONDS, after, limit),
      startAll: (some, reuse, started) => startAll(client, some, reuse, started),
      stillOpen: (completed) => uncountedAmong(sql, completed),
      startsMax: STARTS_MAX,
    },
    createStartedLately(),
  );
}

async function startAll(
  client: Client,
  clicks: readonly UncountedClick[],
  reuse: Partial<typeof TO_REPEAT>,
  onStarted: (click: UncountedClick) => void,
): Promise<UncountedClick[]> {
  const completed: UncountedClick[] = [];
  const start = async (click: UncountedClick): Promise<void> => {
    const started = await startOnce(client.workflow.start('click', { ...clickStart(click), ...reuse }));
    if (started === null) completed.push(click);
    else onStarted(click);
  };
  for (let i = 0; i < clicks.length; i += AT_ONCE) {
    await client.connection.withDeadline(Date.now() + START_MS, () =>
      Promise.all(clicks.slice(i, i + AT_ONCE).map(start)),
    );
  }
  return completed;
}
