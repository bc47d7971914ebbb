import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ResendServer, type SentEmail, signCall, type SignedCall } from '../providers/resendServer.ts';
import type { Chance } from './chance.ts';

/** What the provider says in the end of an e-mail's first address; of the others that they have it. */
export type Fate = 'delivered' | 'bounced' | 'returned' | 'complained';

/** An event that the provider reported, as its e-mail's account has to see it. */
export interface Reported {
  eventId: string;
  emailId: string;
  kind: 'sent' | 'delivered' | 'bounced' | 'complained';
  permanent: boolean | null;
  /** Whom it concerns. */
  addresses: string[];
}

/** The provider's calls to our webhook. */
export interface Reports {
  /** Reports what becomes of an e-mail: each event until it was taken, some again, among calls that are not to be believed. */
  about(sent: SentEmail): void;
  reported: Reported[];
  counts: { repeated: number; forged: number; old: number; unanswered: number };
  /** Answers that the provider should not have got. */
  complaints: string[];
  /** Resolves when all that was begun is over. */
  settled(): Promise<void>;
}

interface Call {
  signed: () => SignedCall;
  /** What ends it; after anything else it is made again, as the provider does. */
  wanted: 200 | 401;
}

const TYPES = {
  sent: 'email.sent',
  delivered: 'email.delivered',
  bounced: 'email.bounced',
  complained: 'email.complained',
} as const;
const AT_ONCE = 8;
const AGAIN_MS = 300;
const TOLERANCE_MS = 300_000;
const HOUR_MS = 3_600_000;
const REPEATED = 0.3;
const UNTRUE = 0.8;

/** @param fateOf by the subject @param urls of all APIs */
export function startReports(
  resend: ResendServer,
  {
    chance,
    urls,
    route,
    fateOf,
  }: { chance: Chance; urls: readonly string[]; route: string; fateOf: (subject: string) => Fate },
): Reports {
  const reported: Reported[] = [];
  const counts = { repeated: 0, forged: 0, old: 0, unanswered: 0 };
  const complaints: string[] = [];
  const waiting: Call[] = [];
  const running = new Set<Promise<void>>();

  const callOnce = async ({ signed, wanted }: Call): Promise<boolean> => {
    const path = chance.pick(['/v1/email/callback', `/v1/email/callback/${route}`]);
    const status = await fetch(`${chance.pick(urls)}${path}`, { method: 'POST', ...signed() })
      .then(async (answer) => {
        await answer.text();
        return answer.status;
      })
      .catch(() => 0);
    if (status === 0 || status === 503) {
      counts.unanswered += 1;
      return false;
    }
    if (status !== wanted) complaints.push(`a callback was answered ${status}, not ${wanted}`);
    return true;
  };
  const work = async (): Promise<void> => {
    for (let call = waiting.shift(); call !== undefined; call = waiting.shift())
      while (!(await callOnce(call))) await delay(AGAIN_MS);
  };
  const trueCalls = (sent: SentEmail, event: Reported): Call[] => {
    const body = bodyOf(resend, sent, event);
    const call: Call = {
      signed: () => signCall(resend.webhookSecret, body, new Date(), event.eventId),
      wanted: 200,
    };
    reported.push(event);
    if (!chance.odds(REPEATED)) return [call];
    counts.repeated += 1;
    return [call, call];
  };
  // Of a permanent bounce, which would end the e-mail and put its address on the suppression list.
  const untrueCalls = (sent: SentEmail): Call[] => {
    if (!chance.odds(UNTRUE)) return [];
    const event = eventOf(sent, 'bounced', [sent.body.to].flat().slice(0, 1), true);
    const body = bodyOf(resend, sent, event);
    const isOld = chance.odds(0.4);
    counts[isOld ? 'old' : 'forged'] += 1;
    const forge = isOld ? signedLongAgo(chance) : chance.pick(FORGERIES);
    return [{ signed: () => forge(resend.webhookSecret, body, event.eventId), wanted: 401 }];
  };

  return {
    reported,
    counts,
    complaints,
    about(sent) {
      const events = eventsOf(sent, fateOf(sent.body.subject));
      const calls = [...events.flatMap((event) => trueCalls(sent, event)), ...untrueCalls(sent)];
      waiting.push(...chance.shuffled(calls));
      if (running.size === AT_ONCE) return;
      const worker = work().finally(() => running.delete(worker));
      running.add(worker);
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

type Forging = (secret: string, body: string, id: string) => SignedCall;

const signedLongAgo = (chance: Chance): Forging => {
  const ageMs = chance.between(TOLERANCE_MS + 1_000, HOUR_MS);
  return (secret, body, id) => signCall(secret, body, new Date(Date.now() - ageMs), id);
};

const FORGERIES: Forging[] = [
  (_, body, id) => signCall(`whsec_${randomBytes(24).toString('base64')}`, body, new Date(), id),
  (secret, body, id) => ({
    ...signCall(secret, body.replace('email.bounced', 'email.opened'), new Date(), id),
    body,
  }),
  (secret, body, id) => {
    const { headers } = signCall(secret, body, new Date(), id);
    return { body, headers: { ...headers, 'svix-id': `msg_${randomUUID()}` } };
  },
  (secret, body, id) => {
    const { headers } = signCall(secret, body, new Date(Date.now() - HOUR_MS), id);
    return { body, headers: { ...headers, 'svix-timestamp': String(Math.floor(Date.now() / 1000)) } };
  },
  (_, body) => ({ body, headers: {} }),
];

/** That it is sent, and what became of each address. */
function eventsOf(sent: SentEmail, fate: Fate): Reported[] {
  const [first = '', ...others] = [sent.body.to].flat();
  return [
    eventOf(sent, 'sent', [first, ...others]),
    ...others.map((address) => eventOf(sent, 'delivered', [address])),
    ...endOf(sent, fate, [first]),
  ];
}

function endOf(sent: SentEmail, fate: Fate, first: string[]): Reported[] {
  switch (fate) {
    case 'delivered':
      return [eventOf(sent, 'delivered', first)];
    // Its mail server took it first.
    case 'bounced':
      return [eventOf(sent, 'delivered', first), eventOf(sent, 'bounced', first, true)];
    case 'returned':
      return [eventOf(sent, 'delivered', first), eventOf(sent, 'bounced', first, false)];
    case 'complained':
      return [eventOf(sent, 'delivered', first), eventOf(sent, 'complained', first)];
  }
}

const eventOf = (
  sent: SentEmail,
  kind: Reported['kind'],
  addresses: string[],
  permanent: boolean | null = null,
): Reported => ({ eventId: `msg_${randomUUID()}`, emailId: sent.key ?? '', kind, permanent, addresses });

function bodyOf(resend: ResendServer, sent: SentEmail, { kind, permanent, addresses }: Reported): string {
  const bounce = permanent === null ? {} : { bounce: { type: permanent ? 'Permanent' : 'Transient' } };
  return resend.event(sent, TYPES[kind], { to: addresses, ...bounce }).body;
}
