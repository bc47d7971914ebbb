import type { Outcome } from './requests.ts';

// The SMSC is alive but answered no submit for this long: something behind it is stuck.
const STUCK_MS = 30_000;

export interface Liveness {
  start(): void;
  stop(): void;
  /** Any PDU proves that the SMSC is alive: it may answer slowly, and in order. */
  pduReceived(): void;
  submitAnswered(): void;
  submitTimedOut(): void;
}

/** `enquire` sends enquire_link (SMPP 3.4, 4.11). `onDead`: half-open connection; `onStuck`: the SMSC is alive but answers no submits. */
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
    pduReceived() {
      heard++;
    },
    submitAnswered() {
      lateSince = undefined;
    },
    submitTimedOut() {
      if (stopped) return;
      if (timer !== undefined) void ask();
      lateSince ??= Date.now();
      if (Date.now() - lateSince >= Math.max(STUCK_MS, 3 * options.responseMs)) options.onStuck();
    },
  };
}
