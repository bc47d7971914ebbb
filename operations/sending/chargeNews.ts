import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { hearCharged, tellCharged } from '../../db/money/chargeNews.ts';
import type { Acceptance } from '../../domain/acceptance.ts';

/** What the workers tell of charges. */
export interface ChargeNews {
  /** Whether this process heard what it told itself lately. Else callers have their answer from the workflow alone. */
  heard(): boolean;
  /** Listens for the charge of one request. That it was refused, or that nothing is heard, the workflow tells. */
  of(requestId: string): HeardCharge;
  /** Listens no more. */
  stop(): Promise<void>;
}

/** The charge of one request, once it is heard of. */
export interface HeardCharge {
  accepted: Promise<Acceptance>;
  forget: () => void;
}

// Connections die without a word, and a pooler may lend one to LISTEN and take it back.
const CHECK_MS = 10_000;
const ECHO_MS = 2_000;
const AGAIN_MS = 500;

// An emitter has names of its own, `error` for one, that nobody is to reach from outside.
const eventOf = (requestId: string): string => `charge of ${requestId}`;

/**
 * Listens from now on, as soon as the database is there; one for each API process.
 * @param openListener a pool of one connection, for listening alone
 */
export function createChargeNews(sql: Database, openListener: () => Database, log: Logger): ChargeNews {
  const charges = new EventEmitter().setMaxListeners(0);
  const self = newId('req');
  const stopping = new AbortController();
  const { signal } = stopping;
  let listener: Database | null = null;
  let hears = false;
  let inVain = 0;

  async function listen(): Promise<void> {
    listener = openListener();
    try {
      await hearCharged(listener, (requestId) => charges.emit(eventOf(requestId)));
    } catch (error) {
      await endListener();
      throw error;
    }
  }

  function of(requestId: string): HeardCharge {
    let hear: () => void = () => undefined;
    const accepted = new Promise<Acceptance>((resolve) => (hear = () => resolve({ accepted: true })));
    charges.once(eventOf(requestId), hear);
    return { accepted, forget: () => charges.off(eventOf(requestId), hear) };
  }

  /** @returns whether this process heard what it told itself */
  async function hearsSelf(): Promise<boolean> {
    const { accepted, forget } = of(self);
    try {
      // It may wait long for a connection while the database is busy; what was told is heard at once.
      await tellCharged(sql, [self]);
      return await Promise.race([accepted.then(() => true), delay(ECHO_MS, false, { signal })]);
    } finally {
      forget();
    }
  }

  async function endListener(): Promise<void> {
    const ending = listener;
    listener = null;
    await ending?.end({ timeout: 0 });
  }

  async function look(): Promise<void> {
    if (listener === null) await listen();
    if (!(await hearsSelf())) {
      await endListener();
      throw new Error('told and not heard');
    }
    if (inVain > 0) log.info('charges are heard of again');
    [hears, inVain] = [true, 0];
  }

  async function keepListening(): Promise<void> {
    while (!signal.aborted) {
      await look().catch((error: unknown) => {
        hears = false;
        inVain += 1;
        if (inVain === 1 && !signal.aborted) {
          log.warn({ err: error }, 'charges are not heard of: sends are answered later');
        }
      });
      const pause = hears ? CHECK_MS : Math.min(AGAIN_MS * 2 ** inVain, CHECK_MS);
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  const listening = keepListening();
  return {
    heard: () => hears,
    of,
    async stop() {
      hears = false;
      stopping.abort();
      await endListener();
      await listening;
    },
  };
}
