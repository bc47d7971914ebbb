import { outcomeOf } from './incoming.ts';
import type { AcceptedStatus, MessageStatus } from './statuses.ts';

export interface MessageFacts {
  message: {
    id: string;
    accountId: string;
    requestId: string;
    status: MessageStatus;
    acceptedAs: AcceptedStatus;
    route: string;
    parts: number;
    sendAt: Date | null;
    errorCode: string | null;
    deliveredAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
  };
  ledger: { at: Date; kind: 'charge' | 'refund'; amountGrosze: number; testCredits: number }[];
  moves: { at: Date; from: string; to: string }[];
  parts: PartFacts[];
  webhooks: { at: Date; id: string; type: string; state: string }[];
  attempts: AttemptFacts[];
  resends: { at: Date; eventId: string; by: string }[];
  replies: { at: Date; id: string; optOut: boolean }[];
  clicks: { at: Date; robot: boolean }[];
  /** When the recipient opted out on the page that this message links to. */
  optedOut: Date[];
}

export interface PartFacts {
  part: number;
  state: 'submitting' | 'held' | 'accepted' | 'refused' | 'unanswered';
  tries: number;
  route: string;
  providerMessageId: string | null;
  code: string | null;
  submittedAt: Date;
  answeredAt: Date | null;
  reportState: string | null;
  reportedAt: Date | null;
}

export interface AttemptFacts {
  at: Date;
  eventId: string;
  type: string;
  attempt: number;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}

/** For staff only: raw delivery reports and staff actions. */
export interface InternalFacts {
  reports: {
    at: Date;
    route: string;
    providerMessageId: string;
    part: number | null;
    state: string;
    errorCode: string | null;
    applied: boolean;
  }[];
  acts: { at: Date; action: string; actor: string }[];
}

/** `facts` have names in snake_case. */
export interface TimelineEntry {
  at: Date;
  kind: string;
  facts: Record<string, string | number | boolean | null>;
}

/** One event of the customer's timeline; fields that do not apply to its type are null. */
export interface PublicEvent {
  at: string;
  type: PublicEventType;
  status: MessageStatus | null;
  part: number | null;
  amount_grosze: number | null;
  event_id: string | null;
  attempt: number | null;
  status_code: number | null;
  inbound_id: string | null;
}

export const PUBLIC_EVENT_TYPES = [
  'accepted',
  'charged',
  'refunded',
  'submitted',
  'reported',
  'status',
  'webhook_attempt',
  'webhook_resend',
  'reply',
  'click',
  'opt_out',
] as const;
type PublicEventType = (typeof PUBLIC_EVENT_TYPES)[number];

/** A message's timeline for staff, oldest first; events of the same instant stay in the order of the steps. */
export function internalTimeline(facts: MessageFacts, internal: InternalFacts): TimelineEntry[] {
  const { message, parts } = facts;
  return inOrder([
    {
      at: message.createdAt,
      kind: 'requested',
      facts: { request_id: message.requestId, as: message.acceptedAs, parts: message.parts },
    },
    ...facts.ledger.map(({ at, kind, amountGrosze, testCredits }) => ({
      at,
      kind: kind === 'charge' ? 'charged' : 'refunded',
      facts: { amount_grosze: amountGrosze, ...(testCredits === 0 ? {} : { test_credits: testCredits }) },
    })),
    ...facts.moves.map(({ at, from, to }) => ({ at, kind: 'moved', facts: { from, to } })),
    ...parts.flatMap(submitEntries),
    ...statusChanges(facts).map(({ at, status }) => ({
      at,
      kind: 'status',
      facts: {
        status,
        ...(status === message.status && message.errorCode !== null ? { error: message.errorCode } : {}),
      },
    })),
    ...internal.reports.map(({ at, route, providerMessageId, part, state, errorCode, applied }) => ({
      at,
      kind: 'report',
      facts: {
        route,
        id: providerMessageId,
        part,
        state,
        ...(errorCode === null ? {} : { code: errorCode }),
        ...(applied ? {} : { applied }),
      },
    })),
    ...facts.webhooks.map(({ at, id, type, state }) => ({ at, kind: 'webhook', facts: { id, type, state } })),
    ...facts.attempts.map(({ at, eventId, type, attempt, statusCode, error, durationMs }) => ({
      at,
      kind: 'webhook_attempt',
      facts: { id: eventId, type, attempt, status_code: statusCode, error, duration_ms: durationMs },
    })),
    ...facts.resends.map(({ at, eventId, by }) => ({
      at,
      kind: 'webhook_resend',
      facts: { id: eventId, by },
    })),
    ...facts.replies.map(({ at, id, optOut }) => ({ at, kind: 'reply', facts: { id, opt_out: optOut } })),
    ...facts.clicks.map(({ at, robot }) => ({ at, kind: 'click', facts: { robot } })),
    ...facts.optedOut.map((at) => ({ at, kind: 'opt_out', facts: {} })),
    ...internal.acts.map(({ at, action, actor }) => ({ at, kind: 'staff', facts: { action, actor } })),
  ]);
}

/** A message's timeline for the customer: without routes, submit attempts, and the SMSC's ids and codes. */
export function publicTimeline(facts: MessageFacts): PublicEvent[] {
  const { message, parts } = facts;
  return inOrder([
    publicEvent(message.createdAt, 'accepted', { status: message.acceptedAs }),
    ...facts.ledger.map(({ at, kind, amountGrosze }) =>
      publicEvent(at, kind === 'charge' ? 'charged' : 'refunded', { amount_grosze: amountGrosze }),
    ),
    ...parts.flatMap(({ part, state, answeredAt }) =>
      state === 'accepted' && answeredAt !== null ? [publicEvent(answeredAt, 'submitted', { part })] : [],
    ),
    ...parts.flatMap(({ part, reportState, reportedAt }) =>
      reportState === null || reportedAt === null
        ? []
        : [publicEvent(reportedAt, 'reported', { part, status: outcomeOf(reportState) })],
    ),
    ...statusChanges(facts).map(({ at, status }) => publicEvent(at, 'status', { status })),
    ...facts.resends.map(({ at, eventId }) => publicEvent(at, 'webhook_resend', { event_id: eventId })),
    ...facts.attempts.map(({ at, eventId, attempt, statusCode }) =>
      publicEvent(at, 'webhook_attempt', { event_id: eventId, attempt, status_code: statusCode }),
    ),
    ...facts.replies.map(({ at, id }) => publicEvent(at, 'reply', { inbound_id: id })),
    ...facts.clicks.map(({ at }) => publicEvent(at, 'click', {})),
    ...facts.optedOut.map((at) => publicEvent(at, 'opt_out', {})),
  ]).map(({ at, ...event }) => ({ at: at.toISOString(), ...event }));
}

type UndatedEvent = Omit<PublicEvent, 'at'> & { at: Date };

function publicEvent(
  at: Date,
  type: PublicEventType,
  known: Partial<Omit<PublicEvent, 'at' | 'type'>>,
): UndatedEvent {
  return {
    at,
    type,
    status: null,
    part: null,
    amount_grosze: null,
    event_id: null,
    attempt: null,
    status_code: null,
    inbound_id: null,
    ...known,
  };
}

function submitEntries(part: PartFacts): TimelineEntry[] {
  const { route, part: number, tries, providerMessageId: id, code } = part;
  const open = part.state === 'submitting' || part.state === 'unanswered';
  const submitted: TimelineEntry = {
    at: part.submittedAt,
    kind: 'submitted',
    facts: {
      part: number,
      route,
      ...(tries > 1 ? { tries } : {}),
      ...(open ? { answer: part.state === 'unanswered' ? 'none' : 'awaited' } : {}),
      ...(open && code !== null ? { code } : {}),
    },
  };
  const answered = part.answeredAt !== null && !open;
  return [
    submitted,
    ...(answered
      ? [
          {
            at: part.answeredAt!,
            kind: part.state,
            facts: {
              part: number,
              route,
              ...(id === null ? {} : { id }),
              ...(code === null ? {} : { code }),
            },
          },
        ]
      : []),
  ];
}

// Status changes after the first status, as far as known.
function statusChanges({ message, parts }: MessageFacts): { at: Date; status: MessageStatus }[] {
  const { status, acceptedAs, updatedAt } = message;
  const taken = parts.filter((part) => part.state === 'accepted');
  const answers = taken.map(({ answeredAt }) => answeredAt).filter((at) => at !== null);
  const sent =
    taken.length === message.parts && answers.length > 0
      ? [{ at: latest(answers), status: 'sent' as const }]
      : [];
  const first = status === acceptedAs;
  if (first || status === 'sent' || status === 'queued') {
    return status === 'queued' && !first ? [{ at: message.sendAt ?? updatedAt, status }] : first ? [] : sent;
  }
  return [...sent, { at: message.deliveredAt ?? updatedAt, status }];
}

function latest(times: readonly Date[]): Date {
  return times.reduce((last, time) => (time > last ? time : last));
}

function inOrder<T extends { at: Date }>(entries: T[]): T[] {
  // sort() is stable: events of the same instant keep their order.
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime());
}
