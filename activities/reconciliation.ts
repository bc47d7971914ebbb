import { type Client, type WorkflowExecutionDescription } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { type OpenEmail, openEmailsAfter, readOpenEmail } from '../db/emails/reads.ts';
import { idFloor } from '../db/ids.ts';
import { failLookup, lostLookups } from '../db/lookups/lookups.ts';
import {
  closeDeliveredEvents,
  closeFindings,
  type Finding,
  openSubjects,
  recordRepair,
  reportFinding,
} from '../db/maintenance/findings.ts';
import { readPosition, savePosition } from '../db/maintenance/regularWork.ts';
import {
  type OpenMessage,
  openMessagesAfter,
  type OpenState,
  readOpenMessage,
} from '../db/messages/openMessages.ts';
import { resumeLost } from '../db/messages/pauses.ts';
import { ledgersAfter } from '../db/money/ledger.ts';
import { type Unnotified, unnotifiedAfter } from '../db/webhooks/unnotified.ts';
import { isId } from '../domain/ids.ts';
import { describeWorkflow } from '../operations/support/workflow.ts';
import type { Tally } from '../workflows/contracts.ts';
import { emailRestart, messageRestart, notifyStart, TO_REPEAT } from '../workflows/startOptions.ts';
import { startOnce } from '../workflows/starts.ts';
import { beat } from './failures.ts';

const PAGE = 100;
const AT_ONCE = 10;
const KNOWN_FINDINGS = 1_000;
const LOOKUPS = 1_000;
const EVENTS = 5_000;
const LEDGERS = 10;
// Of one run, for each of what it goes through; the next one goes on from there.
const WALK_MS = 2 * 60_000;
const EVENTS_POSITION = 'webhook events';
const FIRST_LOOK_BACK_MS = 72 * 3_600_000;

const ABOUT_WORKFLOWS = ['workflow_lost', 'workflow_ended'] as const;

/** The steps of the `reconciliation` workflow; each may be cut off and repeated at any place. */
export function reconciliationActivities(sql: Database, client: Client) {
  return {
    /** The open messages and e-mails of all accounts in turn: each has to have its workflow. */
    async reconcileOpen(): Promise<Tally> {
      const run: Run = { sql, client, tally: noTally() };
      const known = await openSubjects(sql, ABOUT_WORKFLOWS, KNOWN_FINDINGS);
      await inTens(known, (id) => (isId('em', id) ? judge(run, EMAILS, id) : judge(run, MESSAGES, id)));
      await walkOpen(run, MESSAGES);
      await walkOpen(run, EMAILS);
      return run.tally;
    },

    /** Webhook events that are pending for minutes: nobody delivers them where a Temporal was restored. */
    async reconcileEvents(): Promise<Tally> {
      const run: Run = { sql, client, tally: noTally() };
      await closeDeliveredEvents(sql);
      await walkEvents(run);
      return run.tally;
    },

    /** Look-ups whose workflows are lost are refunded; paused messages that may not know that their account is active are told again. */
    async reconcileLeftovers(): Promise<Tally> {
      await resumeLost(sql);
      const lookups = await lostLookups(sql, LOOKUPS);
      for (const id of lookups) {
        await failLookup(sql, id, 'timed_out');
        beat();
      }
      return { looked: lookups.length, repaired: lookups.length, reported: 0 };
    },

    /** The balances of all accounts in turn, each against its ledger. */
    async reconcileLedgers(): Promise<Tally> {
      const run: Run = { sql, client, tally: noTally() };
      await walk(sql, 'ledgers', async (after) => {
        const page = await ledgersAfter(sql, after, LEDGERS);
        run.tally.looked += page.length;
        for (const { accountId, agrees, ...details } of page) {
          if (!agrees) await report(run, { kind: 'ledger_differs', subject: accountId, accountId, details });
        }
        const right = page.filter(({ agrees }) => agrees).map(({ accountId }) => accountId);
        await closeFindings(sql, ['ledger_differs'], right);
        return page.length < LEDGERS ? '' : page.at(-1)!.accountId;
      });
      return run.tally;
    },
  };
}

/** One step of a run. */
interface Run {
  sql: Database;
  client: Client;
  tally: Tally;
}

const noTally = (): Tally => ({ looked: 0, repaired: 0, reported: 0 });

async function report({ sql, tally }: Run, finding: Finding): Promise<void> {
  if (await reportFinding(sql, finding)) tally.reported += 1;
}

/** Notes the repair, then makes it: one that is cut off is noted, and made by the next run. */
async function repair(
  { sql, tally }: Run,
  finding: Finding,
  action: string,
  start: () => Promise<unknown>,
): Promise<void> {
  await recordRepair(sql, action, finding);
  await startOnce(start());
  tally.repaired += 1;
}

/**
 * Goes on where the last run stopped, for some minutes at most; from the end on it begins anew.
 * @param next does a page behind a position, and returns the position behind that, '' at the end
 */
async function walk(sql: Database, name: string, next: (after: string) => Promise<string>): Promise<void> {
  const until = Date.now() + WALK_MS;
  let after = await readPosition(sql, name);
  do {
    after = await next(after);
    await savePosition(sql, name, after);
    beat();
  } while (after !== '' && Date.now() < until);
}

async function inTens<T>(things: readonly T[], look: (thing: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < things.length; i += AT_ONCE) {
    await Promise.all(things.slice(i, i + AT_ONCE).map(look));
    beat();
  }
}

type Open = OpenState & { id: string; accountId: string };

/** Messages or e-mails: how those are read that have to have a workflow, and how it is started again. */
interface Followed<One extends Open> {
  position: string;
  after: (sql: Database, after: string, limit: number) => Promise<One[]>;
  read: (sql: Database, id: string) => Promise<One | null>;
  restart: (client: Client, one: One, reuse: Partial<typeof TO_REPEAT>) => Promise<unknown>;
}

const MESSAGES: Followed<OpenMessage> = {
  position: 'open messages',
  after: openMessagesAfter,
  read: readOpenMessage,
  restart: (client, message, reuse) =>
    client.workflow.start('message', { ...messageRestart(message), ...reuse }),
};
const EMAILS: Followed<OpenEmail> = {
  position: 'open e-mails',
  after: openEmailsAfter,
  read: readOpenEmail,
  restart: (client, email, reuse) => client.workflow.start('email', { ...emailRestart(email), ...reuse }),
};

async function walkOpen<One extends Open>(run: Run, followed: Followed<One>): Promise<void> {
  const { sql, client, tally } = run;
  await walk(sql, followed.position, async (after) => {
    const page = await followed.after(sql, after, PAGE);
    tally.looked += page.length;
    await inTens(await notListed(client, page), (id) => judge(run, followed, id));
    const last = page.at(-1);
    return page.length < PAGE || last === undefined ? '' : `${last.accountId}/${last.id}`;
  });
}

/** Of open things those that Temporal lists no running workflow for: the ones to look at, as its lists may be some seconds behind. */
async function notListed(client: Client, things: readonly Open[]): Promise<string[]> {
  if (things.length === 0) return [];
  const ids = things.map(({ id }) => `'${id}'`).join(', ');
  const running = new Set<string>();
  const query = `WorkflowId IN (${ids}) AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: things.length })) {
    running.add(workflowId);
  }
  return things.map(({ id }) => id).filter((id) => !running.has(id));
}

/** Looks whether a message or an e-mail that is open has its workflow. One that is lost is started again, unless it had completed. */
async function judge<One extends Open>(run: Run, followed: Followed<One>, id: string): Promise<void> {
  const { sql, client } = run;
  const workflow = await describeWorkflow(client, id);
  // Read after that: a workflow that has just ended has written its end before.
  const open = await followed.read(sql, id);
  if (open === null || isRunning(workflow)) return closeFindings(sql, ABOUT_WORKFLOWS, [id]);
  const { accountId, status, submission } = open;
  const state = workflow?.status.name.toLowerCase() ?? 'missing';
  const about = { subject: id, accountId, details: { workflow: state, status, submission } };
  // A provider may have it since, and Temporal forgets what it knew of that.
  if (status !== 'sent' && (state === 'completed' || open.endedBefore))
    return report(run, { kind: 'workflow_ended', ...about });
  // A worker starts it yet.
  if (open.reserved) return;
  // What is sent is followed, and never submitted: also by one more run.
  const reuse = status === 'sent' ? TO_REPEAT : {};
  await repair(run, { kind: 'workflow_lost', ...about }, 'workflow started again', () =>
    followed.restart(client, open, reuse),
  );
}

/**
 * Looks at webhook events some minutes after their making, once in their lives, unless some of them are still pending: then the next run
 * begins there again.
 */
async function walkEvents(run: Run): Promise<void> {
  const { sql, tally } = run;
  const until = Date.now() + WALK_MS;
  let after = (await readPosition(sql, EVENTS_POSITION)) || idFloor('evt', Date.now() - FIRST_LOOK_BACK_MS);
  let settled = true;
  do {
    const { last, left } = await unnotifiedAfter(sql, after, EVENTS);
    if (last === null) return;
    tally.looked += left.length;
    await inTens(left, (one) => haveDelivered(run, one));
    after = last;
    settled &&= left.length === 0;
    if (settled) await savePosition(sql, EVENTS_POSITION, after);
    beat();
  } while (Date.now() < until);
}

/** Starts a workflow for events that nobody is at. */
async function haveDelivered(run: Run, { event, accountId, workflowId, awaited }: Unnotified): Promise<void> {
  const { client } = run;
  if (awaited || isRunning(await describeWorkflow(client, event))) return;
  if (workflowId !== event && isNotifying(await describeWorkflow(client, workflowId))) return;
  const finding: Finding = { kind: 'events_left', subject: event, accountId, details: { of: workflowId } };
  await repair(run, finding, 'webhook event delivered', () =>
    client.workflow.start('notify', notifyStart({ id: event, accountId })),
  );
}

function isRunning(workflow: WorkflowExecutionDescription | null): boolean {
  return workflow !== null && ['RUNNING', 'CONTINUED_AS_NEW'].includes(workflow.status.name);
}

/** Its receiver may be slow, and the webhooks' queue long: it is at it. */
function isNotifying(workflow: WorkflowExecutionDescription | null): boolean {
  const pending = workflow?.raw.pendingActivities ?? [];
  // Of one that was ended by hand they are listed as well.
  return isRunning(workflow) && pending.some(({ activityType }) => activityType?.name === 'deliverWebhook');
}
