import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import type { EmailAnswer, EmailProvider, SubmitEmail } from '../email.ts';

interface PlannedEmailEvent {
  kind: ProviderEmailEvent['kind'];
  permanent: boolean | null;
  address: string;
  afterMs: number;
}

export interface SimulatorMail {
  /** Stores an e-mail once per reference, and plans its events at attempt `reportedAt` (from 1). `tries` is the number of this attempt. */
  takeEmail(
    providerEmailId: string,
    email: { reference: string; mail: object },
    events: PlannedEmailEvent[],
    reportedAt: number,
  ): Promise<{ providerEmailId: string; tries: number }>;
  countThrottle(reference: string, upTo: number): Promise<boolean>;
  /** Delivers due events and deletes them afterwards; returns how many. */
  handOverEvents(limit: number, deliver: (events: ProviderEmailEvent[]) => Promise<void>): Promise<number>;
}

const DELIVERY_MS = 1_000;
const SLOW_DELIVERY_MS = 30_000;
const ANSWER_TIMEOUT_MS = 3_000;
const THROTTLED_TRIES = 3;
const THROTTLE_DELAY_MS = 1_000;
const SETTLES_FOR_MS = 24 * 3_600_000;

type Scenario = (address: string) => PlannedEmailEvent[];
const planned =
  (
    kind: ProviderEmailEvent['kind'],
    afterMs = DELIVERY_MS,
    permanent: boolean | null = null,
  ): ((address: string) => PlannedEmailEvent) =>
  (address) => ({ kind, permanent, address, afterMs });
const all =
  (...events: ((address: string) => PlannedEmailEvent)[]): Scenario =>
  (address) =>
    events.map((event) => event(address));

const SCENARIOS: Readonly<Record<string, Scenario>> = {
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
const DELIVERED: Scenario = all(planned('delivered'));

/**
 * The simulated e-mail provider: deduplicates by idempotency key, stores e-mails without file contents, and delivers after a second. The
 * local part of an address, up to a `+`, selects another outcome:
 * - `bounced` permanently; `soft-bounced`; `complained` after delivery; `delayed`, then delivered; `opened`; `clicked`
 * - `slow`: delivered after 30 s; `silent`: nothing is ever reported
 * - first recipient only: `refused`; `throttled` on three attempts; `unanswered` at the first attempt, reported only after another one
 */
export function simulatedEmail(store: SimulatorMail): EmailProvider {
  return {
    idempotencyWindowMs: SETTLES_FOR_MS,
    answerTimeoutMs: 2 * ANSWER_TIMEOUT_MS,
    reportsSent: true,
    async submit(email, beforeSubmit) {
      return (await beforeSubmit()) ? await take(store, email) : { kind: 'withheld' };
    },
  };
}

async function take(store: SimulatorMail, email: SubmitEmail): Promise<EmailAnswer> {
  const ending = scenarioOf(email.to[0] ?? email.cc[0] ?? email.bcc[0] ?? '');
  if (ending === 'refused') return { kind: 'refused', reason: 'provider_refused', always: true };
  if (ending === 'throttled' && (await store.countThrottle(email.id, THROTTLED_TRIES)))
    return { kind: 'throttled', retryAfterMs: THROTTLE_DELAY_MS };
  const events = [...email.to, ...email.cc, ...email.bcc].flatMap((address) => [
    planned('sent', 0)(address),
    ...(SCENARIOS[scenarioOf(address)] ?? DELIVERED)(address),
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

function scenarioOf(address: string): string {
  return address.slice(0, address.lastIndexOf('@')).split('+', 1)[0]!.toLowerCase();
}

// Everything but keys and file contents, of which size and hash are kept.
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
