import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import type { TimelineEntry } from '../../domain/timeline.ts';
import { outcomeUpdate } from '../../workflows/contracts.ts';
import { faultOf } from '../staff.ts';

const ANSWER_WITHIN_MS = 5_000;
const WORKER_WITHIN_MS = 3_000;
const DESCRIBED_AT_ONCE = 10;
const FAILURE_LENGTH = 300;
// A message's history has some tens of events; see the Temporal UI for longer ones.
const HISTORY_MAX = 5_000;

// temporal.api.enums.v1.PendingActivityState.
const PENDING: Readonly<Record<number, PendingActivity['state']>> = { 2: 'started', 3: 'cancel requested' };

interface PendingActivity {
  activity: string;
  /** `scheduled`: waits for a worker or its next attempt. */
  state: 'scheduled' | 'started' | 'cancel requested';
  attempt: number;
  since: Date | null;
  nextAttempt: Date | null;
  /** The error message: third-party text. */
  lastFailure: string | null;
  worker: string | null;
}

export interface WorkflowView {
  status: string;
  started: Date;
  closed: Date | null;
  /** In the workflow's own words; null if no worker answered. */
  waitsFor: string | null;
  /** Above 1 its workflow task is failing; null if none is pending. */
  taskAttempt: number | null;
  pending: PendingActivity[];
}

/** Describes a message's workflow. @returns null if it was never started or is past its retention */
export async function viewWorkflow(client: Client, id: string): Promise<WorkflowView | null> {
  const found = await describeWorkflow(client, id);
  if (found === null) return null;
  return {
    status: found.status.name,
    started: found.startTime,
    closed: found.closeTime ?? null,
    waitsFor: found.status.name === 'RUNNING' ? await currentDetails(client, id) : null,
    taskAttempt: taskAttempt(found),
    pending: (found.raw.pendingActivities ?? []).map((activity) => ({
      activity: activity.activityType?.name ?? '?',
      state: PENDING[activity.state ?? 0] ?? 'scheduled',
      attempt: activity.attempt ?? 1,
      since: dateOf(activity.lastStartedTime ?? activity.scheduledTime),
      nextAttempt: dateOf(activity.nextAttemptScheduleTime),
      lastFailure: failureText(activity.lastFailure),
      worker: activity.lastWorkerIdentity || null,
    })),
  };
}

/** What Temporal knows of a message or an e-mail. */
export interface KnownWorkflow {
  /** Null: it was never started, is past its retention, or Temporal could not be asked. */
  view: WorkflowView | null;
  entries: TimelineEntry[];
  /** Why Temporal could not be asked: third-party text; null: it was. */
  fault: string | null;
}

/** Reads a workflow with its history; whoever asks goes on without Temporal. */
export async function readWorkflow(temporal: () => Promise<Client>, id: string): Promise<KnownWorkflow> {
  try {
    const client = await temporal();
    const view = await viewWorkflow(client, id);
    return { view, entries: view === null ? [] : await workflowEntries(client, id), fault: null };
  } catch (error) {
    return { view: null, entries: [], fault: faultOf(error) };
  }
}

/** @returns null if Temporal has no workflow with this id */
export async function describeWorkflow(
  client: Client,
  id: string,
): Promise<WorkflowExecutionDescription | null> {
  try {
    return await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow.getHandle(id).describe(),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Attempts of the pending workflow task; null if none is pending. */
export function taskAttempt({ raw }: WorkflowExecutionDescription): number | null {
  return raw.pendingWorkflowTask?.attempt ?? null;
}

/** Temporal's status in lower case; `none` without a workflow, `failing` if its task keeps failing. */
export type WorkflowState = { is: string } | { is: 'failing'; attempt: number };

/** Workflow states by id. */
export async function workflowStates(
  client: Client,
  ids: readonly string[],
): Promise<Map<string, WorkflowState>> {
  const states = new Map<string, WorkflowState>();
  for (let i = 0; i < ids.length; i += DESCRIBED_AT_ONCE) {
    const some = ids.slice(i, i + DESCRIBED_AT_ONCE);
    const found = await Promise.all(some.map((id) => stateOf(client, id)));
    some.forEach((id, index) => states.set(id, found[index] ?? { is: 'none' }));
  }
  return states;
}

async function stateOf(client: Client, id: string): Promise<WorkflowState> {
  const found = await describeWorkflow(client, id);
  if (found === null) return { is: 'none' };
  const attempt = taskAttempt(found);
  if (attempt !== null && attempt > 1) return { is: 'failing', attempt };
  return { is: found.status.name.toLowerCase() };
}

/** Events found only in the workflow's history: signals, updates, timers, failures. */
export async function workflowEntries(client: Client, id: string): Promise<TimelineEntry[]> {
  const { events } = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    client.workflow.getHandle(id).fetchHistory(),
  );
  return (events ?? []).slice(0, HISTORY_MAX).flatMap((event) => {
    const fact = factOf(event);
    const at = dateOf(event.eventTime);
    return fact === null || at === null ? [] : [{ at, kind: 'workflow', facts: fact }];
  });
}

type HistoryEvent = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>[number];

function factOf(event: HistoryEvent): TimelineEntry['facts'] | null {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal) return { signal: signal.signalName ?? '' };
  const update = event.workflowExecutionUpdateAcceptedEventAttributes;
  if (update) return updateFact(update.acceptedRequest?.input?.name ?? '');
  const failed = event.workflowTaskFailedEventAttributes;
  if (failed) return { task_failed: failureText(failed.failure) ?? '' };
  const late = event.activityTaskTimedOutEventAttributes;
  if (late) return { activity_timed_out: failureText(late.failure) ?? '' };
  const broken = event.activityTaskFailedEventAttributes;
  if (broken) return { activity_failed: failureText(broken.failure) ?? '' };
  if (event.workflowExecutionStartedEventAttributes) return { state: 'started' };
  if (event.workflowExecutionCancelRequestedEventAttributes) return { state: 'cancel requested' };
  if (event.workflowExecutionCompletedEventAttributes) return { state: 'completed' };
  if (event.workflowExecutionCanceledEventAttributes) return { state: 'cancelled' };
  if (event.workflowExecutionTimedOutEventAttributes) return { state: 'timed out' };
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated) return { state: 'terminated', reason: short(terminated.reason ?? '') };
  const ended = event.workflowExecutionFailedEventAttributes;
  if (ended) return { state: 'failed', failure: failureText(ended.failure) ?? '' };
  return null;
}

async function currentDetails(client: Client, id: string): Promise<string | null> {
  try {
    const metadata = await client.withDeadline(Date.now() + WORKER_WITHIN_MS, () =>
      client.workflow.getHandle(id).query<{ currentDetails?: string | null }>('__temporal_workflow_metadata'),
    );
    return metadata.currentDetails || null;
  } catch {
    return null;
  }
}

interface Failure {
  message?: string | null;
  cause?: Failure | null;
}

// The outer message of a failed activity says only that it failed; the cause says why.
function failureText(failure: Failure | null | undefined): string | null {
  if (!failure) return null;
  const why = failure.cause?.message;
  return short([failure.message, why].filter((text) => text).join(': '));
}

function short(text: string): string {
  return text.slice(0, FAILURE_LENGTH);
}

export function dateOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): Date | null {
  if (!time) return null;
  const ms = Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6);
  // The epoch stands for "not set".
  return ms <= 0 ? null : new Date(ms);
}

/** The outcome update is sent like a signal, without waiting for a result. */
function updateFact(update: string): TimelineEntry['facts'] {
  return update === outcomeUpdate.name ? { signal: update } : { asked: update };
}
