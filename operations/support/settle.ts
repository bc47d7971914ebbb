import type { Client } from '@temporalio/client';
import type { Sql } from '../../db/connection.ts';
import { giveUpEmail } from '../../db/emails/handOver.ts';
import { type EmailHead, readEmailHead } from '../../db/emails/reads.ts';
import {
  closeFindings,
  dismissFinding as storeDismissal,
  type FindingRow,
  hasEndedBefore,
} from '../../db/maintenance/findings.ts';
import { settleSent, settleUnsent } from '../../db/messages/settled.ts';
import { lockMessage } from '../../db/messages/submissions.ts';
import { readSubmission } from '../../db/messages/unanswered.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { type ActRecord, faultOf, recorded } from '../staff.ts';
import { describeWorkflow } from './workflow.ts';

const SETTLE = { sent: settleSent, unsent: settleUnsent } as const;

/**
 * Settles a message whose workflow has completed while it is still open, as after restoring only the database. `sent`: it stays paid until
 * its report or expiry, and the reconciliation starts a workflow that follows it. `unsent`: it is cancelled or failed, and refunded.
 * @throws StaffRefused message_missing, message_not_open, message_with_workflow, message_not_ended, message_not_due;
 *   decision_not_carried_out if Temporal does not answer
 */
export const settle = recorded(
  'messages settle',
  async (tx, { id, as }: { id: string; as: keyof typeof SETTLE }, { services }) => {
    await openMessage(tx, id);
    const running = await hasRunningWorkflow(await services.temporal(), id);
    // Lock and read again after that check: a workflow that has just ended wrote the final status first.
    await lockMessage(tx, id);
    const { accountId: account, status: was, submission } = await requireSettleable(tx, id, running);
    const status = await SETTLE[as](tx, id);
    if (status === null) throw new StaffRefused({ reason: 'message_not_due', message: id });
    await closeFindings(tx, ['workflow_ended'], [id]);
    return { data: { status }, account, subject: id, details: { as, was, submission } };
  },
);

/** @param running whether its workflow runs @throws StaffRefused for a message that cannot be settled */
export async function requireSettleable(tx: Sql, id: string, running: boolean) {
  const message = await openMessage(tx, id);
  if (running) throw new StaffRefused({ reason: 'message_with_workflow', message: id });
  if (!(await hasEndedBefore(tx, id))) throw new StaffRefused({ reason: 'message_not_ended', message: id });
  return message;
}

async function openMessage(tx: Sql, id: string) {
  const message = await readSubmission(tx, id);
  if (message === undefined) throw new StaffRefused({ reason: 'message_missing', message: id });
  const { status } = message;
  if (status !== 'scheduled' && status !== 'queued')
    throw new StaffRefused({ reason: 'message_not_open', message: id, status });
  return message;
}

async function hasRunningWorkflow(client: Client, id: string): Promise<boolean> {
  try {
    return (await describeWorkflow(client, id))?.status.name === 'RUNNING';
  } catch (error) {
    throw new StaffRefused({ reason: 'decision_not_carried_out', fault: faultOf(error) }, undefined, error);
  }
}

/**
 * Fails and refunds an e-mail that is not submitted, or whose submission is unanswered (recipients may have got it).
 * @throws StaffRefused email_missing, email_not_waiting
 */
export const giveUpEmailForStaff = recorded('emails give-up', async (tx, { id }: { id: string }) => {
  const email = await readEmailHead(tx, id);
  if (email === null) throw new StaffRefused({ reason: 'email_missing', email: id });
  requireWaits(email);
  const status = await giveUpEmail(tx, id);
  if (status !== 'failed') requireWaits({ ...email, waits: false });
  const { accountId, submission } = email;
  return { data: { status }, account: accountId, subject: id, details: { submission } };
});

/** @throws StaffRefused for an e-mail that cannot be given up */
export function requireWaits({ id, status, submission, waits }: EmailHead): void {
  if (!waits) throw new StaffRefused({ reason: 'email_not_waiting', email: id, status, submission });
}

/** Closes a finding and resets its repair count. @throws StaffRefused */
export const dismissFinding = recorded('findings dismiss', (tx, { id }: { id: number }) => dismiss(tx, id));

/** The same in a transaction. @returns the finding with its audit record @throws StaffRefused */
export async function dismiss(tx: Sql, id: number): Promise<ActRecord & { data: FindingRow }> {
  const finding: FindingRow | undefined = await storeDismissal(tx, id);
  if (finding === undefined) throw new StaffRefused({ reason: 'finding_missing', finding: id });
  const { kind, subject, accountId: account } = finding;
  return { data: finding, account, subject, details: { finding: id, kind } };
}
