import { Worker, type WorkerOptions as SdkWorkerOptions } from '@temporalio/worker';
import { billingActivities, messageActivities } from '../activities/messages.ts';
import { emailClosingActivities } from '../activities/email.ts';
import { inboundActivities } from '../activities/inbound.ts';
import { lookupRefundActivities } from '../activities/lookup.ts';
import { LOG_DAYS, maintenanceActivities, notingSuccess } from '../activities/maintenance.ts';
import { senderDomainActivities } from '../activities/senderDomains.ts';
import { reconciliationActivities } from '../activities/reconciliation.ts';
import { quickSubmissionActivities } from '../activities/submission.ts';
import { quickWebhookActivities, webhookActivities } from '../activities/webhooks.ts';
import { findLookupAnswer } from '../db/lookups/lookups.ts';
import { simulatorMail, simulatorStore } from '../db/routes/simulator.ts';
import { startAccepted } from '../pipeline/startAccepted.ts';
import { keepReplies } from '../pipeline/replies.ts';
import { notifyFirst } from '../pipeline/webhookAttempts.ts';
import { activityTraces, workflowSinks } from '../telemetry/temporalTraces.ts';
import { MESSAGES_QUEUE, WEBHOOKS_QUEUE } from '../workflows/contracts.ts';
import { usableArguments, workflowBundle as workflowsOf } from './bundle.ts';
import { activityLogIds } from './logIds.ts';
import { createPipeline, type Pipeline, startLoops } from './loops.ts';
import { type RoutesOptions, runRoutes } from './routes.ts';
import { connect, installRuntime, type Servers, type WorkerOptions } from './servers.ts';
import { keepSchedules } from './schedules.ts';

interface RunningWorker {
  /** Rejects when the worker breaks; resolves after `stop`. */
  finished: Promise<void>;
  /** Takes no more work, lets what runs come to its end, closes every connection. */
  stop(): Promise<void>;
}

// Work under way gets this long to end; a longer activity is repeated elsewhere by its own rules.
const SHUTDOWN_GRACE = '15s';
// What does not end even when asked to is left to its time-out: a statement to a database that hangs, say.
const SHUTDOWN_FORCE = '20s';
// A sleeping workflow needs no cache; one in motion is in it for about a second per message.
const CACHED_WORKFLOWS = 500;
// A workflow task that submits or notifies a webhook keeps its place until that is done. No more than a small server brings to
// their end within their time-out: 200 at 30 a second took 6.6 s each, timed out, and were taken again, for ever.
const WORKFLOW_TASKS = 60;
// Of the fixed default of ten pollers only two look for new workflows. While each start
// was waited for, 16 at once, two runs of 160 each on a busy machine: 99th percentile 545 and 577 ms with the default, 320 and 315 ms with
// this; the rate stayed the same.
const AUTOSCALED = { type: 'autoscaling' } as const;
// Each poller keeps a place while it waits, with as many for workflows in the cache: some have to be left to the tasks that
// come along with a start.
const WORKFLOW_POLLERS = { type: 'autoscaling', maximum: 10 } as const;
// Most of them wait for their receivers. Of one account no more than a tenth.
const WEBHOOKS_AT_ONCE = 1_000;

/** Starts all task queues of this process: workflows, webhooks, and the submits of every route. */
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
  // Bundled once, where it was not built ahead of time: that takes seconds.
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
type WorkflowOptions = SharedOptions & Required<Pick<SdkWorkerOptions, 'workflowBundle'>>;

function routesOf(
  { sql }: Servers,
  { reports, replyParts, emailEvents, routing, onReportError }: Pipeline,
  { secretsKey, shortUrl, log }: WorkerOptions,
  shared: SharedOptions,
  onBroken: (error: unknown) => void,
): RoutesOptions {
  return {
    ...{ sql, secretsKey, shortUrl, emailEvents },
    stores: {
      simulator: (route) => ({ ...simulatorStore(sql, route), ...simulatorMail(sql, route) }),
      lookups: { find: (route, id) => findLookupAnswer(sql, route, id) },
    },
    handlersOf: (route) => ({
      onReports: (found) => reports.receive(route, found),
      onReplies: async (found) => void (await keepReplies(sql, route, found)),
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
  { config, secretsKey }: WorkerOptions,
  shared: WorkflowOptions,
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
      ...notingSuccess(sql, {
        ...reconciliationActivities(sql, client),
        ...senderDomainActivities({ sql, secretsKey, dnsServers: config.DNS_SERVERS ?? null }),
        ...maintenanceActivities(sql, {
          contentDays: config.RETAIN_CONTENT_DAYS,
          logDays: config.RETAIN_LOG_DAYS ?? LOG_DAYS,
        }),
      }),
    },
  });
}
