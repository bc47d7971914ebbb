import { Client } from '@temporalio/client';
import { NativeConnection, type TLSConfig, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { cancelForClosedAccounts, tellPausedWorkflows } from '../activities/accountStops.ts';
import { batchActivities } from '../activities/batch.ts';
import { billingActivities } from '../activities/billing.ts';
import { createChargeNews } from '../activities/chargeNews.ts';
import { createReplies, inboundActivities } from '../activities/inbound.ts';
import { linkActivities, startForgottenClicks } from '../activities/links.ts';
import { lookupBillingActivities } from '../activities/lookup.ts';
import { LOG_DAYS, maintenanceActivities } from '../activities/maintenance.ts';
import { messageActivities } from '../activities/messages.ts';
import { createOutcomes } from '../activities/outcomes.ts';
import { createOutgoing } from '../activities/outgoing.ts';
import { createQuickLane } from '../activities/quickLane.ts';
import { createReceipts } from '../activities/receipts.ts';
import { reconciliationActivities } from '../activities/reconciliation.ts';
import { createReplySegments } from '../activities/replySegments.ts';
import { startForgottenResends } from '../activities/resends.ts';
import { quickSubmissionActivities } from '../activities/submission.ts';
import {
  quickWebhookActivities,
  tellInTurn,
  webhookActivities,
  webhookClosingActivities,
} from '../activities/webhooks.ts';
import { openDatabase, poolState } from '../db/connection.ts';
import { findLookupAnswer } from '../db/lookups/lookupAnswers.ts';
import { cachedRouting } from '../db/routes/routingCache.ts';
import { simulatorStore } from '../db/routes/simulator.ts';
import { tracing } from '../telemetry/tracing.ts';
import { watchPool } from '../telemetry/poolMetrics.ts';
import { temporalCallMetrics } from '../telemetry/temporalMetrics.ts';
import { activityTraces, clientTraces, workflowTraces } from '../telemetry/temporalTraces.ts';
import { forgetOldSecrets } from '../db/webhooks/webhookSecrets.ts';
import { MESSAGES_QUEUE, WEBHOOKS_QUEUE } from '../workflows/contracts.ts';
import { workflowBundle } from './bundle.ts';
import { activityLogIds } from './logIds.ts';
import { installRuntime } from './runtime.ts';
import { keepHeapsSmall } from './heaps.ts';
import { repeat } from './repeat.ts';
import { runRoutes } from './routes.ts';
import { keepSchedules } from './schedules.ts';
import { usableArguments } from './usableArguments.ts';

/** What a worker process needs to run. */
export interface WorkerOptions {
  databaseUrl: string;
  databasePool: number;
  temporal: { address: string; namespace: string; tls?: TLSConfig | boolean; apiKey?: string };
  config: {
    WEBHOOK_ALLOW_PRIVATE: boolean;
    RETAIN_CONTENT_DAYS?: number | undefined;
    RETAIN_LOG_DAYS?: number | undefined;
    RECONCILE_RESTARTS?: number | undefined;
    WORKFLOW_CALL_STACKS?: boolean | undefined;
  };
  secretsKey: Buffer;
  /** Where `/l/…` is found from outside, for events that name a link. */
  shortUrl: string;
  log: Logger;
  /** Where the SDK's own metrics are served, host:port; nowhere unless given. */
  sdkMetrics?: string | undefined;
}

export interface RunningWorker {
  /** Rejects when the worker breaks; resolves after `stop`. */
  finished: Promise<void>;
  /** Takes no more work, lets what runs come to its end, closes every connection. */
  stop(): Promise<void>;
}

// Work under way gets this long to end; a longer activity is repeated elsewhere by its own rules.
const SHUTDOWN_GRACE = '15s';
// What does not end even when it is told to is left to its time-out: a statement to a database that hangs, say.
const SHUTDOWN_FORCE = '20s';
// What a crash left between storing and signalling is made up for this often.
const CATCH_UP_MS = 2_000;
// Segments of a reply are waited for some minutes.
const LATE_SEGMENTS_MS = 10_000;
// Webhooks delivered again have no hurry, and secrets are forgotten to the minute.
const RESENDS_MS = 10_000;
// As long as a transaction may take; the regular work's statements are shorter.
const DATABASE_SILENCE_MS = 60_000;
// A sleeping workflow needs no cache; one in motion is in it for about a second per message.
const CACHED_WORKFLOWS = 500;
// A workflow task that submits or tells a webhook keeps its place until that is done. No more than a small server brings to
// their end within their time-out: 200 at 30 a second took 6.6 s each, timed out, and were taken again, for ever.
const WORKFLOW_TASKS = 60;
const QUICK_WEBHOOKS = { quickMs: 1_500, places: 30, placesEach: 15 };
// Those told before their workflow hears keep no such place; half of the outcomes that are told at once.
const QUICK_WEBHOOKS_BEFORE = { places: 30, placesEach: 15 };

// Of the fixed default of ten pollers only two look for new workflows. Bare accepts, 16 at once, two runs of 160 each on
// a busy machine: 99th percentile 545 and 577 ms with the default, 320 and 315 ms with this; the rate stayed the same.
const AUTOSCALED = { type: 'autoscaling' } as const;
// Each poller keeps a place while it waits, with as many for workflows in the cache: some have to be left to the tasks that
// come along with a start.
const WORKFLOW_POLLERS = { type: 'autoscaling', maximum: 10 } as const;
// A batch takes its turn at starting its messages: many of one account must not keep another's from being taken up.
const BATCHES = 500;

/** Starts all task queues of this process: workflows, webhooks, and the submits of every route. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { log } = options;
  keepHeapsSmall();
  installRuntime(log, options.sdkMetrics);
  const sql = openDatabase(options.databaseUrl, options.databasePool, DATABASE_SILENCE_MS);
  const { namespace, ...server } = options.temporal;
  const connection = await NativeConnection.connect(server);
  const client = new Client({
    // The workers' own: only so does a start bring its first workflow task along.
    connection,
    namespace,
    interceptors: { workflow: [temporalCallMetrics(), ...clientTraces({ apart: true })] },
  });
  const unwatchPool = watchPool('worker', () => poolState(sql));

  const onError = (error: unknown): void =>
    log.error({ err: error }, 'delivery reports: will be tried again');
  const telling = {
    sql,
    outgoing: createOutgoing(options.config.WEBHOOK_ALLOW_PRIVATE),
    secretsKey: options.secretsKey,
    shortUrl: options.shortUrl,
    quick: createQuickLane(QUICK_WEBHOOKS),
  };
  const tellingBefore = { ...telling, quick: telling.quick.beside(QUICK_WEBHOOKS_BEFORE) };
  const outcomes = createOutcomes({
    ...{ sql, client, onError },
    // A trace goes through the workflow, which alone knows it: traced, it has everything told itself.
    tellEvents: tracing() === null ? (events) => tellInTurn(tellingBefore, events) : null,
  });
  const receipts = createReceipts(sql, outcomes, onError);
  const routing = cachedRouting(sql);
  const charges = createChargeNews(sql, (error) => log.warn({ err: error }, 'charges: callers wait longer'));

  const shared = {
    connection,
    namespace,
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    workflowTaskPollerBehavior: WORKFLOW_POLLERS,
    activityTaskPollerBehavior: AUTOSCALED,
    interceptors: { activity: [activityLogIds, usableArguments, ...activityTraces()] },
  };
  const onReplyError = (error: unknown): void => log.error({ err: error }, 'replies: will be tried again');
  const replies = createReplies(sql, client, onReplyError);
  const segments = createReplySegments(sql, replies);
  let breakDown: (error: unknown) => void = () => undefined;
  const broken = new Promise<never>((_, reject) => (breakDown = reject));
  const routes = await runRoutes({
    sql,
    secretsKey: options.secretsKey,
    stores: {
      simulator: (route) => simulatorStore(sql, route),
      lookups: { find: (provider, id) => findLookupAnswer(sql, provider, id) },
    },
    handlersOf: (route) => ({
      onReports: (reports) => receipts.receive(route, reports),
      onReplies: (found) => replies.receive(route, found),
      onSegment: (segment) => segments.receive(route, segment),
      onLateAnswer: (reference, answer, arrivedAt) =>
        receipts.receiveLateAnswer(reference, answer, arrivedAt),
    }),
    routing,
    applyReports: () => receipts.catchUp().catch(onError),
    worker: shared,
    log,
    onBroken: breakDown,
  });
  const workers = await Promise.all([
    Worker.create({
      ...shared,
      taskQueue: MESSAGES_QUEUE,
      workflowBundle: await workflowBundle(options.config.WORKFLOW_CALL_STACKS),
      ...workflowTraces(),
      maxCachedWorkflows: CACHED_WORKFLOWS,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
      maxConcurrentLocalActivityExecutions: WORKFLOW_TASKS,
      maxConcurrentActivityTaskExecutions: BATCHES,
      activities: {
        ...billingActivities(sql, charges),
        ...messageActivities(sql, routing),
        ...webhookClosingActivities(sql),
        ...quickWebhookActivities(telling),
        ...quickSubmissionActivities(
          (name) => routes.atHand(name),
          (events) => tellInTurn(telling, events),
        ),
        ...batchActivities(sql, client),
        ...lookupBillingActivities(sql),
        ...linkActivities(sql),
        ...inboundActivities(sql),
        ...reconciliationActivities(sql, client, options.config.RECONCILE_RESTARTS),
        ...maintenanceActivities(sql, {
          contentDays: options.config.RETAIN_CONTENT_DAYS,
          logDays: options.config.RETAIN_LOG_DAYS ?? LOG_DAYS,
        }),
      },
    }),
    Worker.create({
      ...shared,
      taskQueue: WEBHOOKS_QUEUE,
      activities: webhookActivities(telling),
    }),
  ]);

  const catchUp = repeat(CATCH_UP_MS, () => receipts.catchUp(), onError);
  const forgottenReplies = repeat(CATCH_UP_MS, () => replies.catchUp(), onReplyError);
  const lateSegments = repeat(LATE_SEGMENTS_MS, () => segments.flush(), onReplyError);
  const clicks = repeat(
    CATCH_UP_MS,
    () => startForgottenClicks(sql, client),
    (error) => log.error({ err: error }, 'clicks: will be tried again'),
  );
  const onStopsError = (error: unknown): void =>
    log.error({ err: error }, 'suspended and closed accounts: will be tried again');
  const stopping = new AbortController();
  const closings = repeat(CATCH_UP_MS, () => cancelForClosedAccounts(sql, stopping.signal), onStopsError);
  const paused = repeat(CATCH_UP_MS, () => tellPausedWorkflows(sql, client, stopping.signal), onStopsError);
  const schedules = keepSchedules(client, log);
  const resends = repeat(
    RESENDS_MS,
    async () => {
      await forgetOldSecrets(sql);
      await startForgottenResends(sql, client);
    },
    (error) => log.error({ err: error }, 'webhooks delivered again: will be tried again'),
  );
  const runs = Promise.all(workers.map((worker) => worker.run()));

  return {
    finished: Promise.race([runs.then(() => undefined), broken]),
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await routes.stop();
      await runs.catch(() => undefined);
      receipts.stop();
      await catchUp.stop();
      await outcomes.stop();
      await clicks.stop();
      stopping.abort();
      await Promise.all([closings.stop(), paused.stop()]);
      await resends.stop();
      await forgottenReplies.stop();
      await lateSegments.stop();
      unwatchPool();
      await schedules.stop();
      await telling.outgoing.close();
      await connection.close();
      await sql.end({ timeout: 5 });
    },
  };
}
