import { AsyncResource } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { createRunning } from '../../concurrency/running.ts';
import { createTurns } from '../../concurrency/turns.ts';
import { waitFor } from '../../concurrency/waitFor.ts';
import type { Database } from '../../db/connection.ts';
import { isWrittenWithOthers, type Single } from '../../db/messages/drafts.ts';
import { currentPatience } from '../../db/patience.ts';
import type { Acceptance } from '../../domain/acceptance.ts';
import { ACCEPT_MS } from './asking.ts';
import { createRides, type Settling, type Waiting } from './rides.ts';

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
// A call keeps the next one waiting until it ends, but one that hangs, at one account's locked row say, no longer than this.
const HOLD_MAX_MS = 500;
// Where so few are on their way they gain little by riding together, and wait long for a call that takes its time: among the work
// of another account's flood it takes a second.
const FEW = 4;
const HOLD_FEW_MS = 100;

/** One for each API process. */
export function createSingles(servers: { sql: Database; temporal: Client }): Singles {
  const rides = createRides(servers);
  const waiting = createTurns<Waiting>();
  const beingRead = createRunning();
  const arrivals = new Map<string, () => void>();
  let underWay = 0;
  let held = false;

  function look(): void {
    if (held || waiting.waiting() === 0) return;
    held = true;
    const next = (): void => {
      held = false;
      look();
    };
    waitFor(beingRead.settled(), ANNOUNCED_MS, () => undefined)
      .then(begin)
      .then(next, next);
  }

  /** @returns when the next call may begin */
  async function begin(): Promise<void> {
    const taken = waiting.take(MOST);
    underWay += taken.length;
    const call = rides.together(taken).finally(() => (underWay -= taken.length));
    await Promise.race([call, pause(HOLD_FEW_MS)]);
    if (underWay + waiting.waiting() > FEW) await Promise.race([call, pause(HOLD_MAX_MS - HOLD_FEW_MS)]);
  }

  return {
    announce(requestId) {
      const { promise, resolve } = settling<void>();
      const arrive = (): void => {
        arrivals.delete(requestId);
        resolve();
      };
      beingRead.add(promise);
      arrivals.set(requestId, arrive);
      return arrive;
    },
    accept(single, receivedAt) {
      const one = waitingSince(single, receivedAt);
      if (isWrittenWithOthers(single)) {
        waiting.add(single.draft.accountId, one);
        look();
      } else void rides.alone(one);
      arrivals.get(single.draft.requestId)?.();
      return { written: one.written.promise, deciding: one.deciding.promise };
    },
  };
}

function pause(ms: number): Promise<void> {
  return delay(ms, undefined, { ref: false });
}

function waitingSince(single: Single, receivedAt: number): Waiting {
  const until = receivedAt + ACCEPT_MS;
  return {
    ...single,
    until,
    patience: currentPatience() ?? { owner: null, until, signal: null },
    context: new AsyncResource('single'),
    ...{ written: settling<boolean>(), deciding: settling<Acceptance>() },
  };
}

function settling<T>(): Settling<T> {
  let resolve: Settling<T>['resolve'] = () => undefined;
  let reject: Settling<T>['reject'] = () => undefined;
  const promise = new Promise<T>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  // Whoever waits for it looks at it when there is time.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
