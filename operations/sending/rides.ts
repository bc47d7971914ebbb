import type { AsyncResource } from 'node:async_hooks';
import type { Client } from '@temporalio/client';
import { createFairSemaphore } from '../../concurrency/semaphore.ts';
import { waitFor } from '../../concurrency/waitFor.ts';
import { isFaultOfLocks, isFaultOfRow, type Database } from '../../db/connection.ts';
import { type Single, writeDrafts, writeDraftsWithKey, writeSingles } from '../../db/messages/drafts.ts';
import { isOver, OutOfPatienceError, type Patience, withPatience } from '../../db/patience.ts';
import { type Acceptance, acceptanceOf } from '../../domain/acceptance.ts';
import { askMessage, askTogether } from './asking.ts';

// Beyond the deadline of whoever waits in vain: nothing is written after that.
const WRITE_MS = 4_000;
// Longer than others keep a key while they claim it, and short for those who wait beside it.
const LOCK_MS = 150;
// Where each is written by itself, those that take longer are charged by themselves.
const EACH_MS = 300;
// Each that waits for its account's money keeps one of a worker's places, of which there are sixty for all accounts.
const ALONE_EACH = 4;
// An account with more of them in a call has a call of its own: the starts of its messages keep nobody else's waiting.
const MANY_OF_ONE = 8;

// Whose connections a call is written with: the fair share of one more account. Without an owner the driver would put it behind a statement
// of somebody's that waits for a lock.
const EVERYBODY = 'single sends';

/** A request of one message that waits to be written and charged. */
export interface Waiting extends Single {
  /** Until when its charge is waited for, epoch milliseconds. */
  until: number;
  patience: Patience;
  /** Of its request, for traces and log lines. */
  context: AsyncResource;
  /** Whether its drafts were written, or its key was taken. */
  written: Settling<boolean>;
  deciding: Settling<Acceptance>;
}

/** A promise, and how it is settled. */
export interface Settling<T> {
  promise: Promise<T>;
  resolve: (value: T | Promise<T>) => void;
  reject: (error: unknown) => void;
}

/** Writing and charging requests of one message. What comes of it, each gets for itself; neither rejects. */
export interface Rides {
  alone(one: Waiting): Promise<void>;
  /** All in one transaction and one workflow, as far as they can. */
  together(taken: readonly Waiting[]): Promise<void>;
}

/** One for each API process. */
export function createRides({ sql, temporal }: { sql: Database; temporal: Client }): Rides {
  const charges = createCharges(temporal);

  async function alone(one: Waiting): Promise<void> {
    if ((await writeAlone(sql, one, one.patience)) && isAwaited(one)) await charges.alone(one);
  }

  async function writeFirst(one: Waiting): Promise<Waiting[]> {
    // Others wait for this one: it does not wait for a place among its account's.
    return (await writeAlone(sql, one, { ...one.patience, owner: null })) ? [one] : [];
  }

  /** @returns those that are to be charged together */
  async function writeTogether(some: readonly Waiting[]): Promise<Waiting[]> {
    if (some.length === 0) return [];
    try {
      const patience = { owner: EVERYBODY, until: Date.now() + WRITE_MS, signal: null };
      const written = await withPatience(patience, () => writeSingles(sql, some, LOCK_MS));
      return some.filter((one) => {
        const isWritten = written.has(one.draft.requestId);
        one.written.resolve(isWritten);
        return isWritten;
      });
    } catch (error) {
      // Nobody knows whose: each is written by itself.
      if (isFaultOfRow(error) || isFaultOfLocks(error)) return await writeEach(some);
      for (const one of some) one.written.reject(error);
      return [];
    }
  }

  /** One that waits for what others have locked keeps nobody waiting for it. */
  async function writeEach(some: readonly Waiting[]): Promise<Waiting[]> {
    const written: Waiting[] = [];
    let late = false;
    const writeOne = async (one: Waiting): Promise<void> => {
      if (!(await writeAlone(sql, one, one.patience))) return;
      if (!late) written.push(one);
      else if (isAwaited(one)) await charges.alone(one);
    };
    await waitFor(Promise.all(some.map(writeOne)), EACH_MS, () => undefined);
    late = true;
    return written;
  }

  return {
    alone,
    async together(taken) {
      const { firsts, others } = byKey(taken.filter(isPatient));
      const written = await (firsts.length === 1 ? writeFirst(firsts[0]!) : writeTogether(firsts));
      // Of those with the same key, one has it now.
      for (const one of others) void alone(one);
      await Promise.all(callsOf(written.filter(isAwaited)).map((call) => charges.together(call)));
    },
  };
}

/** Those of accounts that have many, by account, and all others together. */
function callsOf(some: readonly Waiting[]): Waiting[][] {
  const byAccount = new Map<string, Waiting[]>();
  for (const one of some) {
    const { accountId } = one.draft;
    byAccount.set(accountId, [...(byAccount.get(accountId) ?? []), one]);
  }
  const each = [...byAccount.values()];
  const others = each.filter(({ length }) => length <= MANY_OF_ONE).flat();
  return [...each.filter(({ length }) => length > MANY_OF_ONE), others].filter(({ length }) => length > 0);
}

/** What can be charged too late only is not written. */
function isPatient({ patience, until, written }: Waiting): boolean {
  if (!isOver(patience) && Date.now() < until) return true;
  written.reject(nobodyWaits());
  return false;
}

/** Whoever has gone before its charge is charged nothing. */
function isAwaited({ patience: { signal }, deciding }: Waiting): boolean {
  if (signal?.aborted !== true) return true;
  deciding.reject(nobodyWaits());
  return false;
}

function nobodyWaits(): OutOfPatienceError {
  return new OutOfPatienceError('nobody waits for this any more');
}

/** The first of each key, and those that come after it. */
function byKey(some: readonly Waiting[]): { firsts: Waiting[]; others: Waiting[] } {
  const keys = new Set<string>();
  const firsts: Waiting[] = [];
  const others: Waiting[] = [];
  for (const one of some) {
    const { claim, draft } = one;
    const key = claim === null ? draft.requestId : `${draft.accountId} ${claim.key}`;
    (keys.has(key) ? others : firsts).push(one);
    keys.add(key);
  }
  return { firsts, others };
}

async function writeAlone(sql: Database, one: Waiting, patience: Patience): Promise<boolean> {
  const { draft, claim } = one;
  const writing = inContext(one, () =>
    withPatience(patience, async () => {
      if (claim !== null) return await writeDraftsWithKey(sql, [draft], claim);
      await writeDrafts(sql, [draft]);
      return true;
    }),
  );
  one.written.resolve(writing);
  return await writing.catch(() => false);
}

/** Asks for charges; what comes of each, whoever waits for it gets. None of these rejects. */
interface Charges {
  alone(one: Waiting): Promise<void>;
  together(some: readonly Waiting[]): Promise<void>;
}

function createCharges(temporal: Client): Charges {
  const turns = createFairSemaphore(Infinity, ALONE_EACH);
  let lastCallMs: number | null = null;

  /** One without an answer says nothing of the others: its account's money may be locked. */
  async function timed<T>(call: Promise<T>): Promise<T> {
    const began = performance.now();
    const answer = await call;
    lastCallMs = Math.round(performance.now() - began);
    return answer;
  }

  async function alone(one: Waiting): Promise<void> {
    const ask = () => timed(inContext(one, () => askMessage(temporal, one.draft, lastCallMs, one.until)));
    const limit = { until: one.until, signal: one.patience.signal, error: nobodyWaits };
    const asking = turns.run(one.draft.accountId, ask, limit);
    one.deciding.resolve(asking);
    await asking.catch(() => undefined);
  }

  return {
    alone,
    async together(some) {
      const [first] = some;
      if (first === undefined) return;
      if (some.length === 1) return await alone(first);
      const until = Math.max(...some.map((one) => one.until));
      const drafts = some.map(({ draft }) => draft);
      try {
        const decided = await timed(inContext(first, () => askTogether(temporal, drafts, lastCallMs, until)));
        for (const one of some) answer(one, acceptanceOf(decided, one.draft.requestId));
      } catch (error) {
        for (const one of some) one.deciding.reject(error);
      }
    },
  };

  function answer(one: Waiting, acceptance: Acceptance | null): void {
    if (acceptance === null) void alone(one);
    else one.deciding.resolve(acceptance);
  }
}

function inContext<T>({ context }: Waiting, work: () => Promise<T>): Promise<T> {
  return context.runInAsyncScope(work);
}
