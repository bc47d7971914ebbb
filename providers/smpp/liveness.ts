import type { Outcome } from './requests.ts';

/** Alive, but no submit answered for so long: something behind the SMSC is stuck. */
const STUCK_MS = 30_000;

/** Finds out whether an SMSC is still there, and still answers submits. */
export interface Liveness {
  start(): void;
  stop(): void;
  /** A PDU came. Any is a sign of life: an SMSC may answer slowly, and in order. */
  heard(): void;
  submitAnswered(): void;
  /** A submit was not answered in time: asks at once whether anybody is there. */
  submitLate(): void;
}

/**
 * @param enquire sends enquire_link (SMPP 3.4, 4.11)
 * @param onDead nobody is there: a half-open connection
 * @param onStuck somebody is there, and answers no submits
 */
export function createLiveness(options: {
  intervalMs: number;
  responseMs: number;
  enquire(): Promise<Outcome>;
  onDead(): void;
  onStuck(): void;
}): Liveness {
  let stopped = true;
  let timer: NodeJS.Timeout | undefined;
  let heard = 0;
  let lateSince: number | undefined;

  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const before = heard;
    const outcome = await options.enquire();
    if (stopped) return;
    if (outcome.kind === 'late' && heard === before) options.onDead();
    else askLater();
  };
  const askLater = (): void => {
    timer = setTimeout(() => void ask(), options.intervalMs);
  };

  return {
    start() {
      stopped = false;
      askLater();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    heard() {
      heard++;
    },
    submitAnswered() {
      lateSince = undefined;
    },
    submitLate() {
      if (stopped) return;
      if (timer !== undefined) void ask();
      lateSince ??= Date.now();
      if (Date.now() - lateSince >= Math.max(STUCK_MS, 3 * options.responseMs)) options.onStuck();
    },
  };
}
