import { Worker, type WorkerOptions as SdkWorkerOptions } from '@temporalio/worker';
import { billingActivities, messageActivities } from '../activities/messages.ts';
import { emailClosingActivities } from '../activities/email.ts';
import { inboundActivities } from '../activities/inbound.ts';
import { lookupRefundActivities } from '../activities/lookup.ts';
import { LOG_DAYS, maintenanceActivities, notingSuccess } from '../activities/maintenance.ts';
import { paymentActivities, paymentStartActivities } from '../activities/payments.ts';
import { senderDomainActivities } from '../activities/senderDomains.ts';
import { staffServices } from '../operations/staff.ts';
import { reconciliationActivities } from '../activities/reconciliation.ts';
import { statementActivities } from '../activities/statements.ts';
import { quickSubmissionActivities } from '../activities/submission.ts';
import { quickWebhookActivities, webhookActivities } from '../activities/webhooks.ts';
import { findLookupAnswer } from '../db/lookups/lookups.ts';
import { simulatorMail, simulatorStore } from '../db/routes/simulator.ts';
import { startAccepted } from '../pipeline/startAccepted.ts';
import { receiveReplies } from '../pipeline/replies.ts';
import { notifyFirst } from '../pipeline/webhookAttempts.ts';
import { activityTraces, workflowSinks } from '../telemetry/temporalTraces.ts';
import { MESSAGES_QUEUE, WEBHOOKS_QUEUE } from '../workflows/contracts.ts';
import { usableArguments, workflowBundle as workflowsOf } from './bundle.ts';
import { activityLogIds } from './logIds.ts';
import { createPipeline, type Pipeline, startLoops } from './loops.ts';
import { type RoutesOptions, runRoutes } from './routes.ts';
import { connect, installRuntime, type Servers, type WorkerOptions } from './servers.ts';
import { paymentProcessor } from '../operations/money/payments.ts';
import { paymentProcessors } from './paymentProcessors.ts';
import { keepSchedules } from './schedules.ts';

interface RunningWorker {
  /** Rejects when a worker fails; resolves after `stop`. */
  finished: Promise<void>;
  /** Stops polling, waits for running work, closes all connections. */
  stop(): Promise<void>;
}

// For running work; a longer activity is retried elsewhere by its retry policy.
const SHUTDOWN_GRACE = '15s';
// Work that ignores its cancellation is abandoned to its time-out, e.g. a statement to a database that hangs.
const SHUTDOWN_FORCE = '20s';
// A sleeping workflow needs no cache; an active one is cached for about a second per message.
const CACHED_WORKFLOWS = 500;
// Tasks that submit or notify hold their slot meanwhile. With 200 slots a small server, at 30 messages per second, took 6.6 s per task,
// exceeded the time-out and repeated them for ever.
const WORKFLOW_TASKS = 60;
// Of the default's ten fixed pollers only two poll for new workflows: 560 instead of 320 ms at the 99th percentile of starts.
const AUTOSCALED = { type: 'autoscaling' } as const;
// Each poller reserves a slot while it waits: some must stay free for eager starts.
const WORKFLOW_POLLERS = { type: 'autoscaling', maximum: 10 } as const;
// Most wait for their receivers; an account gets a tenth.
const WEBHOOKS_AT_ONCE = 1_000;

/** Starts this process's workers: workflows, webhooks, and all routes. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { log } = options;
  installRuntime(log, options.sdkMetrics);
  const servers = await connect(options);
  const pipeline = createPipeline(servers, options);
  let breakDown: (error: unknown) => void = () => undefined;
  const broken = new Promise<never>((_, reject) => (breakDown = reject));
  const shared = sharedOptions(servers);
  const routes = await runRoutes(routesOf(servers, pipeline, options, shared, breakDown));
  const submits = quickSubmissionActivities(
    (name) => routes.atHand(name),
    (events) => notifyFirst(pipeline.notifying, events),
  );
  // Shared: bundling takes seconds if it was not built ahead of time.
  const workflowBundle = await workflowsOf(options.config.WORKFLOW_CALL_STACKS);
  const workers = await Promise.all([
    workflowWorker(servers, pipeline, submits, options, { ...shared, workflowBundle }),
    Worker.create({
      ...shared,
      taskQueue: WEBHOOKS_QUEUE,
      maxConcurrentActivityTaskExecutions: WEBHOOKS_AT_ONCE,
      activities: webhookActivities(pipeline.notifying),
    }),
  ]);
  const loops = startLoops(servers, pipeline, options);
  const starts = startAccepted(servers, (error) =>
    log.error({ err: error }, 'failed to start accepted messages; will retry'),
  );
  const schedules = keepSchedules(servers.sql, servers.client, log);
  const runs = Promise.all(workers.map((worker) => worker.run()));

  return {
    finished: Promise.race([runs.then(() => undefined), broken]),
    async stop() {
      await starts.stop();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await routes.stop();
      await runs.catch(() => undefined);
      await loops.stop();
      await schedules.stop();
      await pipeline.notifying.outgoing.close();
      await servers.close();
    },
  };
}

function sharedOptions({ connection, namespace }: Servers) {
  return {
    connection,
    namespace,
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    workflowTaskPollerBehavior: WORKFLOW_POLLERS,
    activityTaskPollerBehavior: AUTOSCALED,
    interceptors: { activity: [activityLogIds, usableArguments, ...activityTraces()] },
  } satisfies Partial<SdkWorkerOptions>;
}

type SharedOptions = ReturnType<typeof sharedOptions>;

function routesOf(
  { sql }: Servers,
  { reports, replyParts, emailEvents, routing, onReportError }: Pipeline,
  { secretsKey, shortUrl, log }: WorkerOptions,
  shared: SharedOptions,
  onBroken: (error: unknown) => void,
): RoutesOptions {
  return {
    sql,
    secretsKey,
    shortUrl,
    emailEvents,
    stores: {
      simulator: (route) => ({ ...simulatorStore(sql, route), ...simulatorMail(sql, route) }),
      lookups: { find: (route, id) => findLookupAnswer(sql, route, id) },
    },
    handlersOf: (route) => ({
      onReports: (found) => reports.receive(route, found),
      onReplies: (found) => receiveReplies(sql, reports, route, found),
      onReplyPart: (part) => replyParts.receive(route, part),
      onEmailEvents: (found) => emailEvents.receive(route, found),
      onLateAnswer: (reference, answer, arrivedAt) =>
        reports.receiveLateAnswer(route, reference, answer, arrivedAt),
    }),
    routing,
    applyReports: () => reports.catchUp().catch(onReportError),
    worker: shared,
    log,
    onBroken,
  };
}

async function workflowWorker(
  { sql, client }: Servers,
  { notifying, routing }: Pipeline,
  submits: ReturnType<typeof quickSubmissionActivities>,
  { config, secretsKey, seller }: WorkerOptions,
  shared: SharedOptions & Required<Pick<SdkWorkerOptions, 'workflowBundle'>>,
): Promise<Worker> {
  return await Worker.create({
    ...shared,
    taskQueue: MESSAGES_QUEUE,
    sinks: workflowSinks,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    maxConcurrentLocalActivityExecutions: WORKFLOW_TASKS,
    activities: {
      ...billingActivities(sql),
      ...messageActivities(sql, routing),
      ...quickWebhookActivities(notifying),
      ...submits,
      ...lookupRefundActivities(sql),
      ...emailClosingActivities(sql),
      ...inboundActivities(sql),
      ...paymentStartActivities(sql),
      ...paymentActivities(sql, await paymentProcessors(sql, config), () =>
        paymentProcessor({ settings: config, routing }),
      ),
      ...notingSuccess(sql, {
        ...reconciliationActivities(sql, client),
        ...senderDomainActivities(sql, secretsKey, config.DNS_SERVERS ?? null),
        ...statementActivities(staffServices({ sql, temporal: client, secretsKey }), seller),
        ...maintenanceActivities(sql, {
          contentDays: config.RETAIN_CONTENT_DAYS,
          logDays: config.RETAIN_LOG_DAYS ?? LOG_DAYS,
        }),
      }),
    },
  });
}
