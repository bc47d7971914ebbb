import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { cancelMessagesOfClosedAccount, closingAccounts, endClosing } from '../db/accounts/accounts.ts';
import type { Database } from '../db/connection.ts';
import {
  forgetPaused,
  notePausedResumed,
  type PausedMessage,
  takePaused,
  resumePausedAgain,
} from '../db/messages/pauses.ts';
import { countEnd } from '../telemetry/messageMetrics.ts';
import { cancelSignal, resumeSignal } from '../workflows/contracts.ts';

// One statement cancels a page, with the account's row locked while it runs.
const CANCELS_A_PAGE = 500;
const BATCH_SIZE = 50;
const SIGNAL_CONCURRENCY = 10;
const SIGNAL_TIMEOUT_MS = 10_000;

/** Cancels and refunds the open messages of closed accounts. @throws the first failure, after all accounts were tried */
export async function cancelForClosedAccounts(sql: Database, stopping: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  for (const account of await closingAccounts(sql)) {
    if (stopping.aborted) return;
    await cancelAllOf(sql, account, stopping).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

async function cancelAllOf(sql: Database, account: string, stopping: AbortSignal): Promise<void> {
  for (const status of ['scheduled', 'queued'] as const) {
    for (let before: string | null = ''; before !== null;) {
      if (stopping.aborted) return;
      const step = await cancelMessagesOfClosedAccount(sql, account, status, before, CANCELS_A_PAGE);
      countEnd('cancelled', step.cancelled);
      before = step.before;
    }
  }
  await endClosing(sql, account);
}

/** Signals workflows of paused messages to go on, or that the message was cancelled with its account. */
export async function resumePausedWorkflows(
  sql: Database,
  client: Client,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const taken = await takePaused(sql, BATCH_SIZE);
    if (taken.length === 0) return;
    const of: Record<SignalResult, string[]> = { signalled: [], over: [], failed: [] };
    const failures: unknown[] = [];
    for (let i = 0; i < taken.length; i += SIGNAL_CONCURRENCY) {
      const some = taken.slice(i, i + SIGNAL_CONCURRENCY).map(async (message) => {
        try {
          of[await signal(client, message)].push(message.id);
        } catch (error) {
          failures.push(error);
          of.failed.push(message.id);
        }
      });
      await Promise.all(some);
    }
    await notePausedResumed(sql, of.signalled);
    await forgetPaused(sql, of.over);
    await resumePausedAgain(sql, of.failed);
    // Temporal did not answer: the next run signals again.
    if (failures.length > 0) throw failures[0];
  }
}

type SignalResult = 'signalled' | 'over' | 'failed';

async function signal(client: Client, { id, status }: PausedMessage): Promise<SignalResult> {
  const open = status === 'scheduled' || status === 'queued';
  const workflow = client.workflow.getHandle(id);
  try {
    await client.withDeadline(Date.now() + SIGNAL_TIMEOUT_MS, () =>
      workflow.signal(open ? resumeSignal : cancelSignal),
    );
    return open ? 'signalled' : 'over';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'over';
    throw error;
  }
}
