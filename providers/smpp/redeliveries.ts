import { createHash, randomUUID } from 'node:crypto';
import type { IncomingReply } from './incoming.ts';

/** The SMSC may have missed an acknowledgement this old when the connection breaks. */
const DOUBTFUL_MS = 30_000;
/** So long after a lost connection the SMSC may hand over again what it got no acknowledgement of. */
const REMEMBERED_MS = 600_000;
const MOST_REMEMBERED = 10_000;

/** One reply as one session handed it over. */
export interface HandedOver {
  /** The same for a reply that is handed over again, another one for the same words sent again. */
  readonly providerReference: string;
  /** The SMSC got our answer that we have it. */
  acknowledged(): void;
  /** The SMSC got no answer, or that it was not stored: it will hand it over again. */
  unacknowledged(): void;
}

interface Entry {
  digest: string;
  reference: string;
  /** Until then a lost connection may have swallowed the acknowledgement; null: not sent yet. */
  doubtfulUntil: number | null;
}

/**
 * Tells a reply that is handed over again from the same words sent again by a person: SMPP gives a deliver_sm no id. What
 * a session acknowledged in its last 30 seconds, or not at all, is taken for the same once, when it comes again within
 * ten minutes. Lives in memory: after a crash of the process such a reply may be stored twice.
 */
export function createRedeliveries<S extends object>(now: () => number = Date.now) {
  const recent = new WeakMap<S, Set<Entry>>();
  const expected = new Map<string, { digest: string; reference: string; until: number }>();

  const expect = ({ digest, reference }: Entry): void => {
    expected.set(reference, { digest, reference, until: now() + REMEMBERED_MS });
    const [oldest] = expected.keys();
    if (expected.size > MOST_REMEMBERED && oldest !== undefined) expected.delete(oldest);
  };

  const takeExpected = (digest: string): string | undefined => {
    for (const [reference, one] of expected) {
      if (one.until < now()) expected.delete(reference);
      else if (one.digest === digest) {
        expected.delete(reference);
        return reference;
      }
    }
    return undefined;
  };

  return {
    /** A reply came by a session. */
    handedOver(session: S, reply: IncomingReply): HandedOver {
      const digest = digestOf(reply);
      const entry: Entry = {
        digest,
        reference: takeExpected(digest) ?? `${digest.slice(0, 32)}-${randomUUID()}`,
        doubtfulUntil: null,
      };
      const entries = recent.get(session) ?? new Set();
      recent.set(session, entries);
      for (const one of entries) {
        if (one.doubtfulUntil !== null && one.doubtfulUntil < now()) entries.delete(one);
      }
      entries.add(entry);
      return {
        providerReference: entry.reference,
        acknowledged() {
          entry.doubtfulUntil = now() + DOUBTFUL_MS;
        },
        unacknowledged() {
          if (entries.delete(entry)) expect(entry);
        },
      };
    },
    /** A session's connection broke. */
    lost(session: S): void {
      const entries = recent.get(session) ?? new Set();
      for (const entry of entries) {
        if (entry.doubtfulUntil === null || entry.doubtfulUntil >= now()) expect(entry);
      }
      // What is still being stored is expected already: `unacknowledged` must not expect it once more.
      entries.clear();
      recent.delete(session);
    },
  };
}

function digestOf({ from, to, encoding, content }: IncomingReply): string {
  const hash = createHash('sha256').update(JSON.stringify([from, to, encoding]));
  return hash.update(content).digest('hex');
}
