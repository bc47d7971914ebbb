import type { Client } from '@temporalio/client';
import type { Sql } from '../../../db/connection.ts';
import {
  COUNTED_MAX,
  readStuck,
  type StuckFilter,
  type StuckKind,
  type StuckThing,
} from '../../../db/messages/stuck.ts';
import { findAccount } from '../../../operations/accounts/find.ts';
import { findRoute } from '../../../operations/routes/find.ts';
import {
  type Kind,
  KINDS,
  MINUTES,
  STUCK_ACTION_NAMES,
  type WorkflowKind,
} from '../../../operations/support/stuck.ts';
import type { Standstill } from '../../../operations/support/stuckWorkflows.ts';
import type { WorkflowState } from '../../../operations/support/workflowStates.ts';
import { command, optional, required, yes, type Outcome, type Shown } from '../command.ts';
import { printable } from '../printable.ts';
import { leftAmong } from '../refusals.ts';
import type { Tools } from '../tools.ts';
import { accountId, oneOf, routeName, rows, wholeNumber } from '../values.ts';

const DEFAULT_ROWS = 20;
const DEFAULT_ACTS = 100;
const YEAR_MINUTES = 525_600;

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
    'Counts and lists what does not move on, the longest stuck first (webhook events: the newest), with its workflow as Temporal sees it.',
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
      const seen = await statesOf(tools, isEvent(one) ? [] : things.map(({ id }) => id));
      remark ??= seen.remark;
      data.push(...things.map((thing) => record(one, thing, seen.states.get(thing.id))));
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
    action: required('ACTION', STUCK_ACTION_NAMES.join(', '), oneOf(...STUCK_ACTION_NAMES)),
    ...filters,
    limit: optional('N', `at most; default: ${DEFAULT_ACTS}`, rows),
    yes,
  },
  async ask(asking, { action, limit = DEFAULT_ACTS, yes: agreed = false, ...filter }): Promise<Shown> {
    const { unstick } = await import('../../../operations/support/unstick.ts');
    const unstuck = await unstick({ ...asking, input: { action, filter, limit, agreed } });
    const { kind, things, of, outcome } = unstuck;
    if (outcome === null) {
      const data = things.map((thing) => record(kind, thing));
      return {
        result: { would: action, on: things.length, of, data },
        remark: 'Nothing was done. With --yes it is done to these.',
      };
    }
    const data = leftAmong(outcome);
    return { result: { action, done: outcome.length - data.length, of, data } };
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
  const { stuckTasks, stuckTimers } = await import('../../../operations/support/stuckWorkflows.ts');
  let client: Client;
  try {
    client = await tools.temporal();
  } catch (error) {
    return { count: null, data: [], remark: unasked(error) };
  }
  const { things, looked, running } =
    kind === 'task' ? await stuckTasks(client, filter) : await stuckTimers(sql, client, filter);
  const data = things.map(({ id, accountId: account_id, route, since, how }) => ({
    ...{ kind, id, account_id, route, since, workflow: standstillInWords(how) },
  }));
  const remark = looked < running ? `${kind}: ${looked} of ${running} workflows were looked at.` : null;
  return { count: things.length, data, remark };
}

/** Of each id how its workflow stands; nothing, with a remark, when Temporal cannot be asked. */
async function statesOf(
  tools: Tools,
  ids: readonly string[],
): Promise<{ states: Map<string, WorkflowState>; remark: string | null }> {
  if (ids.length === 0) return { states: new Map(), remark: null };
  const { workflowStates } = await import('../../../operations/support/workflowStates.ts');
  try {
    return { states: await workflowStates(await tools.temporal(), ids), remark: null };
  } catch (error) {
    return { states: new Map(), remark: unasked(error) };
  }
}

function unasked(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return `Temporal could not be asked (${printable(why)}).`;
}

function stateInWords(state: WorkflowState): string {
  return 'attempt' in state ? failing(state.attempt) : state.is;
}

function standstillInWords(how: Standstill): string {
  switch (how.is) {
    case 'failing':
      return failing(how.attempt);
    case 'untaken':
      return 'no worker takes its task';
    case 'waiting':
      return `waits; the message is ${how.status ?? 'unknown'}`;
  }
}

function failing(attempt: number): string {
  return `failing (attempt ${attempt})`;
}

function filterOf(
  kind: Kind,
  { account, route, minutes }: { account?: string; route?: string; minutes?: number },
): StuckFilter {
  return { accountId: account ?? null, route: route ?? null, minutes: minutes ?? MINUTES[kind] };
}

const isEvent = (kind: StuckKind): boolean => kind === 'webhook' || kind === 'resend';

function record(kind: StuckKind, thing: StuckThing, state?: WorkflowState): Record<string, unknown> {
  const { id, accountId: account_id, route, since } = thing;
  const workflow = state === undefined ? null : stateInWords(state);
  return { kind, id, account_id, route, since, workflow };
}
