import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { type ChargeNotice, listenForCharges, notifyCharged } from '../../db/money/chargeNotices.ts';

/** The workers' notices of charges. */
export interface ChargeListener {
  /** Whether a notice of this process to itself came lately. Else callers have their answer from the workflow alone. */
  works(): boolean;
  /** Listens for the charge of one request. Where no notice comes the workflow answers. */
  of(requestId: string): AwaitedCharge;
  /** Listens no more. */
  stop(): Promise<void>;
}

/** What the charge of one request decided, once its notice has come. */
export interface AwaitedCharge {
  decision: Promise<ChargeNotice['acceptance']>;
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
export function createChargeListener(
  sql: Database,
  openListener: () => Database,
  log: Logger,
): ChargeListener {
  const charges = new EventEmitter().setMaxListeners(0);
  const self = newId('req');
  const stopping = new AbortController();
  const { signal } = stopping;
  let listener: Database | null = null;
  let works = false;
  let inVain = 0;

  async function listen(): Promise<void> {
    listener = openListener();
    try {
      await listenForCharges(listener, ({ requestId, acceptance }) =>
        charges.emit(eventOf(requestId), acceptance),
      );
    } catch (error) {
      await endListener();
      throw error;
    }
  }

  function of(requestId: string): AwaitedCharge {
    let decide: (acceptance: ChargeNotice['acceptance']) => void = () => undefined;
    const decision = new Promise<ChargeNotice['acceptance']>((resolve) => (decide = resolve));
    charges.once(eventOf(requestId), decide);
    return { decision, forget: () => charges.off(eventOf(requestId), decide) };
  }

  /** @returns whether a notice of this process to itself came */
  async function reachesSelf(): Promise<boolean> {
    const { decision, forget } = of(self);
    try {
      // It may wait long for a connection while the database is busy; once sent, a notice comes at once.
      await notifyCharged(sql, [{ requestId: self, acceptance: { accepted: true } }]);
      return await Promise.race([decision.then(() => true), delay(ECHO_MS, false, { signal })]);
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
    if (!(await reachesSelf())) {
      await endListener();
      throw new Error('a notice was sent and did not come');
    }
    if (inVain > 0) log.info('notices of charges come again');
    [works, inVain] = [true, 0];
  }

  async function keepListening(): Promise<void> {
    while (!signal.aborted) {
      await look().catch((error: unknown) => {
        works = false;
        inVain += 1;
        if (inVain === 1 && !signal.aborted) {
          log.warn({ err: error }, 'notices of charges do not come: sends are answered later');
        }
      });
      const pause = works ? CHECK_MS : Math.min(AGAIN_MS * 2 ** inVain, CHECK_MS);
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  const listening = keepListening();
  return {
    works: () => works,
    of,
    async stop() {
      works = false;
      stopping.abort();
      await endListener();
      await listening;
    },
  };
}
