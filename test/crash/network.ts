import type { Behaviour, Submit } from '../smsc/behaviour.ts';
import type { Connection } from '../smsc/connection.ts';
import { partKey } from '../smsc/counts.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { partOf } from '../smsc/text.ts';
import { COMMAND, cString } from '../smsc/wire.ts';

/** An SMSC that treats numbers by their last three digits, as the simulated network does, and can be told to wait. */
export interface Network {
  smsc: Smsc;
  /** How often each part for a number was taken. */
  taken(recipient: string): Record<string, number>;
  /** Parts that were submitted again although an earlier submit may have been taken. */
  submittedTwice(): string[];
  /** Keeps the answer to the next submit for a number, and its report; resolves when that submit has come. */
  hold(recipient: string): Promise<HeldSubmit>;
}

/** A submit that waits for its answer. */
interface HeldSubmit {
  /** Answers it, if its connection still lives. */
  answer(): void;
  /** Sends the report of what was taken, and again until somebody acknowledges it. */
  report(): void;
}

const STATUS = { badDestination: 0x0b, throttled: 0x58 };
const REFUSED_ENDING = '902';
const THROTTLED_TRIES = 3;
/** Said by an SMSC that has not taken the part: only after these it may come again. */
const REPEATABLE = new Set([0x08, 0x14, 0x45, STATUS.throttled]);
const REPORTED_AFTER_MS = 300;

/** Starts it on 127.0.0.1. */
export async function startNetwork(): Promise<Network> {
  const smsc = await startSmsc();
  const holding = new Map<string, (held: HeldSubmit) => void>();
  const tries = new Map<string, number>();
  smsc.behave = (submit, connection) => {
    const key = partKey(submit);
    tries.set(key, (tries.get(key) ?? 0) + 1);
    const held = holding.get(`+${submit.destination}`);
    if (held === undefined) return byEnding(submit, tries.get(key)!);
    holding.delete(`+${submit.destination}`);
    const status = submit.destination.endsWith(REFUSED_ENDING) ? STATUS.badDestination : 0;
    setImmediate(() => held(heldSubmit(smsc, submit, connection, status)));
    return { answer: 'never', status, reports: [] };
  };
  return {
    smsc,
    taken(recipient) {
      const counts: Record<string, number> = {};
      for (const submit of smsc.submits) {
        if (!submit.taken || `+${submit.destination}` !== recipient) continue;
        const part = String(partOf(submit)?.number ?? 1);
        counts[part] = (counts[part] ?? 0) + 1;
      }
      return counts;
    },
    submittedTwice() {
      const seen = new Set<string>();
      return smsc.submits
        .filter(({ status }) => !REPEATABLE.has(status))
        .map(partKey)
        .filter((key) => seen.size === seen.add(key).size);
    },
    hold: (recipient) => new Promise((resolve) => holding.set(recipient, resolve)),
  };
}

function heldSubmit(smsc: Smsc, submit: Submit, connection: Connection, status: number): HeldSubmit {
  const pdu = { id: COMMAND.submitSm, sequence: submit.sequence, status: 0, body: Buffer.alloc(0) };
  return {
    answer: () => connection.respond(pdu, status, cString(submit.id ?? '')),
    report: () => void smsc.report(submit, { stat: 'DELIVRD' }),
  };
}

function byEnding({ destination }: Submit, tries: number): Behaviour {
  const delivered = { stat: 'DELIVRD', afterMs: REPORTED_AFTER_MS };
  switch (destination.slice(-3)) {
    case '901':
      return { reports: [{ stat: 'UNDELIV', afterMs: REPORTED_AFTER_MS }] };
    case REFUSED_ENDING:
      return { status: STATUS.badDestination };
    case '903':
      return { reports: [] };
    case '904':
      return tries <= THROTTLED_TRIES ? { status: STATUS.throttled } : { reports: [delivered] };
    case '905':
      return { taken: false, answer: 'never' };
    case '907':
      return { answer: REPORTED_AFTER_MS, reports: [{ ...delivered, afterMs: 0 }] };
    case '908':
      return { reports: [delivered, { stat: 'ENROUTE', afterMs: REPORTED_AFTER_MS + 100 }, delivered] };
    default:
      return { reports: [delivered] };
  }
}
