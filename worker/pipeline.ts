import type { Routing } from '../domain/routing.ts';
import { cachedRouting } from '../db/routes/routingCache.ts';
import { createEmailEvents, type EmailEvents } from '../pipeline/emailEvents.ts';
import { createDeliveryReports, type DeliveryReports } from '../pipeline/deliveryReports.ts';
import { createOutcomes, type Outcomes } from '../pipeline/outcomes.ts';
import { createOutgoing } from '../pipeline/outgoingHttp.ts';
import { createQuickLane } from '../pipeline/quickLane.ts';
import { createReplies, type Replies } from '../pipeline/replies.ts';
import { createReplyParts, type ReplyParts } from '../pipeline/replyParts.ts';
import { type Notifying, notifyInOrder } from '../pipeline/webhookAttempts.ts';
import { providerKinds } from '../providers/registry.ts';
import { isTracing } from '../telemetry/tracing.ts';
import type { Servers, WorkerOptions } from './servers.ts';

const QUICK_WEBHOOKS = { quickMs: 1_500, places: 30, placesEach: 15 };
// Those notified before their workflow is signalled keep no such place; half of the outcomes that are signalled at once.
const QUICK_WEBHOOKS_BEFORE = { places: 30, placesEach: 15 };

/** What runs in a worker beside Temporal. */
export interface Pipeline {
  notifying: Notifying;
  outcomes: Outcomes;
  reports: DeliveryReports;
  replies: Replies;
  replyParts: ReplyParts;
  emailEvents: EmailEvents;
  routing: () => Promise<Routing>;
  onReportError: (error: unknown) => void;
  onReplyError: (error: unknown) => void;
  onEmailError: (error: unknown) => void;
}

/** Puts the pipeline of a worker process together; nothing of it runs by itself yet. */
export function createPipeline({ sql, client }: Servers, options: WorkerOptions): Pipeline {
  const { config, log, secretsKey, shortUrl } = options;
  const onReportError = (error: unknown): void =>
    log.error({ err: error }, 'delivery reports: will be tried again');
  const onReplyError = (error: unknown): void => log.error({ err: error }, 'replies: will be tried again');
  const onEmailError = (error: unknown): void =>
    log.error({ err: error }, 'events of e-mails: will be tried again');
  const notifying = {
    ...{ sql, secretsKey, shortUrl },
    outgoing: createOutgoing(config.WEBHOOK_ALLOW_PRIVATE, config.DNS_SERVERS ?? null),
    quick: createQuickLane(QUICK_WEBHOOKS),
  };
  const notifyingBefore = { ...notifying, quick: notifying.quick.beside(QUICK_WEBHOOKS_BEFORE) };
  const outcomes = createOutcomes({
    ...{ sql, client, onError: onReportError },
    // A trace goes through the workflow, which alone knows it: traced, it makes all attempts itself.
    notifyEvents: isTracing() ? null : (events) => notifyInOrder(notifyingBefore, events),
  });
  const replies = createReplies(sql, client, onReplyError);
  return {
    ...{ notifying, outcomes, replies, onReportError, onReplyError, onEmailError },
    emailEvents: createEmailEvents(sql, client, onEmailError),
    reports: createDeliveryReports(sql, outcomes, onReportError),
    replyParts: createReplyParts(sql, replies),
    routing: cachedRouting(sql, providerKinds.withTraits),
  };
}
