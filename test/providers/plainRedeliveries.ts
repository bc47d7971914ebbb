import { randomUUID } from 'node:crypto';
import type { IncomingReply } from '../../providers/smpp/inbox.ts';

const DOUBTFUL_MS = 30_000;
const REMEMBERED_MS = 600_000;

interface Entry {
  words: string;
  reference: string;
  /** Null: not acknowledged yet. */
  acknowledgedAt: number | null;
}

/** What `createRedeliveries` is to know, found by looking at all that ever happened; for tests with few replies. */
export function plainRedeliveries<S extends object>(now: () => number) {
  const bySession = new Map<S, Entry[]>();
  let expected: { words: string; reference: string; since: number }[] = [];

  const expect = ({ words, reference }: Entry): void => {
    expected.push({ words, reference, since: now() });
  };
  const takeExpected = (words: string): string | undefined => {
    const found = expected.find((one) => one.words === words && now() - one.since <= REMEMBERED_MS);
    expected = expected.filter((one) => one !== found);
    return found?.reference;
  };

  return {
    handedOver(session: S, { from, to, encoding, content }: IncomingReply) {
      const words = JSON.stringify([from, to, encoding, content.toString('hex')]);
      const entry: Entry = { words, reference: takeExpected(words) ?? randomUUID(), acknowledgedAt: null };
      bySession.set(session, [...(bySession.get(session) ?? []), entry]);
      return {
        providerReference: entry.reference,
        acknowledged(): void {
          entry.acknowledgedAt = now();
        },
        unacknowledged(): void {
          const entries = bySession.get(session) ?? [];
          if (!entries.includes(entry)) return;
          bySession.set(
            session,
            entries.filter((one) => one !== entry),
          );
          expect(entry);
        },
      };
    },
    lost(session: S): void {
      for (const entry of bySession.get(session) ?? []) {
        const { acknowledgedAt } = entry;
        if (acknowledgedAt === null || now() - acknowledgedAt <= DOUBTFUL_MS) expect(entry);
      }
      bySession.delete(session);
    },
  };
}
