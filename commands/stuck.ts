import { COUNTED_MAX, readStuck, type StuckFilter, type StuckKind } from '../db/messages/stuck.ts';
import type { Sql } from '../db/connection.ts';
import { findRoute } from '../operations/routes/routes.ts';
import {
  KINDS,
  MINUTES,
  type StuckReason,
  STUCK_ACTION_NAMES,
  STUCK_ACTIONS,
  type WorkflowKind,
} from '../operations/support/stuck.ts';
import type { WorkflowState } from '../operations/support/workflow.ts';
import { carriedOut } from './bulks.ts';
import { command, NOTHING_DONE, optional, required, shown } from './command.ts';
import type { Tools } from './tools.ts';
import { limit, oneOf, stuckFilters, yes } from './values.ts';
import { fromTemporal } from './workflows.ts';

interface Found {
  /** Null: only Temporal knows, and it is unreachable. */
  count: number | string | null;
  things: object[];
  remark: string | null;
}

export const stuckCommands = [
  command({
    name: 'stuck',
    about: 'Counts and lists what does not move on, with its workflow as Temporal sees it.',
    options: {
      kind: optional('--kind <KIND>', KINDS.join(', '), oneOf(...KINDS)),
      ...stuckFilters,
      limit: limit(20),
    },
    outside: true,
    async run(sql, { kind: only, account = null, route = null, minutes, limit }, tools) {
      if (route !== null) await findRoute(sql, route);
      const counts: Record<string, string | number> = {};
      const data: object[] = [];
      const remarks = new Set<string | null>();
      for (const kind of only === undefined ? KINDS : [only]) {
        const filter = { accountId: account, route, minutes: minutes ?? MINUTES[kind] };
        const { count, things, remark } =
          kind === 'task' || kind === 'timer'
            ? await findWorkflows(sql, tools, kind, filter)
            : await findStored(sql, tools, kind, filter, limit);
        if (count !== null) counts[kind] = count;
        data.push(...things.slice(0, limit));
        remarks.add(remark);
      }
      return shown({ ...counts, data }, ...remarks);
    },
  }),
  command({
    name: 'unstick',
    about: 'Acts on many: cancel (overdue), resubmit or give-up (unanswered), resend (webhook).',
    options: {
      action: required('--action <ACTION>', STUCK_ACTION_NAMES.join(', '), oneOf(...STUCK_ACTION_NAMES)),
      ...stuckFilters,
      limit: limit(100),
      yes,
    },
    async ask(asking, { action, limit, yes: agreed, ...filter }) {
      const { plan, done, left, remark } = await carriedOut(asking, { action, filter, limit, agreed });
      const { things, of } = plan;
      if (agreed) return shown({ action, of, done, data: left }, remark);
      const data = things.map((thing) => ({ kind: STUCK_ACTIONS[action], ...thing, workflow: null }));
      return shown({ would: action, on: things.length, of, data }, NOTHING_DONE);
    },
  }),
];

async function findWorkflows(
  sql: Sql,
  tools: Tools,
  kind: WorkflowKind,
  filter: StuckFilter,
): Promise<Found> {
  const { stuckTasks, stuckTimers } = await import('../operations/support/stuck.ts');
  const { found, remark } = await fromTemporal(tools, (client) =>
    kind === 'task' ? stuckTasks(client, filter) : stuckTimers(sql, client, filter),
  );
  if (found === null) return { count: null, things: [], remark };
  const { things, looked, running } = found;
  return {
    count: things.length,
    things: things.map(({ how, ...thing }) => ({ kind, ...thing, workflow: standstillInWords(how) })),
    remark: looked < running ? `${kind}: ${looked} of ${running} workflows were looked at.` : null,
  };
}

async function findStored(
  sql: Sql,
  tools: Tools,
  kind: StuckKind,
  filter: StuckFilter,
  limit: number,
): Promise<Found> {
  const { count, things } = await readStuck(sql, kind, filter, limit);
  const isEvent = kind === 'webhook' || kind === 'resend';
  const { states, remark } = await statesOf(tools, isEvent ? [] : things.map(({ id }) => id));
  return {
    count: count === COUNTED_MAX ? `${COUNTED_MAX} or more` : count,
    things: things.map((thing) => ({ kind, ...thing, workflow: stateInWords(states.get(thing.id)) })),
    remark,
  };
}

// By id; empty, with a remark, if Temporal is unreachable.
async function statesOf(tools: Tools, ids: readonly string[]) {
  const none = new Map<string, WorkflowState>();
  if (ids.length === 0) return { states: none, remark: null };
  const { workflowStates } = await import('../operations/support/workflow.ts');
  const { found, remark } = await fromTemporal(tools, (client) => workflowStates(client, ids));
  return { states: found ?? none, remark };
}

function stateInWords(state: WorkflowState | undefined): string | null {
  if (state === undefined) return null;
  return 'attempt' in state ? `failing (attempt ${state.attempt})` : state.is;
}

function standstillInWords(how: StuckReason): string {
  switch (how.is) {
    case 'failing':
      return `failing (attempt ${how.attempt})`;
    case 'untaken':
      return 'no worker takes its task';
    case 'waiting':
      return `waits; the message is ${how.status ?? 'unknown'}`;
  }
}
