import { Context } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import {
  closeFindings,
  type Finding,
  mayRestart,
  recordRepair,
  reportFinding,
  timesMended,
} from '../db/maintenance/findings.ts';
import { openAmong, type OpenBatch, type OpenMessage } from '../db/messages/openMessages.ts';
import { transaction } from '../db/transaction.ts';
import { batchRestart, clickStart, inboundStart, messageRestart } from '../workflows/startOptions.ts';

/**
 * What came of looking at something: nothing new, it was put right, a person has to look at it from now on, or it would be
 * put right if this run had not started so many workflows again already.
 */
export type Verdict = 'nothing' | 'mended' | 'reported' | 'capped';

// One that is lost again and again fails by itself: starting it once more would not help.
const MENDED_AT_MOST = 3;
/** Kinds of findings that have a message's id. */
export const ABOUT_MESSAGES = ['workflow_lost', 'workflow_late', 'workflow_ended', 'events_left'] as const;

type WorkflowState =
  'running' | 'completed' | 'missing' | 'terminated' | 'failed' | 'timed_out' | 'cancelled';

/**
 * Deciding on messages and others whose workflow may be lost.
 * @param restartsPerRun how many one run of the reconciliation starts again at most: where a worker was pointed at an empty
 *   Temporal by mistake, all seem lost
 */
export function lostWorkflows(sql: Database, client: Client, restartsPerRun: number) {
  /** As Temporal itself has it: its lists may be some seconds behind. */
  async function stateOf(workflowId: string): Promise<WorkflowState> {
    try {
      const { status } = await client.workflow.getHandle(workflowId).describe();
      return status.name === 'CONTINUED_AS_NEW' ? 'running' : (status.name.toLowerCase() as WorkflowState);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'missing';
      throw error;
    }
  }

  /** Notes the repair, then makes it: one that is cut off is noted, and made by the next run. */
  async function restart(finding: Finding, action: string, start: () => Promise<unknown>): Promise<Verdict> {
    if ((await timesMended(sql, finding.kind, finding.subject)) >= MENDED_AT_MOST) {
      return report(finding);
    }
    const run = Context.current().info.workflowExecution?.runId ?? '';
    const allowed = await transaction(sql, async (tx) => {
      if (!(await mayRestart(tx, run, restartsPerRun))) return false;
      await recordRepair(tx, action, { ...finding, details: { ...finding.details, run } });
      return true;
    });
    if (!allowed) return 'capped';
    try {
      await start();
    } catch (error) {
      // Somebody was faster.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    return 'mended';
  }

  async function report(finding: Finding): Promise<Verdict> {
    return (await reportFinding(sql, finding)) ? 'reported' : 'nothing';
  }

  /** Looks at messages that are not final, or whose events were not all told. Whatever is well costs one question. */
  async function judgeMessage(id: string): Promise<Verdict> {
    const state = await stateOf(id);
    // Read after that: a workflow that has just ended has written its end before.
    const [message] = await openAmong(sql, [id]);
    if (message === undefined || (state === 'running' && !message.late)) {
      await closeFindings(sql, ABOUT_MESSAGES, [id]);
      return 'nothing';
    }
    const { accountId, status, submission } = message;
    const about = { subject: id, accountId, details: { workflow: state, status, submission } };
    if (state === 'running') return report({ kind: 'workflow_late', ...about });
    if (state === 'completed')
      return report({ kind: message.eventsLeft ? 'events_left' : 'workflow_ended', ...about });
    // Its batch comes to it yet.
    if (state === 'missing' && message.batched && (await stateOf(message.requestId)) === 'running')
      return 'nothing';
    return restart({ kind: 'workflow_lost', ...about }, 'message workflow started again', () =>
      client.workflow.start('message', messageRestart(message)),
    );
  }

  async function judgeBatch(batch: OpenBatch): Promise<Verdict> {
    const state = await stateOf(batch.requestId);
    if (state === 'running' || state === 'completed') return 'nothing';
    const details = { workflow: state, recipients: batch.recipients };
    const finding: Finding = {
      kind: 'batch_lost',
      subject: batch.requestId,
      accountId: batch.accountId,
      details,
    };
    return restart(finding, 'batch workflow started again', () =>
      client.workflow.start('batch', batchRestart(batch)),
    );
  }

  /** A click or a reply whose event nobody was told of. */
  async function judgeUntold(
    type: 'click' | 'inbound',
    { id, accountId }: { id: string; accountId: string },
  ): Promise<Verdict> {
    const state = await stateOf(id);
    if (state === 'running') return 'nothing';
    const finding: Finding = { kind: 'events_left', subject: id, accountId, details: { workflow: state } };
    if (state === 'completed') return report(finding);
    return restart(finding, `${type} workflow started again`, () =>
      type === 'click'
        ? client.workflow.start('click', clickStart({ id, accountId }))
        : client.workflow.start('inbound', inboundStart(id)),
    );
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
    return messages.filter(({ id, late }) => late || !running.has(id)).map(({ id }) => id);
  }

  return { judgeMessage, judgeBatch, judgeUntold, suspects };
}
