import type { Client } from '@temporalio/client';
import { type FoundClick, uncountedAfter, uncountedAmong, type UncountedClick } from '../db/links/clicks.ts';
import type { Database } from '../db/connection.ts';
import { startOnce } from '../workflows/startOnce.ts';
import { clickStart } from '../workflows/startOptions.ts';
import { createStartedLately } from './startedLately.ts';
import { createCatchUp } from './startForgotten.ts';

// By then the API has started the workflow of a click, or never will.
const FORGOTTEN_SECONDS = 5;
const STARTS_MAX = 500;
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
      start: (click, reuse) =>
        client.connection.withDeadline(Date.now() + START_MS, () =>
          startOnce(client.workflow.start('click', { ...clickStart(click), ...reuse })),
        ),
      stillOpen: (completed) => uncountedAmong(sql, completed),
      startsMax: STARTS_MAX,
      atOnce: AT_ONCE,
    },
    createStartedLately(),
  );
}
