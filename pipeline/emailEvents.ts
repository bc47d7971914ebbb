import type { Client } from '@temporalio/client';
import { coalesceRuns } from '../concurrency/gather.ts';
import {
  type Database,
  hasSqlState,
  setLockTimeout,
  type Sql,
  SQLSTATE,
  transaction,
} from '../db/connection.ts';
import {
  type AppliedEvent,
  applyEvent,
  dismissEvents,
  type DueEvent,
  type LockedEmail,
  leaseEvents,
  lockEmails,
  postponeEvents,
  settleEvents,
  storeEmailEvents,
  takeDueEvents,
} from '../db/emails/events.ts';
import { startableEmails } from '../db/emails/accept.ts';
import {
  type EmailStatus,
  type ProviderEmailEvent,
  stateAfter,
  statusOfRecipients,
} from '../domain/email/statuses.ts';
import {
  affectedRecipients,
  isIrrelevant,
  namedRecipients,
  type ReportedRecipient,
  suppressionOf,
} from '../domain/email/reports.ts';
import { emailEventCounter } from '../telemetry/messageMetrics.ts';
import { emailEventsSignal } from '../workflows/contracts.ts';
import { emailLateStart } from '../workflows/startOptions.ts';

/** Stores e-mail events, applies them, then signals the workflow that notifies the webhook. */
export interface EmailEvents {
  /** Stores events. A crash after that loses nothing: `catchUp` applies them. */
  receive(route: string, events: readonly ProviderEmailEvent[]): Promise<void>;
  /** Applies stored events that are due, and signals their workflows. */
  catchUp(): Promise<void>;
}

const BATCH_SIZE = 100;
const SIGNAL_MS = 10_000;
// Longer than other transactions lock an e-mail or its account, and short for the events waiting behind.
const LOCK_TIMEOUT_MS = 150;

/** @param onError gets failures after events were stored; the next `catchUp` retries them */
export function createEmailEvents(
  sql: Database,
  client: Client,
  onError: (error: unknown) => void,
): EmailEvents {
  const catchUp = coalesceRuns(async () => {
    for (let taken = BATCH_SIZE; taken === BATCH_SIZE;) {
      const due = (await applyUnlessLocked(sql, BATCH_SIZE)) ?? (await applyEach(sql));
      taken = due.length;
      for (const { route, kind, emailId, applied } of due)
        if (emailId !== null && !applied) emailEventCounter.inc({ route, kind });
      await signalWorkflows(
        sql,
        client,
        due.filter(({ webhookEvent }) => webhookEvent !== null),
      );
    }
  });
  return {
    async receive(route, events) {
      if (events.length === 0) return;
      await storeEmailEvents(sql, route, events);
      void catchUp().catch(onError);
    },
    catchUp,
  };
}

/** Applies due events, all or none. @returns null if another transaction holds a lock that one of them needs */
async function applyUnlessLocked(sql: Database, limit: number): Promise<DueEvent[] | null> {
  try {
    return await transaction(sql, async (tx) => {
      await setLockTimeout(tx, LOCK_TIMEOUT_MS);
      return await applyDue(tx, limit);
    });
  } catch (error) {
    if (hasSqlState(error, SQLSTATE.lockNotAvailable)) return null;
    throw error;
  }
}

/** Applies a batch with one transaction per event: a locked e-mail delays its own events only. */
async function applyEach(sql: Database): Promise<DueEvent[]> {
  const due: DueEvent[] = [];
  for (let tried = 0; tried < BATCH_SIZE; tried += 1) {
    const one = (await applyUnlessLocked(sql, 1)) ?? (await transaction(sql, postponeNext));
    if (one.length === 0) break;
    due.push(...one);
  }
  return due;
}

async function postponeNext(tx: Sql): Promise<DueEvent[]> {
  const left = await takeDueEvents(tx, 1);
  await leaseEvents(tx, left);
  // Not applied: neither counted nor signalled.
  return left.map((event) => ({ ...event, emailId: null, webhookEvent: null }));
}

async function applyDue(tx: Sql, limit: number): Promise<DueEvent[]> {
  const due = await takeDueEvents(tx, limit);
  await postponeEvents(
    tx,
    due.filter(({ emailId }) => emailId === null),
  );
  await leaseEvents(
    tx,
    due.filter(({ applied }) => applied),
  );
  const open = due.filter(({ emailId, applied }) => emailId !== null && !applied);
  const emails = await lockEmails(tx, [...new Set(open.map(({ emailId }) => emailId!))]);
  const byId = new Map(emails.map((email) => [email.id, email]));
  const idle: DueEvent[] = [];
  // Sorted by account: transactions that count the same suppression list wait for each other instead of deadlocking.
  for (const { event, email } of byAccount(open, byId)) {
    const concerned = affectedRecipients(event, email);
    if (isIrrelevant(event, email, concerned)) idle.push(event);
    else await applyEvent(tx, applicationOf(event, email, concerned));
  }
  await dismissEvents(tx, idle);
  return due;
}

function byAccount(open: readonly DueEvent[], emails: ReadonlyMap<string, LockedEmail>) {
  return open
    .map((event) => ({ event, email: emails.get(event.emailId!)! }))
    .toSorted((a, b) =>
      a.email.accountId < b.email.accountId ? -1 : Number(a.email.accountId > b.email.accountId),
    );
}

/** Updates `email` in place, for the events that follow. */
function applicationOf(
  event: DueEvent,
  email: LockedEmail,
  concerned: readonly ReportedRecipient[],
): AppliedEvent {
  const moves = concerned
    .map((recipient) => ({ recipient, state: stateAfter(recipient.state, event) }))
    .filter(({ recipient, state }) => state !== recipient.state);
  for (const { recipient, state } of moves) recipient.state = state;
  const status = statusAfter(email);
  email.status = status;
  return {
    event,
    emailId: email.id,
    accountId: email.accountId,
    status,
    notifies: email.notifies,
    moves: moves.map(({ recipient: { position }, state }) => ({ position, state })),
    named: namedRecipients(event, concerned).map(({ position }) => position),
    address: concerned.length === 1 && !email.erased ? concerned[0]!.address : null,
    erased: email.erased,
    suppress: suppressionOf(event, email),
  };
}

/** An e-mail that failed or was suppressed has been refunded: no event changes its status. */
function statusAfter({ status, recipients }: LockedEmail): EmailStatus {
  if (status === 'failed' || status === 'suppressed') return status;
  return statusOfRecipients(recipients.map(({ state }) => state));
}

/** Signals each e-mail's workflow; one that has ended runs once more for the events. */
async function signalWorkflows(sql: Database, client: Client, due: readonly DueEvent[]): Promise<void> {
  const byEmail = new Map<string, DueEvent[]>();
  for (const event of due) byEmail.set(event.emailId!, [...(byEmail.get(event.emailId!) ?? []), event]);
  const emails = await startableEmails(sql, [...byEmail.keys()]);
  const signals = emails.map(async (email) => {
    const events = byEmail.get(email.id)!;
    await client.withDeadline(Date.now() + SIGNAL_MS, () =>
      client.workflow.signalWithStart('email', {
        ...emailLateStart(email),
        signal: emailEventsSignal,
        signalArgs: [events.map(({ webhookEvent }) => webhookEvent!)],
      }),
    );
    await settleEvents(sql, events);
  });
  const failed = (await Promise.allSettled(signals)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
