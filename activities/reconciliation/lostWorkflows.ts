import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../../db/connection.ts';
import {
  closeFindings,
  type Finding,
  type FindingKind,
  hasRepaired,
  mayRestart,
  recordRepair,
  reportFinding,
  timesRepaired,
} from '../../db/maintenance/findings.ts';
import { noteOutcomeAgain } from '../../db/incoming/outcomes.ts';
import { openAmong, type OpenBatch, type OpenMessage } from '../../db/messages/openMessages.ts';
import { resumePausedAgain } from '../../db/messages/paused.ts';
import { transaction } from '../../db/transaction.ts';
import { unnotifiedClicks, unnotifiedReplies } from '../../db/webhooks/unnotified.ts';
import { isId } from '../../domain/ids.ts';
import {
  batchRestart,
  clickStart,
  inboundStart,
  messageRestart,
  TO_TELL,
} from '../../workflows/startOptions.ts';
import { currentRun } from './judging.ts';

/**
 * What came of looking at something: nothing new, it is on its way and has to be looked at again, it was put right, a person
 * has to look at it from now on, or it would be put right if this run had not started so many workflows again already.
 */
export type Verdict = 'nothing' | 'waiting' | 'repaired' | 'reported' | 'capped';

// One that is lost again and again fails by itself: starting it once more would not help.
const REPAIRS_MAX = 3;
/** Kinds of findings that have the id of a message, or of a click or reply whose event was not delivered. */
export const ABOUT_WORKFLOWS = [
  'workflow_lost',
  'workflow_late',
  'workflow_ended',
  'resume_lost',
  'events_left',
] as const;
/** Kinds of findings that have the id of a request. */
export const ABOUT_BATCHES = ['batch_lost'] as const;

// The webhooks' queue may be long, and a receiver slow: its workflow is at it.
const NOTIFYING = 'deliverWebhook';
// Its route's queue may be long.
const SUBMITTING = 'submit';

type WorkflowState =
  'running' | 'completed' | 'missing' | 'terminated' | 'failed' | 'timed_out' | 'cancelled';

/**
 * Deciding on messages and others whose workflow may be lost.
 * @param restartsPerRun how many one run of the reconciliation starts or signals again at most: where a worker was pointed at an empty
 *   Temporal by mistake, all seem lost
 */
export function lostWorkflows(sql: Database, client: Client, restartsPerRun: number) {
  /** As Temporal itself has it: its lists may be some seconds behind. */
  async function lookAt(
    workflowId: string,
  ): Promise<{ state: WorkflowState; notifying: boolean; submitting: boolean }> {
    try {
      const { status, raw } = await client.workflow.getHandle(workflowId).describe();
      const state =
        status.name === 'CONTINUED_AS_NEW' ? 'running' : (status.name.toLowerCase() as WorkflowState);
      // Of one that was ended by hand they are listed as well.
      const steps = state === 'running' ? (raw.pendingActivities ?? []) : [];
      const isAt = (name: string): boolean => steps.some(({ activityType }) => activityType?.name === name);
      return { state, notifying: isAt(NOTIFYING), submitting: isAt(SUBMITTING) };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError)
        return { state: 'missing', notifying: false, submitting: false };
      throw error;
    }
  }

  const stateOf = async (workflowId: string): Promise<WorkflowState> => (await lookAt(workflowId)).state;

  /** Notes the repair, then makes it: one that is cut off is noted, and made by the next run. */
  async function repair(finding: Finding, action: string, make: () => Promise<unknown>): Promise<Verdict> {
    if ((await timesRepaired(sql, finding.kind, finding.subject)) >= REPAIRS_MAX) {
      return report(finding);
    }
    const run = currentRun();
    const allowed = await transaction(sql, async (tx) => {
      if (!(await mayRestart(tx, run, restartsPerRun))) return false;
      await recordRepair(tx, action, { ...finding, details: { ...finding.details, run } });
      return true;
    });
    if (!allowed) return 'capped';
    try {
      await make();
    } catch (error) {
      // Somebody was faster.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    return 'repaired';
  }

  async function report(finding: Finding): Promise<Verdict> {
    return (await reportFinding(sql, finding)) ? 'reported' : 'nothing';
  }

  async function wellAgain(id: string, kinds: readonly FindingKind[] = ABOUT_WORKFLOWS): Promise<Verdict> {
    await closeFindings(sql, kinds, [id]);
    return 'nothing';
  }

  /** Looks at messages that are not final, or whose events were not all delivered. Whatever is well costs one question. */
  async function judgeMessage(id: string): Promise<Verdict> {
    const { state, notifying, submitting } = await lookAt(id);
    // Read after that: a workflow that has just ended has written its end before.
    const [message] = await openAmong(sql, [id]);
    if (message === undefined) return wellAgain(id);
    const { accountId, status, submission } = message;
    const about = { subject: id, accountId, details: { workflow: state, status, submission } };
    if (state === 'running') {
      if (message.late) return report({ kind: 'workflow_late', ...about });
      if (message.resumeLate && !submitting) {
        // In a restored Temporal it waits for what it was signalled before.
        return repair({ kind: 'resume_lost', ...about }, 'resumed again', () => resumePausedAgain(sql, [id]));
      }
      if (!message.eventsLate) return wellAgain(id);
      if (notifying || message.outcomeWaits) return 'waiting';
      // In a restored Temporal it waits for what it was signalled before.
      return repair({ kind: 'events_left', ...about }, 'outcome signalled again', () =>
        noteOutcomeAgain(sql, id),
      );
    }
    if (state === 'completed' && !message.eventsLeft) return report({ kind: 'workflow_ended', ...about });
    // Its batch comes to it yet.
    const batched = state === 'missing' && message.batched && ['scheduled', 'queued'].includes(status);
    if (batched && (await stateOf(message.requestId)) === 'running') return 'waiting';
    const kind = state === 'completed' ? 'events_left' : 'workflow_lost';
    const again = message.eventsLeft ? TO_TELL : {};
    return repair({ kind, ...about }, 'message workflow started again', () =>
      client.workflow.start('message', { ...messageRestart(message), ...again }),
    );
  }

  async function judgeBatch(batch: OpenBatch): Promise<Verdict> {
    const state = await stateOf(batch.requestId);
    if (state === 'running' || state === 'completed') return wellAgain(batch.requestId, ABOUT_BATCHES);
    const details = { workflow: state, recipients: batch.recipients };
    const finding: Finding = {
      kind: 'batch_lost',
      subject: batch.requestId,
      accountId: batch.accountId,
      details,
    };
    return repair(finding, 'batch workflow started again', () =>
      client.workflow.start('batch', batchRestart(batch)),
    );
  }

  /** Looks at a click or a reply whose event may not have been delivered. */
  async function judgeUnnotified(type: 'click' | 'inbound', id: string): Promise<Verdict> {
    const { state, notifying } = await lookAt(id);
    const [unnotified] = await (type === 'click'
      ? unnotifiedClicks(sql, [id])
      : unnotifiedReplies(sql, [id]));
    if (unnotified === undefined || (state === 'running' && !unnotified.late)) return wellAgain(id);
    if (notifying) return 'waiting';
    const { accountId } = unnotified;
    const finding: Finding = { kind: 'events_left', subject: id, accountId, details: { workflow: state } };
    if (state === 'running') return report(finding);
    return repair(finding, `${type} workflow started again`, () =>
      type === 'click'
        ? client.workflow.start('click', { ...clickStart({ id, accountId }), ...TO_TELL })
        : client.workflow.start('inbound', { ...inboundStart(id), ...TO_TELL }),
    );
  }

  /** Looks at what an id stands for: a message, a click or a reply. What this run has repaired, the next one looks at. */
  async function judge(id: string): Promise<Verdict> {
    if (await hasRepaired(sql, currentRun(), ABOUT_WORKFLOWS, id)) return 'waiting';
    if (isId('clk', id)) return await judgeUnnotified('click', id);
    return await (isId('in', id) ? judgeUnnotified('inbound', id) : judgeMessage(id));
  }

  /** Of open messages those that Temporal lists no running workflow for, or that are late: the ones to look at. */
  async function suspects(messages: readonly OpenMessage[]): Promise<string[]> {
    if (messages.length === 0) return [];
    const ids = messages.map(({ id }) => `'${id}'`).join(', ');
    const running = new Set<string>();
    const query = `WorkflowId IN (${ids}) AND ExecutionStatus = 'Running'`;
    for await (const { workflowId } of client.workflow.list({ query, pageSize: messages.length })) {
      running.add(workflowId);
    }
    return messages
      .filter(({ id, late, resumeLate }) => late || resumeLate || !running.has(id))
      .map(({ id }) => id);
  }

  return { judge, judgeBatch, suspects };
}
