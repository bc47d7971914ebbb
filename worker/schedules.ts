import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type ScheduleOptions,
} from '@temporalio/client';
import type { Logger } from 'pino';
import type { maintenanceActivities } from '../activities/maintenance.ts';
import type { reconciliationActivities } from '../activities/reconciliation.ts';
import type { senderDomainActivities } from '../activities/senderDomains.ts';
import type { statementActivities } from '../activities/statements.ts';
import { repeat } from '../concurrency/tasks.ts';
import type { Database } from '../db/connection.ts';
import { expectRegularWork } from '../db/maintenance/regularWork.ts';
import { MESSAGES_QUEUE } from '../workflows/contracts.ts';

type Step =
  | keyof ReturnType<typeof reconciliationActivities>
  | keyof ReturnType<typeof maintenanceActivities>
  | keyof ReturnType<typeof senderDomainActivities>
  | keyof ReturnType<typeof statementActivities>;

interface RegularWork {
  /** Schedule id; runs append their time: `clean-up-2027-01-04T08:07:00Z`. */
  id: string;
  workflow: string;
  spec: ScheduleOptions['spec'];
  intervalSeconds: number;
  /** How late a run missed while Temporal was down is made up for. */
  catchupWindow: '1m' | '12h';
  /** The activities of a run, each monitored for its last success. */
  steps: readonly Step[];
  summary: string;
  note: string;
}

const REGULAR_WORK: readonly RegularWork[] = [
  {
    id: 'reconciliation',
    workflow: 'reconciliation',
    spec: { intervals: [{ every: '10m' }] },
    intervalSeconds: 600,
    catchupWindow: '1m',
    steps: ['reconcileOpen', 'reconcileEvents', 'reconcileLeftovers', 'reconcileLedgers'],
    summary: 'Ledger, messages and workflows against one another',
    note: 'Every 10 minutes. After a restore from a backup, pause it once Temporal runs and before any worker starts.',
  },
  {
    id: 'clean-up',
    workflow: 'cleanUp',
    spec: { intervals: [{ every: '1h', offset: '7m' }] },
    intervalSeconds: 3_600,
    catchupWindow: '1m',
    steps: ['deleteLeftovers'],
    summary: 'Old idempotency records and logs are deleted',
    note: 'Every hour.',
  },
  {
    id: 'sender-domains',
    workflow: 'senderDomains',
    spec: { intervals: [{ every: '1h', offset: '23m' }] },
    intervalSeconds: 3_600,
    catchupWindow: '1m',
    steps: ['checkSenderDomains'],
    summary: 'DNS records of sender domains',
    note: 'Every hour. What is gone twice in a row makes a domain lost.',
  },
  {
    id: 'retention',
    workflow: 'retention',
    // The quietest hour.
    spec: { calendars: [{ hour: 3, minute: 17 }], timezone: 'Europe/Warsaw' },
    intervalSeconds: 86_400,
    // The next run is a day away.
    catchupWindow: '12h',
    steps: ['eraseContents'],
    summary: 'Old texts and numbers are erased',
    note: 'Every night, until nothing is left; without RETAIN_CONTENT_DAYS only what an erased person’s open messages left.',
  },
  {
    id: 'statements',
    workflow: 'statements',
    // The first of a month matters; later days make up for it, and for what staff issued.
    spec: { calendars: [{ hour: 6, minute: 11 }], timezone: 'Europe/Warsaw' },
    intervalSeconds: 86_400,
    catchupWindow: '12h',
    steps: ['issueStatements', 'documentStatements'],
    summary: 'Statements of last month, and their documents',
    note: 'Every morning, for those that are missing. Trigger it for the documents of a statement that staff have issued.',
  },
];

// Temporal may not be ready yet, or reject this process for a while.
const AGAIN_MS = 60_000;
const ANSWER_MS = 10_000;
const UNIMPLEMENTED = 12;

/** Creates or updates the schedules, keeping staff's pauses and notes. Retried in the background: the worker starts without waiting. */
export function keepSchedules(sql: Database, client: Client, log: Logger): { stop(): Promise<void> } {
  let done = false;
  return repeat(
    AGAIN_MS,
    async () => {
      if (done) return;
      await client.withDeadline(Date.now() + ANSWER_MS, () => ensureSchedules(client));
      await expectRegularWork(
        sql,
        REGULAR_WORK.flatMap(({ id: schedule, intervalSeconds, steps }) =>
          steps.map((activity) => ({ activity, schedule, intervalSeconds })),
        ),
      );
      done = true;
    },
    (error) => {
      // Not retried: this server does not support schedules.
      done = isUnimplemented(error);
      log[done ? 'info' : 'warn']({ err: error }, 'schedules: not created');
    },
  );
}

export async function ensureSchedules(client: Client): Promise<void> {
  for (const work of REGULAR_WORK) await ensureSchedule(client, optionsOf(work));
}

async function ensureSchedule(client: Client, options: ScheduleOptions): Promise<void> {
  try {
    await client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec, action, policies } = options;
    await client.schedule
      .getHandle(options.scheduleId)
      .update(({ state, typedSearchAttributes }) => ({
        spec,
        action,
        state,
        typedSearchAttributes,
        ...(policies === undefined ? {} : { policies }),
      }));
  }
}

function optionsOf({ id, workflow, spec, catchupWindow, summary, note }: RegularWork): ScheduleOptions {
  return {
    scheduleId: id,
    spec,
    action: {
      type: 'startWorkflow',
      workflowType: workflow,
      workflowId: id,
      taskQueue: MESSAGES_QUEUE,
      args: [],
      staticSummary: summary,
    },
    // Missed runs are made up for by one: it covers everything since the last.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow },
    state: { note },
  };
}

function isUnimplemented(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && cause.code === UNIMPLEMENTED) return true;
  }
  return false;
}
