import { readStuck, type StuckFilter, type StuckKind, type StuckThing } from '../../db/messages/stuck.ts';
import type { Sql } from '../../db/connection.ts';
import { type ResendRefusal, type StaffRefusal, StaffRefused } from '../../domain/refusals.ts';
import { findAccount } from '../accounts/find.ts';
import { cancelToTheLast } from '../cancel.ts';
import { findRoute } from '../routes/find.ts';
import { recordedAfter, type StaffServices } from '../staff.ts';
import { resendAll } from '../webhooks/resend.ts';
import { decide, isOfThisOne } from './decisions.ts';
import { MINUTES, STUCK_ACTIONS, type StuckAction } from './stuck.ts';

interface Input {
  action: StuckAction;
  /** What is absent is any; `minutes` is that of the kind. */
  filter: { account?: string; route?: string; minutes?: number };
  limit: number;
  /** Else nothing is done, and it only answers to which it would be. */
  agreed: boolean;
}

/** Something that was left as it is; `why` is null where no worker answered in time, and it may still be done. */
export interface LeftStuck {
  id: string;
  why: StaffRefusal | ResendRefusal | null;
}

/** What was done to what is stuck. */
export interface Unstuck {
  kind: StuckKind;
  /** Those that it is about, the longest stuck first. */
  things: StuckThing[];
  /** How many there are in all. */
  of: number;
  /** Null where it was not agreed to. */
  outcome: { done: string[]; left: LeftStuck[] } | null;
}

/**
 * Does the same to many that are stuck.
 * @throws StaffRefused also where it is one alone, and nothing was done to it
 */
export const unstick = recordedAfter('unstick', async (services, input: Input) => {
  const { action, filter, limit, agreed } = input;
  const { account, route } = filter;
  await requireThere(services.sql, filter);
  const kind = STUCK_ACTIONS[action];
  const minutes = filter.minutes ?? MINUTES[kind];
  const wanted: StuckFilter = { accountId: account ?? null, route: route ?? null, minutes };
  const { count, things } = await readStuck(services.sql, kind, wanted, limit);
  const record = account === undefined ? {} : { account };
  const about = { kind, things, of: count };
  if (!agreed) {
    const data: Unstuck = { ...about, outcome: null };
    return { data, ...record, details: { action, carried_out: false } };
  }
  const outcome = await carryOut(services, action, things);
  const data: Unstuck = { ...about, outcome };
  return {
    data,
    ...record,
    details: { action, ...filter, done: outcome.done, left: outcome.left.map(reasonOf) },
  };
});

function reasonOf({ id, why }: LeftStuck): { id: string; reason: string } {
  return { id, reason: why?.reason ?? 'timed_out' };
}

async function requireThere(sql: Sql, { account, route }: Input['filter']): Promise<void> {
  if (account !== undefined) await findAccount(sql, account);
  if (route !== undefined) await findRoute(sql, route);
}

/** One after the other; what could not be done is answered, and the rest goes on, unless nothing answers any more. */
async function carryOut(
  services: StaffServices,
  action: StuckAction,
  things: readonly StuckThing[],
): Promise<{ done: string[]; left: LeftStuck[] }> {
  if (action === 'resend') {
    const { resent, left } = await resendAll(
      services,
      things.map(({ id }) => id),
    );
    return { done: resent, left };
  }
  const done: string[] = [];
  const left: { id: string; why: StaffRefusal | null }[] = [];
  for (const { id } of things) {
    try {
      const { carriedOut } = await carryOutOne(services, action, id);
      if (carriedOut) done.push(id);
      else left.push({ id, why: null });
    } catch (error) {
      if (!(error instanceof StaffRefused)) throw error;
      left.push({ id, why: error.refusal });
      if (!isOfThisOne(error)) break;
    }
  }
  const [only] = left;
  if (only !== undefined && things.length === 1) {
    throw new StaffRefused({ reason: 'nothing_unstuck', why: only.why });
  }
  return { done, left };
}

function carryOutOne(services: StaffServices, action: Exclude<StuckAction, 'resend'>, id: string) {
  if (action === 'cancel') return cancelToTheLast(services, id);
  return decide(services, id, action === 'resubmit' ? 'resubmit' : 'giveUp');
}
