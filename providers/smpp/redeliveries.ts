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
 * ten minutes by any session that shares these. Lives in the memory of one process: after a crash, or where the SMSC hands
 * it over to a session of another worker, such a reply is stored twice.
 */
export function createRedeliveries<S extends object>(now: () => number = Date.now) {
  const recent = new WeakMap<S, Set<Entry>>();
  const expected = createExpected();

  return {
    /** A reply came by a session. */
    handedOver(session: S, reply: IncomingReply): HandedOver {
      const digest = digestOf(reply);
      const entry: Entry = {
        digest,
        reference: expected.take(digest, now()) ?? `${digest.slice(0, 32)}-${randomUUID()}`,
        doubtfulUntil: null,
      };
      const entries = recent.get(session) ?? new Set();
      recent.set(session, entries);
      forgetCertain(entries, now());
      entries.add(entry);
      return {
        providerReference: entry.reference,
        acknowledged() {
          entry.doubtfulUntil = now() + DOUBTFUL_MS;
        },
        unacknowledged() {
          if (entries.delete(entry)) expected.add(entry, now());
        },
      };
    },
    /** A session's connection broke. */
    lost(session: S): void {
      const entries = recent.get(session) ?? new Set();
      const lostAt = now();
      for (const entry of entries) {
        if (entry.doubtfulUntil === null || entry.doubtfulUntil >= lostAt) expected.add(entry, lostAt);
      }
      // What is still being stored is expected already: `unacknowledged` must not expect it once more.
      entries.clear();
      recent.delete(session);
    },
  };
}

// They stand nearly in the order of their acknowledgements: whatever is behind one that is in doubt has its turn later, and
// counts by its own time until then. So a reply costs the same however many came in the last 30 seconds.
function forgetCertain(entries: Set<Entry>, now: number): void {
  for (const entry of entries) {
    if (entry.doubtfulUntil === null || entry.doubtfulUntil >= now) return;
    entries.delete(entry);
  }
}

/** What may be handed over again, oldest first. */
function createExpected() {
  const untils = new Map<string, { digest: string; until: number }>();
  const byDigest = new Map<string, Set<string>>();

  const forget = (reference: string, digest: string): void => {
    untils.delete(reference);
    const same = byDigest.get(digest);
    same?.delete(reference);
    if (same?.size === 0) byDigest.delete(digest);
  };
  const forgetPast = (now: number): void => {
    for (const [reference, { digest, until }] of untils) {
      if (until >= now && untils.size <= MOST_REMEMBERED) return;
      forget(reference, digest);
    }
  };

  return {
    add({ digest, reference }: Entry, now: number): void {
      untils.set(reference, { digest, until: now + REMEMBERED_MS });
      const same = byDigest.get(digest) ?? new Set();
      byDigest.set(digest, same.add(reference));
      forgetPast(now);
    },
    /** @returns the reference of the oldest one with these words, which is expected no more */
    take(digest: string, now: number): string | undefined {
      forgetPast(now);
      const [reference] = byDigest.get(digest) ?? [];
      if (reference !== undefined) forget(reference, digest);
      return reference;
    },
  };
}

function digestOf({ from, to, encoding, content }: IncomingReply): string {
  const hash = createHash('sha256').update(JSON.stringify([from, to, encoding]));
  return hash.update(content).digest('hex');
}
