import type { Logger } from 'pino';
import type { Routing } from '../domain/routing.ts';
import { cachedRouting } from '../db/routes/routes.ts';
import { createEmailEvents, type EmailEvents } from '../pipeline/emailEvents.ts';
import { createDeliveryReports, type DeliveryReports } from '../pipeline/deliveryReports.ts';
import { createOutcomeDispatcher, type OutcomeDispatcher } from '../pipeline/outcomes.ts';
import { createOutgoing } from '../pipeline/outgoingHttp.ts';
import { createQuickLane } from '../pipeline/quickLane.ts';
import { createReplyParts, type ReplyParts } from '../pipeline/replies.ts';
import { type WebhookContext, notifyFirst } from '../pipeline/webhookAttempts.ts';
import { providerKinds } from '../providers/registry.ts';
import { isTracing } from '../telemetry/tracing.ts';
import type { Servers, WorkerOptions } from './servers.ts';
import { forgetOldSecrets } from '../db/webhooks/webhooks.ts';
import { readBacklog } from '../db/money/reservations.ts';
import { cancelForClosedAccounts, resumePausedWorkflows } from '../pipeline/accountStops.ts';
import { repeat } from '../concurrency/tasks.ts';
import { startDueTopUps } from '../operations/money/automaticTopUps.ts';
import { alertOfBalances } from './balanceAlerts.ts';
import { paymentProcessor } from '../operations/money/payments.ts';
import { sendDueOwnEmails } from './ownEmails.ts';

const QUICK_WEBHOOKS = { quickMs: 1_500, places: 30, placesEach: 15 };

/** What a worker process runs besides Temporal workers. */
export interface Pipeline {
  notifying: WebhookContext;
  outcomes: OutcomeDispatcher;
  reports: DeliveryReports;
  replyParts: ReplyParts;
  emailEvents: EmailEvents;
  routing: () => Promise<Routing>;
  onReportError: (error: unknown) => void;
}

const logRetry = (log: Logger, what: string) => (error: unknown) =>
  log.error({ err: error }, `failed to process ${what}; will retry`);

/** Creates the pipeline of a worker process; starts nothing. */
export function createPipeline({ sql, client }: Servers, options: WorkerOptions): Pipeline {
  const { config, log, secretsKey, shortUrl } = options;
  const onReportError = logRetry(log, 'delivery reports');
  const notifying = {
    sql,
    secretsKey,
    shortUrl,
    outgoing: createOutgoing(config.WEBHOOK_ALLOW_PRIVATE, config.DNS_SERVERS ?? null),
    quick: createQuickLane(QUICK_WEBHOOKS),
  };
  // The trace is known to the workflow only: with tracing on, it makes all attempts itself.
  const notify = async (events: readonly string[]) =>
    isTracing() ? [...events] : await notifyFirst(notifying, events);
  const outcomes = createOutcomeDispatcher(sql, client, notify, onReportError);
  return {
    notifying,
    outcomes,
    onReportError,
    emailEvents: createEmailEvents(sql, client, logRetry(log, 'e-mail events')),
    reports: createDeliveryReports(sql, outcomes, onReportError),
    replyParts: createReplyParts(sql),
    routing: cachedRouting(sql, providerKinds.withTraits),
  };
}

const CATCH_UP_MS = 2_000;
// Incomplete replies wait for minutes.
const LATE_PARTS_MS = 10_000;
// Former webhook secrets expire to the minute.
const FORMER_SECRETS_MS = 10_000;
const OWN_EMAILS_MS = 5_000;
const TOP_UPS_MS = 10_000;
const BALANCE_ALERTS_MS = 5 * 60_000;

/** Starts the periodic loops, which also catch up on what a crash left between storing and signalling. */
export function startLoops(
  { sql, client }: Servers,
  { reports, outcomes, replyParts, emailEvents, routing, onReportError }: Pipeline,
  { config, secretsKey, shortUrl, log }: Pick<WorkerOptions, 'config' | 'secretsKey' | 'shortUrl' | 'log'>,
): { stop(): Promise<void> } {
  const ownEmailAccount = config.OWN_EMAIL_ACCOUNT ?? null;
  const panelUrl = config.PANEL_URL ?? config.PUBLIC_URL ?? shortUrl;
  const ownEmails = {
    sql,
    backlog: () => readBacklog(sql),
    routing,
    secretsKey,
    log,
    ownEmailAccount,
    panelUrl,
  };
  const stopping = new AbortController();
  const logAs = (what: string) => logRetry(log, what);
  const applying = repeat(CATCH_UP_MS, () => reports.catchUp(), onReportError);
  const others = [
    repeat(LATE_PARTS_MS, () => replyParts.flush(), logAs('replies')),
    repeat(CATCH_UP_MS, () => emailEvents.catchUp(), logAs('e-mail events')),
    repeat(CATCH_UP_MS, () => cancelForClosedAccounts(sql, stopping.signal), logAs('closed accounts')),
    repeat(
      CATCH_UP_MS,
      () => resumePausedWorkflows(sql, client, stopping.signal),
      logAs('suspended accounts'),
    ),
    repeat(OWN_EMAILS_MS, () => sendDueOwnEmails(ownEmails, stopping.signal), logAs('own e-mails')),
    repeat(
      TOP_UPS_MS,
      async () => startDueTopUps(sql, await paymentProcessor({ settings: config, routing })),
      logAs('automatic top-ups'),
    ),
    repeat(BALANCE_ALERTS_MS, () => alertOfBalances(sql, stopping.signal), logAs('balance alerts')),
    repeat(FORMER_SECRETS_MS, () => forgetOldSecrets(sql), logAs('former webhook secrets')),
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
