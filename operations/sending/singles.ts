import { AsyncResource } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { createRunning } from '../../concurrency/running.ts';
import { createTurns } from '../../concurrency/turns.ts';
import { waitFor } from '../../concurrency/waitFor.ts';
import { isFaultOfRow, type Database } from '../../db/connection.ts';
import {
  isWrittenWithOthers,
  type Single,
  writeDrafts,
  writeDraftsWithKey,
  writeSingles,
} from '../../db/messages/drafts.ts';
import {
  currentPatience,
  isOver,
  OutOfPatienceError,
  type Patience,
  withPatience,
} from '../../db/patience.ts';
import { type Acceptance, acceptanceOf } from '../../domain/acceptance.ts';
import { ACCEPT_MS, askMessage, askTogether } from './asking.ts';

/**
 * Accepts requests of one message. One that comes alone is written and charged by itself. While that is under way others gather, of
 * whichever account; the next call takes them together, each account in its turn. What goes wrong with one of them concerns it alone.
 */
export interface Singles {
  /**
   * Announces a request that is being read: a call that could begin waits for it, so that those that come in the same moment ride
   * together.
   * @returns to be called when it comes no more
   */
  announce(requestId: string): () => void;
  /** @param receivedAt when the request came, epoch milliseconds */
  accept(single: Single, receivedAt: number): Accepting;
}

/** A request on its way. */
export interface Accepting {
  /** False when its key is taken: nothing is written. Rejects with LinksChangedError, and whatever failed. */
  written: Promise<boolean>;
  /** The charge of what was written. Rejects where Temporal gives no answer. */
  deciding: Promise<Acceptance>;
}

// What one call takes at most: its charge is one transaction, and all of them wait for it.
const MOST = 100;
// Those being read: each has its own deadline, and others wait for it here.
const ANNOUNCED_MS = 50;
// A call that hangs, at one account's locked row say, keeps the others waiting no longer.
const HOLD_MS = 500;
// Beyond the deadline of whoever waits in vain: nothing is written after that.
const WRITE_MS = 4_000;

interface Waiting extends Single {
  /** Until when its charge is waited for, epoch milliseconds. */
  until: number;
  patience: Patience;
  /** Of its request, for traces and log lines. */
  context: AsyncResource;
  written: PromiseWithResolvers<boolean>;
  deciding: PromiseWithResolvers<Acceptance>;
}

interface PromiseWithResolvers<T> {
  promise: Promise<T>;
  resolve: (value: T | Promise<T>) => void;
  reject: (error: unknown) => void;
}

/** One for each API process. */
export function createSingles({ sql, temporal }: { sql: Database; temporal: Client }): Singles {
  const waiting = createTurns<Waiting>();
  const beingRead = createRunning();
  const arrivals = new Map<string, () => void>();
  let underWay = false;
  let lastCallMs: number | null = null;

  function look(): void {
    if (underWay || waiting.waiting() === 0) return;
    underWay = true;
    const next = (): void => {
      underWay = false;
      look();
    };
    waitFor(beingRead.settled(), ANNOUNCED_MS, () => undefined)
      .then(() => {
        const held = delay(HOLD_MS, undefined, { ref: false });
        return Promise.race([ride(waiting.take(MOST)), held]);
      })
      .then(next, next);
  }

  /** Writes and charges them; what comes of it, each gets for itself. */
  async function ride(taken: readonly Waiting[]): Promise<void> {
    const patient = taken.filter((one) => {
      const isLate = isOver(one.patience);
      if (isLate) one.written.reject(new OutOfPatienceError('nobody waits for this any more'));
      return !isLate;
    });
    const { firsts, others } = byKey(patient);
    const written = firsts.length === 1 ? [await writeAlone(firsts[0]!)] : await writeTogether(firsts);
    // Of those with the same key, one has it now.
    for (const one of others) void rideAlone(one);
    await charge(firsts.filter((one, index) => written[index] && isAwaited(one)));
  }

  async function rideAlone(one: Waiting): Promise<void> {
    if ((await writeAlone(one)) && isAwaited(one)) await charge([one]);
  }

  async function writeAlone(one: Waiting): Promise<boolean> {
    const { draft, claim, patience } = one;
    // Others wait for this one: it does not wait for a place among its account's.
    const writing = inContext(one, () =>
      withPatience({ ...patience, owner: null }, async () => {
        if (claim !== null) return await writeDraftsWithKey(sql, [draft], claim);
        await writeDrafts(sql, [draft]);
        return true;
      }),
    );
    one.written.resolve(writing);
    return await writing.catch(() => false);
  }

  async function writeTogether(some: readonly Waiting[]): Promise<boolean[]> {
    if (some.length === 0) return [];
    try {
      const patience = { owner: null, until: Date.now() + WRITE_MS, signal: null };
      const written = await withPatience(patience, () => writeSingles(sql, some));
      return some.map((one) => {
        const isWritten = written.has(one.draft.requestId);
        one.written.resolve(isWritten);
        return isWritten;
      });
    } catch (error) {
      // Nobody knows whose: each is written by itself.
      if (isFaultOfRow(error)) return await Promise.all(some.map(writeAlone));
      for (const one of some) one.written.reject(error);
      return some.map(() => false);
    }
  }

  /** Whoever has gone before its charge is charged nothing. */
  function isAwaited({ patience: { signal }, deciding }: Waiting): boolean {
    if (signal?.aborted !== true) return true;
    deciding.reject(new OutOfPatienceError('nobody waits for this any more'));
    return false;
  }

  async function charge(some: readonly Waiting[]): Promise<void> {
    const [first, ...others] = some;
    if (first === undefined) return;
    if (others.length === 0) return await chargeAlone(first);
    const until = Math.max(...some.map((one) => one.until));
    const drafts = some.map(({ draft }) => draft);
    const began = performance.now();
    try {
      const decided = await inContext(first, () => askTogether(temporal, drafts, lastCallMs, until));
      for (const one of some) {
        const acceptance = acceptanceOf(decided, one.draft.requestId);
        if (acceptance === null) void chargeAlone(one);
        else one.deciding.resolve(acceptance);
      }
    } catch (error) {
      for (const one of some) one.deciding.reject(error);
    } finally {
      lastCallMs = Math.round(performance.now() - began);
    }
  }

  async function chargeAlone(one: Waiting): Promise<void> {
    const asking = inContext(one, () => askMessage(temporal, one.draft, one.until));
    one.deciding.resolve(asking);
    await asking.catch(() => undefined);
  }

  return {
    announce(requestId) {
      const { promise, resolve } = withResolvers<void>();
      const arrive = (): void => {
        arrivals.delete(requestId);
        resolve();
      };
      beingRead.add(promise);
      arrivals.set(requestId, arrive);
      return arrive;
    },
    accept(single, receivedAt) {
      const one = {
        ...single,
        until: receivedAt + ACCEPT_MS,
        patience: currentPatience() ?? { owner: null, until: receivedAt + ACCEPT_MS, signal: null },
        context: new AsyncResource('single'),
        ...{ written: withResolvers<boolean>(), deciding: withResolvers<Acceptance>() },
      };
      if (isWrittenWithOthers(single)) {
        waiting.add(single.draft.accountId, one);
        look();
      } else void rideAlone(one);
      arrivals.get(single.draft.requestId)?.();
      return { written: one.written.promise, deciding: one.deciding.promise };
    },
  };
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

function inContext<T>({ context }: Waiting, work: () => Promise<T>): Promise<T> {
  return context.runInAsyncScope(work);
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: PromiseWithResolvers<T>['resolve'] = () => undefined;
  let reject: PromiseWithResolvers<T>['reject'] = () => undefined;
  const promise = new Promise<T>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  // Whoever waits for it looks at it when there is time.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
