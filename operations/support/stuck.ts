import type { Client, WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { statusesOf, STUCK_KINDS, type StuckFilter, type StuckKind } from '../../db/messages/stuck.ts';
import type { Sql } from '../../db/connection.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts.ts';
import { dateOf, describeWorkflow, taskAttempt } from './workflow.ts';

const WORKFLOW_KINDS = ['task', 'timer'] as const;
export type WorkflowKind = (typeof WORKFLOW_KINDS)[number];

export const KINDS = [...STUCK_KINDS, ...WORKFLOW_KINDS] as const;
type Kind = StuckKind | WorkflowKind;

/** Default of `--minutes`: how long before something counts as stuck. */
export const MINUTES: Readonly<Record<Kind, number>> = {
  overdue: 5,
  queued: 10,
  paused: 0,
  unanswered: 0,
  no_report: 24 * 60,
  email_queued: 10,
  email_unanswered: 0,
  webhook: 0,
  resend: 5,
  task: 1,
  timer: 5,
};

/** What the actions on many find their items by. */
export const STUCK_ACTIONS = {
  cancel: 'overdue',
  resubmit: 'unanswered',
  'give-up': 'unanswered',
  resend: 'webhook',
} as const satisfies Record<string, StuckKind>;
export type StuckAction = keyof typeof STUCK_ACTIONS;
export const STUCK_ACTION_NAMES = Object.keys(STUCK_ACTIONS) as StuckAction[];

interface StuckWorkflow {
  id: string;
  accountId: string | null;
  route: string | null;
  since: Date;
  how: StuckReason;
}

/** Its task fails, no worker picks it up, or it waits for the send time of a message that has another status. */
export type StuckReason =
  { is: 'failing'; attempt: number } | { is: 'untaken' } | { is: 'waiting'; status: string | null };

interface StuckWorkflows {
  things: StuckWorkflow[];
  looked: number;
  running: number;
}

// Workflows are described one by one, about a thousand in two seconds.
const LOOKED_MAX = 1_000;
const AT_ONCE = 20;
const { account, route: onRoute, status, sendTime } = SEARCH_ATTRIBUTES;

/** Finds workflows whose task keeps failing or is not picked up, by describing them one by one: Temporal has no query for that. */
export async function stuckTasks(client: Client, filter: StuckFilter): Promise<StuckWorkflows> {
  const before = `'${new Date(Date.now() - filter.minutes * 60_000).toISOString()}'`;
  const message = `WorkflowType = 'message' AND ${status.name}`;
  const suspicion = [
    `WorkflowType != 'message' AND StartTime < ${before}`,
    `${message} = 'scheduled' AND ${sendTime.name} < ${before}`,
    `${message} = 'queued' AND StartTime < ${before}`,
    `${message} IN ('sent', 'unanswered') AND StartTime < ${before}`,
  ];
  const found: StuckWorkflows = { things: [], looked: 0, running: 0 };
  for (const suspects of suspicion) {
    const query = queryOf(suspects, filter);
    found.running += (await client.workflow.count(query)).count;
    const ids = await listed(client, query, LOOKED_MAX - found.looked);
    found.looked += ids.length;
    for (let i = 0; i < ids.length; i += AT_ONCE) {
      const some = ids.slice(i, i + AT_ONCE).map(({ workflowId }) => describeWorkflow(client, workflowId));
      for (const one of await Promise.all(some)) {
        const stuck = one === null ? null : taskOf(one, filter.minutes);
        if (stuck !== null) found.things.push(stuck);
      }
    }
  }
  found.things.sort((one, other) => one.since.getTime() - other.since.getTime());
  return found;
}

/** Finds workflows that wait for a past send time while the database has another status for their message. */
export async function stuckTimers(sql: Sql, client: Client, filter: StuckFilter): Promise<StuckWorkflows> {
  const before = new Date(Date.now() - filter.minutes * 60_000).toISOString();
  const waiting = `WorkflowType = 'message' AND ${status.name} = 'scheduled' AND ${sendTime.name} < '${before}'`;
  const query = queryOf(waiting, filter);
  const { count: running } = await client.workflow.count(query);
  const workflows = await listed(client, query, LOOKED_MAX);
  const ids = workflows.map(({ workflowId }) => workflowId);
  const statuses = await statusesOf(sql, ids);
  const things = workflows.flatMap((workflow): StuckWorkflow[] => {
    const status = statuses.get(workflow.workflowId) ?? null;
    // Listed as `overdue`.
    if (status === 'scheduled') return [];
    const since = workflow.typedSearchAttributes.get(sendTime) ?? workflow.startTime;
    return [{ ...about(workflow), since, how: { is: 'waiting', status } }];
  });
  return { things, looked: workflows.length, running };
}

function queryOf(suspects: string, { accountId, route }: StuckFilter): string {
  return [
    "ExecutionStatus = 'Running'",
    suspects,
    ...(accountId === null ? [] : [`${account.name} = '${accountId}'`]),
    ...(route === null ? [] : [`${onRoute.name} = '${route}'`]),
  ].join(' AND ');
}

async function listed(client: Client, query: string, limit: number): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  if (limit <= 0) return found;
  for await (const workflow of client.workflow.list({ query, pageSize: Math.min(limit, 500) })) {
    found.push(workflow);
    if (found.length >= limit) break;
  }
  return found;
}

function taskOf(workflow: WorkflowExecutionDescription, minutes: number): StuckWorkflow | null {
  const task = workflow.raw.pendingWorkflowTask;
  const attempt = taskAttempt(workflow);
  if (!task || attempt === null) return null;
  const since = dateOf(task.originalScheduledTime ?? task.scheduledTime) ?? workflow.startTime;
  if (Date.now() - since.getTime() < minutes * 60_000) return null;
  const how: StuckReason = attempt > 1 ? { is: 'failing', attempt } : { is: 'untaken' };
  return { ...about(workflow), since, how };
}

function about(workflow: Pick<WorkflowExecutionInfo, 'workflowId' | 'typedSearchAttributes'>): {
  id: string;
  accountId: string | null;
  route: string | null;
} {
  const attributes = workflow.typedSearchAttributes;
  return {
    id: workflow.workflowId,
    accountId: attributes.get(account) ?? null,
    route: attributes.get(onRoute) ?? null,
  };
}
