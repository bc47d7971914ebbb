import { createForgottenResends } from '../pipeline/forgottenResends.ts';
import { forgetOldSecrets } from '../db/webhooks/webhookSecrets.ts';
import { readBacklog } from '../db/money/reservations.ts';
import { cancelForClosedAccounts, resumePausedWorkflows } from '../pipeline/accountStops.ts';
import { createForgottenClicks } from '../pipeline/forgottenClicks.ts';
import type { Pipeline } from './pipeline.ts';
import { repeat } from '../concurrency/repeat.ts';
import type { OwnEmailServices } from '../operations/email/ownEmail.ts';
import { sendDueOwnEmails } from './ownEmails.ts';
import type { Servers, WorkerOptions } from './servers.ts';

// What a crash left between storing and signalling is made up for this often.
const CATCH_UP_MS = 2_000;
// Parts of a reply are waited for some minutes.
const LATE_PARTS_MS = 10_000;
// Webhooks delivered again have no hurry, and secrets are forgotten to the minute.
const RESENDS_MS = 10_000;
// Statements have no hurry either.
const OWN_EMAILS_MS = 5_000;

/** Starts what a worker does again and again: making up for what a crash left between storing and signalling. */
export function startLoops(
  servers: Servers,
  pipeline: Pipeline,
  options: Pick<WorkerOptions, 'config' | 'secretsKey' | 'log'>,
): { stop(): Promise<void> } {
  const { sql, client } = servers;
  const { log } = options;
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
    repeat(CATCH_UP_MS, createForgottenClicks(sql, client), logAs('clicks')),
    repeat(CATCH_UP_MS, () => cancelForClosedAccounts(sql, stopping.signal), logAs('closed accounts')),
    repeat(
      CATCH_UP_MS,
      () => resumePausedWorkflows(sql, client, stopping.signal),
      logAs('suspended accounts'),
    ),
    repeat(
      OWN_EMAILS_MS,
      () => sendDueOwnEmails(ownEmailsOf(servers, pipeline, options), stopping.signal),
      logAs('own e-mails'),
    ),
    repeat(RESENDS_MS, () => forgetOldSecrets(sql), logAs('former webhook secrets')),
    repeat(RESENDS_MS, createForgottenResends(sql, client), logAs('webhooks delivered again')),
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

function ownEmailsOf(
  { sql, client }: Servers,
  { routing }: Pipeline,
  { config, secretsKey, log }: Pick<WorkerOptions, 'config' | 'secretsKey' | 'log'>,
): OwnEmailServices {
  return {
    ...{ sql, temporal: client, backlog: () => readBacklog(sql), routing, secretsKey, log },
    ownEmailAccount: config.OWN_EMAIL_ACCOUNT ?? null,
  };
}
