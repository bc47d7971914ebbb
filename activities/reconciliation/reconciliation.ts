import type { Client } from '@temporalio/client';
import type { Database } from '../../db/connection.ts';
import { openEmailsAmong, queuedEmailsAfter } from '../../db/emails/reads.ts';
import { closeFindings, knownSubjects, reportFinding, restartsOf } from '../../db/maintenance/findings.ts';
import { countOpenMessages, openAmong, openMessagesAfter } from '../../db/messages/openMessages.ts';
import { databaseNow, readPosition, savePosition } from '../../db/maintenance/regularWork.ts';
import { unnotifiedClicks, unnotifiedDomains, unnotifiedReplies } from '../../db/webhooks/unnotified.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../failures.ts';
import { currentRun, judgeAll, noTally, sumOf, tallyOfAll } from './repairs.ts';
import { reconcileEvents, reconcileLookups, reconcileWaiting } from './leftovers.ts';
import { ABOUT_WORKFLOWS, lostWorkflows, suspectsAmong } from './lostWorkflows.ts';
import { reconcileLedgers, reconcileRefunds } from './money.ts';

const HOUR_MS = 3_600_000;
// Lists of workflows may be behind, and a run may have been cut off.
const OVERLAP_MS = 10 * 60_000;
const FIRST_LOOK_BACK_MS = 72 * HOUR_MS;
const PAGE = 100;
// Open messages, and open e-mails, in one run; the next run goes on from there.
const OPEN_PER_RUN = 20_000;
// Those since the last run, and some runs before it, are among them: it is seen whether their repair has helped.
const KNOWN_FINDINGS = 5_000;
// The subject of the finding that too many were lost.
const RESTARTS = 'workflows';
const RUNNING_MESSAGES = "WorkflowType = 'message' AND ExecutionStatus = 'Running'";
const ENDED_BADLY = "ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut')";

/** Reads a page of what is open behind `account/id`. */
type ReadOpen = (
  sql: Database,
  after: string,
  limit: number,
) => Promise<readonly { id: string; accountId: string; late: boolean }[]>;

/** How many workflows one run starts again at most, unless staff say otherwise. */
const RESTARTS_PER_RUN = 500;

/** What a run looks with. */
interface Looking extends ReturnType<typeof lostWorkflows> {
  sql: Database;
  client: Client;
  restartsPerRun: number;
}

/**
 * The steps of the `reconciliation` workflow; each may be cut off and repeated at any place.
 * @param restartsPerRun how many workflows one run starts again at most
 */
export function reconciliationActivities(sql: Database, client: Client, restartsPerRun = RESTARTS_PER_RUN) {
  const looking = { sql, client, restartsPerRun, ...lostWorkflows(sql, client, restartsPerRun) };
  return {
    /** Workflows that were terminated, failed or timed out since the last run, and what is open since then. */
    async reconcileEnded(): Promise<Tally> {
      const tally = noTally();
      const now = await databaseNow(sql);
      const from = await readPosition(sql, 'ended workflows');
      const since = from === '' ? now - FIRST_LOOK_BACK_MS : Date.parse(from) - OVERLAP_MS;
      const isLookedAt =
        (await walkEnded(looking, since, tally)) &&
        (await judgeKnown(looking, Math.min(since, now - HOUR_MS), tally));
      // Else the next run looks from the same moment on.
      if (isLookedAt) await savePosition(sql, 'ended workflows', new Date(now).toISOString());
      return tally;
    },

    /** The open messages and e-mails of all accounts in turn, and events that were not delivered: each has to have its workflow. */
    async reconcileOpen(): Promise<Tally> {
      const tally = noTally();
      await walkOpen(looking, 'open messages', openMessagesAfter, tally);
      await walkOpen(looking, 'open e-mails', queuedEmailsAfter, tally);
      await reconcileEvents(sql, looking.judge, tally);
      await logRestarts(looking, tally);
      return tally;
    },

    /** Look-ups that were charged and never ended, what waits to be counted. */
    async reconcileLeftovers(): Promise<Tally> {
      return sumOf(await reconcileLookups(sql), await reconcileWaiting(sql));
    },

    /** Balances against ledgers; refunds that were never posted, whatever became of the ledgers. */
    async reconcileMoney(): Promise<Tally> {
      return await tallyOfAll([() => reconcileLedgers(sql), () => reconcileRefunds(sql)]);
    },
  };
}

/**
 * Looks at what ended badly, some at a time.
 * @param since epoch milliseconds
 * @returns false once this run has started as many workflows again as it may
 */
async function walkEnded(looking: Looking, since: number, tally: Tally): Promise<boolean> {
  const ended = new Map<string, Set<string>>();
  const query = `${ENDED_BADLY} AND CloseTime > '${new Date(since).toISOString()}'`;
  let collected = 0;
  for await (const { type, workflowId } of looking.client.workflow.list({ query, pageSize: PAGE })) {
    if (!ended.has(type)) ended.set(type, new Set());
    ended.get(type)?.add(workflowId);
    if (++collected % PAGE !== 0) continue;
    if (!(await judgeEnded(looking, ended, tally))) return false;
    ended.clear();
  }
  return await judgeEnded(looking, ended, tally);
}

/**
 * Looks again at what runs since a moment found.
 * @returns as walkEnded
 */
async function judgeKnown(looking: Looking, since: number, tally: Tally): Promise<boolean> {
  const { sql, judge } = looking;
  const known = await knownSubjects(sql, ABOUT_WORKFLOWS, since, KNOWN_FINDINGS);
  return !(await judgeAll(known, judge, tally)).has('capped');
}

/** Looks at open things, some thousands in a run; the next one goes on from there. */
async function walkOpen(
  { sql, client, judge }: Looking,
  name: string,
  read: ReadOpen,
  tally: Tally,
): Promise<void> {
  let after = await readPosition(sql, name);
  for (let looked = 0; looked < OPEN_PER_RUN; looked += PAGE) {
    const page = await read(sql, after, PAGE);
    tally.looked += page.length;
    const came = await judgeAll(await suspectsAmong(client, page), judge, tally);
    // The next run looks at this page again.
    if (came.has('capped')) return;
    const last = page.at(-1);
    after = page.length < PAGE || last === undefined ? '' : `${last.accountId}/${last.id}`;
    await savePosition(sql, name, after);
    beat();
    if (after === '') return;
  }
}

/** @returns as walkEnded */
async function judgeEnded(
  looking: Looking,
  ended: ReadonlyMap<string, ReadonlySet<string>>,
  tally: Tally,
): Promise<boolean> {
  const { sql, judge } = looking;
  const ids = (type: string): string[] => [...(ended.get(type) ?? [])];
  tally.looked += [...ended.values()].reduce((sum, { size }) => sum + size, 0);
  const left = [
    ...(await openAmong(sql, ids('message'))),
    ...(await openEmailsAmong(sql, ids('email'))),
    ...(await unnotifiedClicks(sql, ids('click'))),
    ...(await unnotifiedReplies(sql, ids('inbound'))),
    ...(await unnotifiedDomains(sql, ids('domain'))),
  ];
  const things = left.map(({ id }) => id);
  return !(await judgeAll(things, judge, tally)).has('capped');
}

/** A run that had to stop restarting says so, with what distinguishes a wrong Temporal from a bad day. */
async function logRestarts({ sql, client, restartsPerRun }: Looking, tally: Tally): Promise<void> {
  const restarted = await restartsOf(sql, currentRun());
  if (restarted < restartsPerRun) return closeFindings(sql, ['restarts_capped'], [RESTARTS]);
  const { count: running } = await client.workflow.count(RUNNING_MESSAGES);
  const details = { restarted, running_workflows: running, open_messages: await countOpenMessages(sql) };
  const finding = { kind: 'restarts_capped', subject: RESTARTS, accountId: null, details } as const;
  if (await reportFinding(sql, finding)) tally.reported += 1;
}
