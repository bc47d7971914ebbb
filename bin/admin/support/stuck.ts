import type { Client } from '@temporalio/client';
import {
  COUNTED_MAX,
  readStuck,
  STUCK_KINDS,
  type StuckFilter,
  type StuckKind,
  type StuckThing,
} from '../../../db/messages/stuck.ts';
import { command, optional, required, yes, type Outcome } from '../command.ts';
import { findAccount } from '../lookup.ts';
import { decide } from '../messageDecision.ts';
import { printable } from '../printable.ts';
import { AdminError, refused } from '../problems.ts';
import { findRoute } from '../routes/lookup.ts';
import type { Sql } from '../../../db/connection.ts';
import type { Tools } from '../tools.ts';
import { accountId, oneOf, routeName, rows, wholeNumber } from '../values.ts';
import { cancelScheduledMessage } from './cancel.ts';
import { resendAll } from './resend.ts';
import { unasked, workflowStates } from './states.ts';
import { stuckTasks, stuckTimers, WORKFLOW_KINDS, type WorkflowKind } from './stuckWorkflows.ts';

/** What the database knows to be stuck, and what Temporal does. */
const KINDS = [...STUCK_KINDS, ...WORKFLOW_KINDS] as const;
type Kind = StuckKind | WorkflowKind;

const DEFAULT_ROWS = 20;
const DEFAULT_ACTS = 100;
const YEAR_MINUTES = 525_600;

/** After so many minutes something counts as stuck, unless told. */
const MINUTES: Readonly<Record<Kind, number>> = {
  ...{
    overdue: 5,
    queued: 10,
    paused: 0,
    unanswered: 0,
    no_report: 24 * 60,
    webhook: 0,
    resend: 5,
    task: 1,
    timer: 5,
  },
};

/** What can be done about what. */
const ACTIONS: Readonly<Record<Action, StuckKind>> = {
  ...{ cancel: 'overdue', resubmit: 'unanswered', 'give-up': 'unanswered', resend: 'webhook' },
};
type Action = 'cancel' | 'resubmit' | 'give-up' | 'resend';

const filters = {
  account: optional('ID', 'only of one account', accountId),
  route: optional('NAME', 'only messages on one route', routeName),
  minutes: optional(
    'N',
    'stuck for so long; each kind has its own default',
    wholeNumber(0, YEAR_MINUTES, ''),
  ),
};

const list = command({
  name: 'stuck',
  about:
    'Counts and lists what does not move on, the longest stuck first, with its workflow as Temporal sees it.',
  options: {
    kind: optional('KIND', KINDS.join(', '), oneOf(...KINDS)),
    ...filters,
    limit: optional('N', `shown of each kind; default: ${DEFAULT_ROWS}`, rows),
  },
  outside: true,
  async run(sql, { kind, limit = DEFAULT_ROWS, ...values }, tools): Promise<Outcome> {
    await check(sql, values);
    const counts: Record<string, string | number> = {};
    const data: Record<string, unknown>[] = [];
    let remark: string | null = null;
    for (const one of kind === undefined ? KINDS : [kind]) {
      if (isOfWorkflows(one)) {
        const found = await readWorkflows(sql, one, filterOf(one, values), tools);
        if (found.count !== null) counts[one] = found.count;
        remark ??= found.remark;
        data.push(...found.data.slice(0, limit));
        continue;
      }
      const { count, things } = await readStuck(sql, one, filterOf(one, values), limit);
      counts[one] = count === COUNTED_MAX ? `${COUNTED_MAX} or more` : count;
      const seen = await workflowStates(tools, isEvent(one) ? [] : things.map(({ id }) => id));
      remark ??= seen.remark;
      data.push(...things.map((thing) => record(one, thing, seen.states.get(thing.id) ?? null)));
    }
    return {
      result: { ...counts, data },
      ...(values.account === undefined ? {} : { account: values.account }),
      ...(remark === null ? {} : { remark }),
    };
  },
});

const act = command({
  name: 'unstick',
  about:
    'Does the same to many that are stuck: cancel (overdue), resubmit or give-up (unanswered), resend (webhook).',
  options: {
    action: required(
      'ACTION',
      Object.keys(ACTIONS).join(', '),
      oneOf('cancel', 'resubmit', 'give-up', 'resend'),
    ),
    ...filters,
    limit: optional('N', `at most; default: ${DEFAULT_ACTS}`, rows),
    yes,
  },
  outside: true,
  async run(sql, { action, limit = DEFAULT_ACTS, yes: agreed = false, ...values }, tools): Promise<Outcome> {
    await check(sql, values);
    const kind = ACTIONS[action];
    const { count, things } = await readStuck(sql, kind, filterOf(kind, values), limit);
    const told = values.account === undefined ? {} : { account: values.account };
    if (!agreed) {
      return {
        result: {
          would: action,
          on: things.length,
          of: count,
          data: things.map((thing) => record(kind, thing, null)),
        },
        ...{ ...told, details: { action, carried_out: false } },
        remark: 'Nothing was done. With --yes it is done to these.',
      };
    }
    const done = await carryOut(sql, action, things, tools);
    return {
      result: { action, done: done.done.length, of: count, data: done.left },
      ...told,
      details: { action, ...values, done: done.done, left: done.left },
    };
  },
});

export const stuckCommands = [list, act];

async function check(sql: Sql, values: { account?: string; route?: string }): Promise<void> {
  if (values.account !== undefined) await findAccount(sql, values.account);
  if (values.route !== undefined) await findRoute(sql, values.route);
}

const isOfWorkflows = (kind: Kind): kind is WorkflowKind => kind === 'task' || kind === 'timer';

/** What Temporal knows; nothing, with a remark, when it cannot be asked. */
async function readWorkflows(
  sql: Sql,
  kind: WorkflowKind,
  filter: StuckFilter,
  tools: Tools,
): Promise<{ count: number | null; data: Record<string, unknown>[]; remark: string | null }> {
  let client: Client;
  try {
    client = await tools.temporal();
  } catch (error) {
    return { count: null, data: [], remark: unasked(error) };
  }
  const { things, looked, running } =
    kind === 'task' ? await stuckTasks(client, filter) : await stuckTimers(sql, client, filter);
  const data = things.map(({ id, accountId: account_id, route, since, workflow }) => ({
    ...{ kind, id, account_id, route, since, workflow },
  }));
  const remark = looked < running ? `${kind}: ${looked} of ${running} workflows were looked at.` : null;
  return { count: things.length, data, remark };
}

function filterOf(
  kind: Kind,
  { account, route, minutes }: { account?: string; route?: string; minutes?: number },
): StuckFilter {
  return { accountId: account ?? null, route: route ?? null, minutes: minutes ?? MINUTES[kind] };
}

const isEvent = (kind: StuckKind): boolean => kind === 'webhook' || kind === 'resend';

function record(kind: StuckKind, thing: StuckThing, workflow: string | null): Record<string, unknown> {
  const { id, accountId: account_id, route, since } = thing;
  return { kind, id, account_id, route, since, workflow };
}

interface Done {
  done: string[];
  left: { id: string; reason: string }[];
}

/** One after the other; what could not be done is told, and the rest goes on, unless nothing answers any more. */
async function carryOut(sql: Sql, action: Action, things: StuckThing[], tools: Tools): Promise<Done> {
  if (action === 'resend') {
    const { resent, left } = await resendAll(
      sql,
      things.map(({ id }) => id),
      tools,
    );
    return { done: resent, left };
  }
  const result: Done = { done: [], left: [] };
  for (const { id } of things) {
    try {
      const answered = await decideOne(sql, action, id, tools);
      if (answered) result.done.push(id);
      else result.left.push({ id, reason: 'no worker answered in time; it may still be carried out' });
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      result.left.push({ id, reason: printable(error.message) });
      if (error.code === 'unavailable') break;
    }
  }
  if (result.done.length === 0 && result.left.length > 0 && things.length === 1) {
    throw refused(result.left[0]!.reason);
  }
  return result;
}

async function decideOne(sql: Sql, action: Action, id: string, tools: Tools): Promise<boolean> {
  if (action === 'cancel')
    return (await cancelScheduledMessage(sql, id, tools)).result['carried_out'] === true;
  const { result } = await decide(sql, id, action === 'resubmit' ? 'resubmit' : 'giveUp', tools);
  return result['carried_out'] === true;
}
