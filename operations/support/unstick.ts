import { readScheduled } from '../../db/messages/pauses.ts';
import { readStuck, type StuckFilter } from '../../db/messages/stuck.ts';
import { type ResendRefusal, type StaffRefusal, StaffRefused } from '../../domain/refusals.ts';
import { findAccount } from '../accounts/accounts.ts';
import { cancelBySignal } from '../cancel.ts';
import { findRoute } from '../routes/routes.ts';
import {
  type ItemOutcome,
  actOnEach,
  notCarriedOut,
  recordedAfter,
  type Recorder,
  type StaffServices,
} from '../staff.ts';
import { resendAll } from '../webhooks/resend.ts';
import { decide, actOrRefusal } from './decisions.ts';
import { MINUTES, STUCK_ACTIONS, type StuckAction } from './stuck.ts';

const CANCELS_AT_ONCE = 10;

interface Input {
  action: StuckAction;
  /** Absent fields match anything; `minutes` defaults to that of the kind. */
  filter: { account?: string; route?: string; minutes?: number };
  limit: number;
  /** False: dry run. */
  agreed: boolean;
}

/**
 * Applies an action to many stuck things. Each gets its own audit record right after it; a final one has the totals and what was left.
 * @returns the things, the total without the limit, and an outcome for each, in that order; null in a dry run
 * @throws StaffRefused also if the only one was refused
 */
export const unstick = recordedAfter('unstick', async (services, input: Input, record) => {
  const { action, filter, limit, agreed } = input;
  const { account, route } = filter;
  if (account !== undefined) await findAccount(services.sql, account);
  if (route !== undefined) await findRoute(services.sql, route);
  const kind = STUCK_ACTIONS[action];
  const minutes = filter.minutes ?? MINUTES[kind];
  const wanted: StuckFilter = { accountId: account ?? null, route: route ?? null, minutes };
  const { count, things } = await readStuck(services.sql, kind, wanted, limit);
  const ids = things.map(({ id }) => id);
  const recordOne: Recorder = ({ details, ...act }) => record({ ...act, details: { action, ...details } });
  const outcome = agreed ? await carryOut(services, action, ids, recordOne) : null;
  const data = { kind, things, of: count, outcome };
  if (outcome === null) return { data, account, details: { action, carried_out: false } };
  const done = outcome.filter(({ carriedOut }) => carriedOut === true).length;
  return { data, account, details: { action, ...filter, done, left: notCarriedOut(outcome) } };
});

async function carryOut(
  services: StaffServices,
  action: StuckAction,
  ids: readonly string[],
  record: Recorder,
): Promise<ItemOutcome<StaffRefusal | ResendRefusal>[]> {
  if (action === 'resend') return await resendAll(services, ids, record);
  const outcome = await actOnEach(ids, record, async (id) => {
    const one = await actOrRefusal(id, () => carryOutOne(services, action, id));
    if (one.carriedOut === false && ids.length === 1) throw nothingUnstuck(one.why);
    return one;
  });
  if (ids.length === 1 && outcome[0]?.carriedOut === null) throw nothingUnstuck(null);
  return outcome;
}

function nothingUnstuck(why: StaffRefusal | null): StaffRefused {
  return new StaffRefused({ reason: 'nothing_unstuck', why });
}

function carryOutOne(services: StaffServices, action: Exclude<StuckAction, 'resend'>, id: string) {
  if (action === 'cancel') return cancelBySignal(services, id);
  return decide(services, id, action === 'resubmit' ? 'resubmit' : 'giveUp');
}

interface CancelInput {
  account: string;
  request: string | null;
  limit: number;
  /** False: dry run. */
  agreed: boolean;
}

/**
 * Cancels the scheduled messages of an account or a request, with or without a workflow. Audit records and result as for `unstick`.
 * @throws StaffRefused if nothing was done
 */
export const cancelMany = recordedAfter(
  'messages cancel-all',
  async (services, input: CancelInput, record) => {
    const { account, request, limit, agreed } = input;
    await findAccount(services.sql, account);
    const { count, ids } = await readScheduled(
      services.sql,
      { accountId: account, requestId: request },
      limit,
    );
    const of = request === null ? {} : { request };
    const cancelOne = (id: string) => actOrRefusal(id, () => cancelBySignal(services, id));
    const outcome = agreed ? await actOnEach(ids, record, cancelOne, CANCELS_AT_ONCE) : null;
    const data = { ids, of: count, outcome };
    if (outcome === null) return { data, account, details: { ...of, carried_out: false } };
    const done = outcome.filter(({ carriedOut }) => carriedOut === true).length;
    return { data, account, details: { ...of, done, left: notCarriedOut(outcome) } };
  },
);
