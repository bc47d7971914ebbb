import type { Client } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import {
  type FoundResend,
  openResendsAmong,
  openResendsAfter,
  type Resend,
} from '../db/webhooks/webhookResends.ts';
import { startResend } from '../workflows/startResend.ts';
import { createStartedLately } from './startedLately.ts';
import { createCatchUp } from './startForgotten.ts';

// By then whoever asked for them has started their workflows, or never will.
const FORGOTTEN_SECONDS = 15;
const STARTS_MAX = 500;

/**
 * Starts what was asked for and never begun: Temporal was away, or the process that was asked has ended.
 * @returns as `createCatchUp` does
 */
export function createForgottenResends(sql: Database, client: Client): () => Promise<void> {
  return createCatchUp<Resend, FoundResend>(
    {
      idOf: ({ eventId, round }) => `${eventId}-${round}`,
      openAfter: (after, limit) => openResendsAfter(sql, FORGOTTEN_SECONDS, after, limit),
      start: (resend, reuse) => startResend(client, resend, reuse),
      stillOpen: (completed) => openResendsAmong(sql, completed),
      startsMax: STARTS_MAX,
      atOnce: 1,
    },
    createStartedLately(),
  );
}
