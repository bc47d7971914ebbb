import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../../db/connection.ts';
import { noteOutcomeAgain } from '../../db/incoming/outcomes.ts';
import { type Finding, forgetRepairs, hasEndedBefore, hasRepaired } from '../../db/maintenance/findings.ts';
import { type LookedAtMessage, openAmong } from '../../db/messages/openMessages.ts';
import { type LookedAtEmail, openEmailsAmong } from '../../db/emails/reads.ts';
import { resumePausedAgain } from '../../db/messages/pauses.ts';
import { unnotifiedClicks, unnotifiedDomains, unnotifiedReplies } from '../../db/webhooks/unnotified.ts';
import { isId } from '../../domain/ids.ts';
import { isFinal } from '../../domain/statuses.ts';
import { emailEventsSignal } from '../../workflows/contracts.ts';
import {
  clickStart,
  domainStart,
  emailLateStart,
  emailRestart,
  inboundStart,
  messageRestart,
  TO_NOTIFY,
} from '../../workflows/startOptions.ts';
import { createRepairs, currentRun, type Repairs, type Verdict } from './repairs.ts';

// The webhooks' queue may be long, and a receiver slow: its workflow is at it.
const NOTIFYING = 'deliverWebhook';
// Its route's queue may be long.
const SUBMITTING = ['submit', 'handOver'];

/** How a workflow stands with Temporal. */
export type WorkflowState =
  'running' | 'completed' | 'missing' | 'terminated' | 'failed' | 'timed_out' | 'cancelled';

/** How a workflow stands, and what it is at. */
export interface SeenWorkflow {
  state: WorkflowState;
  notifying: boolean;
  submitting: boolean;
}

/** Looks at a workflow as Temporal itself has it: its lists may be some seconds behind. */
export async function lookAtWorkflow(client: Client, workflowId: string): Promise<SeenWorkflow> {
  try {
    const { status, raw } = await client.workflow.getHandle(workflowId).describe();
    const state =
      status.name === 'CONTINUED_AS_NEW' ? 'running' : (status.name.toLowerCase() as WorkflowState);
    // Of one that was ended by hand they are listed as well.
    const steps = state === 'running' ? (raw.pendingActivities ?? []) : [];
    const isAt = (name: string): boolean => steps.some(({ activityType }) => activityType?.name === name);
    return { state, notifying: isAt(NOTIFYING), submitting: SUBMITTING.some(isAt) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError)
      return { state: 'missing', notifying: false, submitting: false };
    throw error;
  }
}

/** Something open that has to have its workflow. */
interface Open {
  id: string;
  late: boolean;
  resumeLate?: boolean;
}

/** Of open messages or e-mails those that Temporal lists no running workflow for, or that are late: the ones to look at. */
export async function suspectsAmong(client: Client, things: readonly Open[]): Promise<string[]> {
  if (things.length === 0) return [];
  const ids = things.map(({ id }) => `'${id}'`).join(', ');
  const running = new Set<string>();
  const query = `WorkflowId IN (${ids}) AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: things.length })) {
    running.add(workflowId);
  }
  return things
    .filter(({ id, late, resumeLate }) => late || resumeLate === true || !running.has(id))
    .map(({ id }) => id);
}

/** Kinds of findings that have the id of a message or an e-mail, or of a click, reply or sender domain whose event was not delivered. */
export const ABOUT_WORKFLOWS = [
  'workflow_lost',
  'workflow_late',
  'workflow_ended',
  'resume_lost',
  'events_left',
] as const;

const UNNOTIFIED = { click: unnotifiedClicks, inbound: unnotifiedReplies, domain: unnotifiedDomains };

/** What the judges look with, and what they do about what they find. */
interface Bench extends Repairs {
  sql: Database;
  client: Client;
}

/**
 * Deciding on messages, e-mails and others whose workflow may be lost.
 * @param restartsPerRun how many one run of the reconciliation starts or signals again at most: where a worker was pointed at an empty
 *   Temporal by mistake, all seem lost
 */
export function lostWorkflows(sql: Database, client: Client, restartsPerRun: number) {
  const bench: Bench = { sql, client, ...createRepairs(sql, restartsPerRun) };
  return {
    judge: (id: string): Promise<Verdict> => judge(bench, id),
  };
}

/**
 * Looks at what an id stands for: a message, an e-mail, a click, a reply or a sender domain. What this run has repaired, the next one
 * looks at.
 */
async function judge(bench: Bench, id: string): Promise<Verdict> {
  if (await hasRepaired(bench.sql, currentRun(), ABOUT_WORKFLOWS, id)) return 'waiting';
  if (isId('em', id)) return await judgeEmail(bench, id);
  if (isId('clk', id)) return await judgeUnnotified(bench, 'click', id);
  if (isId('dom', id)) return await judgeUnnotified(bench, 'domain', id);
  return await (isId('in', id) ? judgeUnnotified(bench, 'inbound', id) : judgeMessage(bench, id));
}

/** What a finding says of a message or an e-mail. */
type About = Omit<Finding, 'kind'>;

/** Looks at messages that are not final, or whose events were not all delivered. Whatever is well costs one question. */
async function judgeMessage(bench: Bench, id: string): Promise<Verdict> {
  const { sql, client, report } = bench;
  const seen = await lookAtWorkflow(client, id);
  // Read after that: a workflow that has just ended has written its end before.
  const [message] = await openAmong(sql, [id]);
  if (message === undefined) return bench.wellAgain(id, ABOUT_WORKFLOWS);
  const { accountId, status, submission } = message;
  const about = { subject: id, accountId, details: { workflow: seen.state, status, submission } };
  if (seen.state === 'running') return await judgeRunningMessage(bench, message, seen, about);
  const completed = seen.state === 'completed';
  const unsent = ['scheduled', 'queued'].includes(status);
  // An SMSC may have it since, and Temporal forgets what it knew of that.
  if (unsent && (completed || (await hasEndedBefore(sql, id))))
    return report({ kind: 'workflow_ended', ...about });
  // A worker starts it yet.
  if (message.reserved) return 'waiting';
  const kind = completed && message.eventsLeft ? 'events_left' : 'workflow_lost';
  // What is sent is followed, and never submitted: also by one more run.
  const again = message.eventsLeft || completed ? TO_NOTIFY : {};
  return bench.repair({ kind, ...about }, 'message workflow started again', () =>
    client.workflow.start('message', { ...messageRestart(message, isFinal(status)), ...again }),
  );
}

function judgeRunningMessage(
  { sql, repair, report, wellAgain }: Bench,
  message: LookedAtMessage,
  { notifying, submitting }: SeenWorkflow,
  about: About,
): Promise<Verdict> | Verdict {
  const { id } = message;
  if (message.late) return report({ kind: 'workflow_late', ...about });
  if (message.resumeLate && !submitting) {
    // In a restored Temporal it waits for what it was signalled before.
    return repair({ kind: 'resume_lost', ...about }, 'resumed again', () => resumePausedAgain(sql, [id]));
  }
  if (!message.eventsLate) return wellAgain(id, ABOUT_WORKFLOWS);
  if (notifying || message.outcomeWaits) return 'waiting';
  // In a restored Temporal it waits for what it was signalled before.
  return repair({ kind: 'events_left', ...about }, 'outcome signalled again', () =>
    noteOutcomeAgain(sql, id),
  );
}

/** Looks at a click, a reply or a sender domain whose event may not have been delivered. */
async function judgeUnnotified(
  { sql, client, repair, report, wellAgain }: Bench,
  type: keyof typeof UNNOTIFIED,
  id: string,
): Promise<Verdict> {
  const { state, notifying } = await lookAtWorkflow(client, id);
  const [unnotified] = await UNNOTIFIED[type](sql, [id]);
  if (unnotified === undefined || (state === 'running' && !unnotified.late))
    return wellAgain(id, ABOUT_WORKFLOWS);
  if (notifying) return 'waiting';
  const { accountId } = unnotified;
  const finding: Finding = { kind: 'events_left', subject: id, accountId, details: { workflow: state } };
  if (state === 'running') return report(finding);
  // A sender domain has one event after the other: that earlier ones were lost is no reason to leave this one.
  await forgetRepairs(sql, finding.kind, id, unnotified.since);
  const start = {
    click: () => client.workflow.start('click', { ...clickStart({ id, accountId }), ...TO_NOTIFY }),
    inbound: () => client.workflow.start('inbound', { ...inboundStart(id), ...TO_NOTIFY }),
    domain: () => client.workflow.start('domain', domainStart({ id, accountId })),
  };
  return repair(finding, `${type} workflow started again`, start[type]);
}

/** Looks at an e-mail that is open, or whose events were not all delivered. */
async function judgeEmail(bench: Bench, id: string): Promise<Verdict> {
  const { sql, client, repair, report, wellAgain } = bench;
  const seen = await lookAtWorkflow(client, id);
  // Read after that: a workflow that has just ended has written its end before.
  const [email] = await openEmailsAmong(sql, [id]);
  if (email === undefined) return wellAgain(id, ABOUT_WORKFLOWS);
  const { accountId, status, submission, events } = email;
  const about = { subject: id, accountId, details: { workflow: seen.state, status, submission } };
  if (seen.state === 'running') return await judgeRunningEmail(bench, email, seen, about);
  // Also one that Temporal has forgotten since.
  const ended = seen.state === 'completed' || (status === 'queued' && (await hasEndedBefore(sql, id)));
  if (ended && events.length === 0) {
    // A run for late events has ended, or a restored database knows less: then a provider may have it.
    return status === 'queued'
      ? report({ kind: 'workflow_ended', ...about })
      : wellAgain(id, ABOUT_WORKFLOWS);
  }
  // A worker starts it yet.
  if (email.reserved && !ended) return 'waiting';
  return repair(
    { kind: ended ? 'events_left' : 'workflow_lost', ...about },
    'e-mail workflow started again',
    () => startEmailAgain(client, email, ended),
  );
}

function judgeRunningEmail(
  { client, repair, report, wellAgain }: Bench,
  { id, late, events, eventsLate }: LookedAtEmail,
  { notifying, submitting }: SeenWorkflow,
  about: About,
): Promise<Verdict> | Verdict {
  if (late) return report({ kind: 'workflow_late', ...about });
  if (!eventsLate) return wellAgain(id, ABOUT_WORKFLOWS);
  if (notifying || submitting) return 'waiting';
  // In a restored Temporal it waits for what it was signalled before.
  return repair({ kind: 'events_left', ...about }, 'events signalled again', () =>
    client.workflow.getHandle(id).signal(emailEventsSignal, events),
  );
}

async function startEmailAgain(client: Client, email: LookedAtEmail, ended: boolean): Promise<void> {
  const { id, accountId, requestId, route, giveUpAt, open, events } = email;
  const startable = { id, accountId, requestId, route, giveUpAt };
  const how = open && !ended ? emailRestart(startable) : emailLateStart(startable);
  if (events.length === 0) await client.workflow.start('email', how);
  else {
    const signalled = { signal: emailEventsSignal, signalArgs: [events] as [string[]] };
    await client.workflow.signalWithStart('email', { ...how, ...signalled });
  }
}
