import { Worker, type WorkerOptions as SdkWorkerOptions } from '@temporalio/worker';
import { batchActivities } from '../activities/batch.ts';
import { billingActivities } from '../activities/billing.ts';
import { emailBillingActivities } from '../activities/email.ts';
import { inboundActivities } from '../activities/inbound.ts';
import { linkActivities } from '../activities/links.ts';
import { lookupBillingActivities } from '../activities/lookup.ts';
import { LOG_DAYS, maintenanceActivities } from '../activities/maintenance.ts';
import { messageActivities } from '../activities/messages.ts';
import { senderDomainActivities } from '../activities/senderDomains.ts';
import { reconciliationActivities } from '../activities/reconciliation/reconciliation.ts';
import { notingSuccess } from '../activities/regularWork.ts';
import { quickSubmissionActivities } from '../activities/submission.ts';
import {
  quickWebhookActivities,
  webhookActivities,
  webhookClosingActivities,
} from '../activities/webhooks.ts';
import { findLookupAnswer } from '../db/lookups/lookupAnswers.ts';
import { simulatorStore } from '../db/routes/simulator.ts';
import { simulatorMail } from '../db/routes/simulatorMail.ts';
import { notifyInOrder } from '../pipeline/webhookAttempts.ts';
import { createStartGap, type StartGap } from '../pipeline/startGap.ts';
import { createStartTurns } from '../pipeline/startTurns.ts';
import { activityTraces, workflowTraces } from '../telemetry/temporalTraces.ts';
import { ACCEPTS_QUEUE, MESSAGES_QUEUE, WEBHOOKS_QUEUE } from '../workflows/contracts.ts';
import { workflowBundle as workflowsOf } from './bundle.ts';
import { activityLogIds } from './logIds.ts';
import { startLoops } from './loops.ts';
import { createPipeline, type Pipeline } from './pipeline.ts';
import { runRoutes } from './routes.ts';
import type { RoutesOptions } from './runningRoute.ts';
import { installRuntime } from './runtime.ts';
import { keepSchedules } from './schedules.ts';
import { connect, type Servers, type WorkerOptions } from './servers.ts';
import { usableArguments } from './usableArguments.ts';

export interface RunningWorker {
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
// Of the fixed default of ten pollers only two look for new workflows. Bare accepts, 16 at once, two runs of 160 each on
// a busy machine: 99th percentile 545 and 577 ms with the default, 320 and 315 ms with this; the rate stayed the same.
const AUTOSCALED = { type: 'autoscaling' } as const;
// Each poller keeps a place while it waits, with as many for workflows in the cache: some have to be left to the tasks that
// come along with a start.
const WORKFLOW_POLLERS = { type: 'autoscaling', maximum: 10 } as const;
// A batch takes its turn at starting its messages: many of one account must not keep another's from being taken up.
const BATCHES = 500;
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
  const startGap = createStartGap();
  const routes = await runRoutes(routesOf(servers, pipeline, options, shared, breakDown));
  const steps: SharedSteps = {
    startGap,
    batches: batchActivities(servers.sql, servers.client, createStartTurns(startGap)),
    submits: quickSubmissionActivities(
      (name) => routes.atHand(name),
      (events) => notifyInOrder(pipeline.notifying, events),
    ),
  };
  // Bundled once, where it was not built ahead of time: that takes seconds.
  const workflowBundle = await workflowsOf(options.config.WORKFLOW_CALL_STACKS);
  const workers = await Promise.all([
    workflowWorker(servers, pipeline, steps, options, { ...shared, workflowBundle }),
    acceptsWorker(servers, pipeline, steps, { ...shared, workflowBundle }),
    Worker.create({
      ...shared,
      taskQueue: WEBHOOKS_QUEUE,
      maxConcurrentActivityTaskExecutions: WEBHOOKS_AT_ONCE,
      activities: webhookActivities(pipeline.notifying),
    }),
  ]);
  const loops = startLoops(servers, pipeline, options);
  const schedules = keepSchedules(servers.sql, servers.client, log);
  const runs = Promise.all(workers.map((worker) => worker.run()));

  return {
    finished: Promise.race([runs.then(() => undefined), broken]),
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await routes.stop();
      await runs.catch(() => undefined);
      await loops.stop();
      await pipeline.replies.settled();
      await schedules.stop();
      await pipeline.notifying.outgoing.close();
      await servers.close();
    },
  };
}

/** What the workers of both workflow queues share: whoever starts or submits takes turns and places with the other. */
interface SharedSteps {
  startGap: StartGap;
  batches: ReturnType<typeof batchActivities>;
  submits: ReturnType<typeof quickSubmissionActivities>;
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
  { reports, replies, replyParts, emailEvents, routing, onReportError }: Pipeline,
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
      onReplies: (found) => replies.receive(route, found),
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

/**
 * The worker of what somebody waits for. Beside messages that nobody waits for, which keep their places while they are submitted, a charge
 * would wait for a place, and for its turn in the one thread that workflow code runs in.
 */
async function acceptsWorker(
  { sql, front }: Servers,
  { notifying, routing }: Pipeline,
  { startGap, batches, submits }: SharedSteps,
  shared: WorkflowOptions,
): Promise<Worker> {
  return await Worker.create({
    ...shared,
    taskQueue: ACCEPTS_QUEUE,
    ...workflowTraces(),
    maxCachedWorkflows: CACHED_WORKFLOWS,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    maxConcurrentLocalActivityExecutions: WORKFLOW_TASKS,
    maxConcurrentActivityTaskExecutions: BATCHES,
    activities: {
      submitAtOnce: submits.submitAtOnce,
      startGathered: (requestIds: readonly string[]) => batches.startGathered(requestIds),
      ...stepsInTask({ sql, notifying, routing }),
      ...billingActivities(sql, front, startGap),
      ...emailBillingActivities(sql),
    },
  });
}

/** What workflows do within their tasks, whoever waits for them. */
function stepsInTask({
  sql,
  notifying,
  routing,
}: Pick<Servers, 'sql'> & Pick<Pipeline, 'notifying' | 'routing'>) {
  return {
    ...billingActivities(sql),
    ...messageActivities(sql, routing),
    ...webhookClosingActivities(sql),
    ...quickWebhookActivities(notifying),
  };
}

async function workflowWorker(
  { sql, client }: Servers,
  { notifying, routing }: Pipeline,
  { batches, submits }: SharedSteps,
  { config, secretsKey }: WorkerOptions,
  shared: WorkflowOptions,
): Promise<Worker> {
  return await Worker.create({
    ...shared,
    taskQueue: MESSAGES_QUEUE,
    ...workflowTraces(),
    maxCachedWorkflows: CACHED_WORKFLOWS,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    maxConcurrentLocalActivityExecutions: WORKFLOW_TASKS,
    maxConcurrentActivityTaskExecutions: BATCHES,
    activities: {
      ...stepsInTask({ sql, notifying, routing }),
      submitInTask: submits.submitInTask,
      ...batches,
      ...lookupBillingActivities(sql),
      ...emailBillingActivities(sql),
      ...linkActivities(sql),
      ...inboundActivities(sql),
      ...notingSuccess(sql, {
        ...reconciliationActivities(sql, client, {
          restartsPerRun: config.RECONCILE_RESTARTS,
          alerts: config.ALERT_EMAIL !== undefined,
        }),
        ...senderDomainActivities({ sql, client, secretsKey, dnsServers: config.DNS_SERVERS ?? null }),
        ...maintenanceActivities(sql, {
          contentDays: config.RETAIN_CONTENT_DAYS,
          logDays: config.RETAIN_LOG_DAYS ?? LOG_DAYS,
        }),
      }),
    },
  });
}
