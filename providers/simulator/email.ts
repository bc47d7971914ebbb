import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import type { EmailAnswer, EmailGate, SubmitEmail } from '../email.ts';

/** An event that the simulated provider will report of one address. */
interface PlannedEmailEvent {
  kind: ProviderEmailEvent['kind'];
  permanent: boolean | null;
  address: string;
  afterMs: number;
}

/** The simulated provider's memory of e-mails. */
export interface SimulatorMail {
  /**
   * Takes an e-mail, once for each reference, and plans its events.
   * @param reportedAt at which try the events are planned, from 1
   * @returns the id it has, and which try this was, from 1
   */
  takeEmail(
    providerEmailId: string,
    email: { reference: string; mail: object },
    events: PlannedEmailEvent[],
    reportedAt: number,
  ): Promise<{ providerEmailId: string; tries: number }>;
  /** Counts a try; false once `upTo` were counted. */
  countThrottle(reference: string, upTo: number): Promise<boolean>;
  /** Hands over events that are due and forgets them once handed over; returns how many there were. */
  handOverEvents(limit: number, deliver: (events: ProviderEmailEvent[]) => Promise<void>): Promise<number>;
}

const DELIVERY_MS = 1_000;
const SLOW_DELIVERY_MS = 30_000;
const ANSWER_TIMEOUT_MS = 3_000;
const THROTTLED_TRIES = 3;
const THROTTLE_DELAY_MS = 1_000;
// As long as a provider's key usually is.
const SETTLES_FOR_MS = 24 * 3_600_000;

type Ending = (address: string) => PlannedEmailEvent[];
const planned =
  (
    kind: ProviderEmailEvent['kind'],
    afterMs = DELIVERY_MS,
    permanent: boolean | null = null,
  ): ((address: string) => PlannedEmailEvent) =>
  (address) => ({ kind, permanent, address, afterMs });
const all =
  (...events: ((address: string) => PlannedEmailEvent)[]): Ending =>
  (address) =>
    events.map((event) => event(address));

const ENDINGS: Readonly<Record<string, Ending>> = {
  bounced: all(planned('bounced', DELIVERY_MS, true)),
  'soft-bounced': all(planned('bounced', DELIVERY_MS, false)),
  complained: all(planned('delivered'), planned('complained', DELIVERY_MS + 500)),
  delayed: all(planned('delayed'), planned('delivered', DELIVERY_MS + 1_000)),
  opened: all(planned('delivered'), planned('opened', DELIVERY_MS + 500)),
  clicked: all(
    planned('delivered'),
    planned('opened', DELIVERY_MS + 300),
    planned('clicked', DELIVERY_MS + 600),
  ),
  slow: all(planned('delivered', SLOW_DELIVERY_MS)),
  silent: all(),
};
const DELIVERED: Ending = all(planned('delivered'));

/**
 * The simulated e-mail provider: takes an e-mail once for each idempotency key, keeps what it took without the files' contents, and
 * reports it `sent` at once and delivered after a second. What stands before the `@`, up to a `+`, chooses for an address what goes
 * wrong; everything else is delivered:
 * - `bounced`: a permanent bounce; `soft-bounced`: one that is not
 * - `complained`: delivered, then a complaint
 * - `delayed`: delayed, then delivered
 * - `opened`, `clicked`: delivered, then opened, then clicked
 * - `slow`: delivered after 30 s; `silent`: nothing is ever reported
 * Of the first address in `to` alone:
 * - `refused`: refused at the hand-over
 * - `throttled`: throttled on the first three tries
 * - `unanswered`: taken, unanswered at the first try, and reported only after another
 */
export function simulatedEmail(store: SimulatorMail): EmailGate {
  return {
    settlesForMs: SETTLES_FOR_MS,
    answersWithinMs: 2 * ANSWER_TIMEOUT_MS,
    reportsSent: true,
    async submit(email, leave) {
      return (await leave()) ? await take(store, email) : { kind: 'withheld' };
    },
  };
}

async function take(store: SimulatorMail, email: SubmitEmail): Promise<EmailAnswer> {
  const ending = endingOf(email.to[0] ?? email.cc[0] ?? email.bcc[0] ?? '');
  if (ending === 'refused') return { kind: 'refused', reason: 'provider_refused', always: true };
  if (ending === 'throttled' && (await store.countThrottle(email.id, THROTTLED_TRIES)))
    return { kind: 'throttled', retryAfterMs: THROTTLE_DELAY_MS };
  const events = [...email.to, ...email.cc, ...email.bcc].flatMap((address) => [
    planned('sent', 0)(address),
    ...(ENDINGS[endingOf(address)] ?? DELIVERED)(address),
  ]);
  const wished = createHash('sha256').update(email.id).digest('hex').slice(0, 32);
  const { providerEmailId, tries } = await store.takeEmail(
    wished,
    { reference: email.id, mail: await asKept(email) },
    events,
    ending === 'unanswered' ? 2 : 1,
  );
  if (ending === 'unanswered' && tries === 1) {
    await delay(ANSWER_TIMEOUT_MS);
    return { kind: 'unanswered' };
  }
  return { kind: 'accepted', providerEmailId };
}

function endingOf(address: string): string {
  return address.slice(0, address.lastIndexOf('@')).split('+', 1)[0]!.toLowerCase();
}

/** What it keeps: everything but keys and the contents of files, of which it keeps the size and a hash. */
async function asKept(email: SubmitEmail): Promise<object> {
  const { attachments, domain, createdAt, ...mail } = email;
  const files = [];
  for (const { content, ...file } of attachments) {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of content()) {
      hash.update(piece);
      bytes += piece.length;
    }
    files.push({ ...file, bytes, sha256: hash.digest('hex') });
  }
  return { ...mail, domain: domain.name, createdAt: createdAt.toISOString(), attachments: files };
}
