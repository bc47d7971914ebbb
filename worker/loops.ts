import type { Logger } from 'pino';
import { startForgottenResends } from '../pipeline/forgottenResends.ts';
import { forgetOldSecrets } from '../db/webhooks/webhookSecrets.ts';
import { cancelForClosedAccounts, resumePausedWorkflows } from '../pipeline/accountStops.ts';
import { startForgottenClicks } from '../pipeline/forgottenClicks.ts';
import type { Pipeline } from './pipeline.ts';
import { repeat } from '../concurrency/repeat.ts';
import type { Servers } from './servers.ts';

// What a crash left between storing and signalling is made up for this often.
const CATCH_UP_MS = 2_000;
// Parts of a reply are waited for some minutes.
const LATE_PARTS_MS = 10_000;
// Webhooks delivered again have no hurry, and secrets are forgotten to the minute.
const RESENDS_MS = 10_000;

/** Starts what a worker does again and again: making up for what a crash left between storing and signalling. */
export function startLoops(
  { sql, client }: Servers,
  pipeline: Pipeline,
  log: Logger,
): { stop(): Promise<void> } {
  const { reports, outcomes, replies, replyParts, emailEvents } = pipeline;
  const { onReportError, onReplyError, onEmailError } = pipeline;
  const stopping = new AbortController();
  const logAs = (what: string) => (error: unknown) =>
    log.error({ err: error }, `${what}: will be tried again`);
  const applying = repeat(CATCH_UP_MS, () => reports.catchUp(), onReportError);
  const others = [
    repeat(CATCH_UP_MS, () => replies.catchUp(), onReplyError),
    repeat(LATE_PARTS_MS, () => replyParts.flush(), onReplyError),
    repeat(CATCH_UP_MS, () => emailEvents.catchUp(), onEmailError),
    repeat(CATCH_UP_MS, () => startForgottenClicks(sql, client), logAs('clicks')),
    repeat(CATCH_UP_MS, () => cancelForClosedAccounts(sql, stopping.signal), logAs('closed accounts')),
    repeat(
      CATCH_UP_MS,
      () => resumePausedWorkflows(sql, client, stopping.signal),
      logAs('suspended accounts'),
    ),
    repeat(RESENDS_MS, () => forgetOldSecrets(sql), logAs('former webhook secrets')),
    repeat(RESENDS_MS, () => startForgottenResends(sql, client), logAs('webhooks delivered again')),
  ];
  return {
    async stop() {
      reports.stop();
      await applying.stop();
      await outcomes.stop();
      stopping.abort();
      await Promise.all(others.map((loop) => loop.stop()));
    },
  };
}
