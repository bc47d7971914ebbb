import { type Client, type WorkflowExecutionDescription } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { type OpenEmail, openEmailsAfter, readOpenEmail } from '../db/emails/reads.ts';
import { idFloor } from '../db/ids.ts';
import { failLookup, lostLookups } from '../db/lookups/lookups.ts';
import { longOpenBulks } from '../db/maintenance/bulks.ts';
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
import { longOpenPayments } from '../db/money/payments.ts';
import { askToLook } from '../operations/money/payments.ts';
import { type Unnotified, unnotifiedAfter } from '../db/webhooks/unnotified.ts';
import { isId } from '../domain/ids.ts';
import { describeWorkflow } from '../operations/support/workflow.ts';
import type { Tally } from '../workflows/contracts.ts';
import {
  bulkStart,
  emailRestart,
  messageRestart,
  notifyStart,
  TO_REPEAT,
} from '../workflows/startOptions.ts';
import { startOnce } from '../workflows/starts.ts';
import { heartbeat } from './failures.ts';

const PAGE = 100;
const AT_ONCE = 10;
const KNOWN_FINDINGS = 1_000;
const LOOKUPS = 1_000;
const PAYMENTS = 1_000;
const BULKS = 100;
const EVENTS = 5_000;
const LEDGERS = 10;
// Time limit of each walk in a run; the next run continues it.
const WALK_MS = 2 * 60_000;
const EVENTS_POSITION = 'webhook events';
const FIRST_LOOK_BACK_MS = 72 * 3_600_000;

const ABOUT_WORKFLOWS = ['workflow_lost', 'workflow_ended'] as const;

/** The steps of the `reconciliation` workflow; each may be interrupted and repeated at any point. */
export function reconciliationActivities(sql: Database, client: Client) {
  return {
    /** Every open message and e-mail must have its workflow. */
    async reconcileOpen(): Promise<Tally> {
      const run: Run = { sql, client, tally: noTally() };
      const known = await openSubjects(sql, ABOUT_WORKFLOWS, KNOWN_FINDINGS);
      await inTens(known, (id) =>
        isId('em', id) ? reconcileOne(run, EMAILS, id) : reconcileOne(run, MESSAGES, id),
      );
      await walkOpen(run, MESSAGES);
      await walkOpen(run, EMAILS);
      return run.tally;
    },

    /** Starts workflows for webhook events pending for minutes, as after a restore of Temporal. */
    async reconcileEvents(): Promise<Tally> {
      const run: Run = { sql, client, tally: noTally() };
      await closeDeliveredEvents(sql);
      await walkEvents(run);
      return run.tally;
    },

    /**
     * Refunds look-ups whose workflows are lost; signals paused messages again that may not know that their account is active; starts lost
     * bulks again.
     */
    async reconcileLeftovers(): Promise<Tally> {
      await resumeLost(sql);
      const lookups = await lostLookups(sql, LOOKUPS);
      for (const id of lookups) {
        await failLookup(sql, id, 'timed_out');
        heartbeat();
      }
      // Their workflows look by themselves, unless they are lost.
      const payments = await longOpenPayments(sql, PAYMENTS);
      for (const payment of payments) {
        await askToLook(client, payment);
        heartbeat();
      }
      // One that runs goes on.
      for (const bulk of await longOpenBulks(sql, BULKS)) {
        await startOnce(client.workflow.start('bulk', bulkStart(bulk)));
        heartbeat();
      }
      return { looked: lookups.length + payments.length, repaired: lookups.length, reported: 0 };
    },

    /** Compares each account's balance with its ledger. */
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

interface Run {
  sql: Database;
  client: Client;
  tally: Tally;
}

const noTally = (): Tally => ({ looked: 0, repaired: 0, reported: 0 });

async function report({ sql, tally }: Run, finding: Finding): Promise<void> {
  if (await reportFinding(sql, finding)) tally.reported += 1;
}

/** Records the repair before making it: an interrupted one is made by the next run. */
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
 * Continues from the last run's position, for two minutes. @param next does the page after a position; returns its end, '' for the last
 */
async function walk(sql: Database, name: string, next: (after: string) => Promise<string>): Promise<void> {
  const until = Date.now() + WALK_MS;
  let after = await readPosition(sql, name);
  do {
    after = await next(after);
    await savePosition(sql, name, after);
    heartbeat();
  } while (after !== '' && Date.now() < until);
}

async function inTens<T>(things: readonly T[], look: (thing: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < things.length; i += AT_ONCE) {
    await Promise.all(things.slice(i, i + AT_ONCE).map(look));
    heartbeat();
  }
}

type Open = OpenState & { id: string; accountId: string };

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
    await inTens(await notListed(client, page), (id) => reconcileOne(run, followed, id));
    const last = page.at(-1);
    return page.length < PAGE || last === undefined ? '' : `${last.accountId}/${last.id}`;
  });
}

// Temporal's visibility may lag by seconds: those it does not list as running are checked one by one.
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

/** Checks the workflow of an open message or e-mail. A lost one is restarted, unless it had completed. */
async function reconcileOne<One extends Open>(run: Run, followed: Followed<One>, id: string): Promise<void> {
  const { sql, client } = run;
  const workflow = await describeWorkflow(client, id);
  // Read after the describe: a workflow writes its message's end before it ends itself.
  const open = await followed.read(sql, id);
  if (open === null || isRunning(workflow)) return closeFindings(sql, ABOUT_WORKFLOWS, [id]);
  const { accountId, status, submission } = open;
  const state = workflow?.status.name.toLowerCase() ?? 'missing';
  const about = { subject: id, accountId, details: { workflow: state, status, submission } };
  // Not restarted: a provider may have it since, which a restored Temporal does not know.
  if (status !== 'sent' && (state === 'completed' || open.endedBefore))
    return report(run, { kind: 'workflow_ended', ...about });
  // A worker will still start it.
  if (open.reserved) return;
  // A `sent` message is only followed, never submitted again, so even a completed workflow may be repeated.
  const reuse = status === 'sent' ? TO_REPEAT : {};
  await repair(run, { kind: 'workflow_lost', ...about }, 'workflow started again', () =>
    followed.restart(client, open, reuse),
  );
}

/** Checks webhook events some minutes old, each once; while some are still pending, the next run starts from there again. */
async function walkEvents(run: Run): Promise<void> {
  const { sql, tally } = run;
  const until = Date.now() + WALK_MS;
  let after = (await readPosition(sql, EVENTS_POSITION)) || idFloor('evt', Date.now() - FIRST_LOOK_BACK_MS);
  let settled = true;
  do {
    const { last, left } = await unnotifiedAfter(sql, after, EVENTS);
    if (last === null) return;
    tally.looked += left.length;
    await inTens(left, (one) => startNotify(run, one));
    after = last;
    settled &&= left.length === 0;
    if (settled) await savePosition(sql, EVENTS_POSITION, after);
    heartbeat();
  } while (Date.now() < until);
}

async function startNotify(run: Run, { event, accountId, workflowId, awaited }: Unnotified): Promise<void> {
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

// Its receiver may be slow, or the webhooks' queue long.
function isNotifying(workflow: WorkflowExecutionDescription | null): boolean {
  const pending = workflow?.raw.pendingActivities ?? [];
  // A terminated workflow still lists its pending activities.
  return isRunning(workflow) && pending.some(({ activityType }) => activityType?.name === 'deliverWebhook');
}
