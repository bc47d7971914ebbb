import { describe, expect, test } from 'vitest';
import type { MessageStatus } from '../../domain/statuses.ts';
import {
  type InternalFacts,
  internalTimeline,
  type MessageFacts,
  type PartFacts,
  publicTimeline,
} from '../../domain/timeline.ts';

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 5, 10, 0, second));

const PART: PartFacts = {
  ...{ part: 1, state: 'accepted', tries: 1, route: 'plus', providerMessageId: 'p-1', code: null },
  ...{ submittedAt: at(3), answeredAt: at(4), reportState: null, reportedAt: null },
};

function factsOf(
  message: Partial<MessageFacts['message']> = {},
  facts: Partial<Omit<MessageFacts, 'message'>> = {},
): MessageFacts {
  return {
    message: {
      ...{
        id: 'msg_1',
        accountId: 'cl_1',
        requestId: 'req_1',
        gatheredIn: null,
        status: 'sent',
        acceptedAs: 'queued',
      },
      ...{ route: 'plus', parts: 1, sendAt: null, errorCode: null, deliveredAt: null },
      ...{ createdAt: at(1), updatedAt: at(9) },
      ...message,
    },
    ...{ ledger: [], moves: [], parts: [], webhooks: [], attempts: [], resends: [] },
    ...{ replies: [], clicks: [], optedOut: [], ...facts },
  };
}

const NOTHING: InternalFacts = { reports: [], acts: [] };
const linesOf = (facts: MessageFacts, internal = NOTHING) =>
  internalTimeline(facts, internal).map((line) => [
    (line.at.getTime() - at(0).getTime()) / 1000,
    line.kind,
    line.facts,
  ]);
const eventsOf = (facts: MessageFacts) =>
  publicTimeline(facts).map(({ at: instant, type, ...rest }) => {
    const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
    return [instant, type, known];
  });

/** All that can happen to a message of two parts, in an order that is not that of the fields. */
const EVERYTHING = factsOf(
  { status: 'failed', parts: 2, errorCode: 'rejected_on_report', updatedAt: at(20) },
  {
    ledger: [
      { at: at(2), kind: 'charge', amountGrosze: -30, testCredits: 0 },
      { at: at(22), kind: 'refund', amountGrosze: 0, testCredits: 1 },
    ],
    moves: [{ at: at(3), from: 'plus', to: 'play' }],
    parts: [
      { ...PART, route: 'play', tries: 2, reportState: 'rejected', reportedAt: at(19) },
      {
        ...{ ...PART, part: 2, route: 'play', answeredAt: at(6), code: '0x8', providerMessageId: null },
        ...{ reportState: 'enroute', reportedAt: at(18) },
      },
    ],
    webhooks: [{ at: at(21), id: 'evt_1', type: 'message.failed', state: 'delivered' }],
    attempts: [
      {
        ...{ at: at(23), eventId: 'evt_1', type: 'message.failed', attempt: 2, statusCode: 503 },
        ...{ error: 'http', durationMs: 12 },
      },
    ],
    resends: [{ at: at(24), eventId: 'evt_1', by: 'staff' }],
    replies: [{ at: at(25), id: 'in_1', optOut: true }],
    clicks: [{ at: at(26), robot: true }],
    optedOut: [at(27)],
  },
);

describe('the timeline that staff see', () => {
  test('tells each step with its facts, oldest first', () => {
    const internal: InternalFacts = {
      reports: [
        {
          ...{ at: at(17), route: 'play', providerMessageId: 'p-1', part: 1, state: 'rejected' },
          ...{ errorCode: '42', applied: true },
        },
        {
          ...{ at: at(28), route: 'play', providerMessageId: 'p-9', part: null, state: 'delivered' },
          ...{ errorCode: null, applied: false },
        },
      ],
      acts: [{ at: at(29), action: 'messages show', actor: 'ola' }],
    };
    expect(linesOf(EVERYTHING, internal)).toEqual([
      [1, 'requested', { request_id: 'req_1', as: 'queued', parts: 2 }],
      [2, 'charged', { amount_grosze: -30 }],
      [3, 'moved', { from: 'plus', to: 'play' }],
      [3, 'submitted', { part: 1, route: 'play', tries: 2 }],
      [3, 'submitted', { part: 2, route: 'play' }],
      [4, 'accepted', { part: 1, route: 'play', id: 'p-1' }],
      [6, 'accepted', { part: 2, route: 'play', code: '0x8' }],
      [6, 'status', { status: 'sent' }],
      [17, 'report', { route: 'play', id: 'p-1', part: 1, state: 'rejected', code: '42' }],
      [20, 'status', { status: 'failed', error: 'rejected_on_report' }],
      [21, 'webhook', { id: 'evt_1', type: 'message.failed', state: 'delivered' }],
      [22, 'refunded', { amount_grosze: 0, test_credits: 1 }],
      [
        23,
        'webhook_attempt',
        {
          ...{ id: 'evt_1', type: 'message.failed', attempt: 2, status_code: 503 },
          ...{ error: 'http', duration_ms: 12 },
        },
      ],
      [24, 'webhook_resend', { id: 'evt_1', by: 'staff' }],
      [25, 'reply', { id: 'in_1', opt_out: true }],
      [26, 'click', { robot: true }],
      [27, 'opt_out', {}],
      [28, 'report', { route: 'play', id: 'p-9', part: null, state: 'delivered', applied: false }],
      [29, 'staff', { action: 'messages show', actor: 'ola' }],
    ]);
  });

  test.each([
    ['submitting', null, { answer: 'awaited' }],
    ['submitting', '0x58', { answer: 'awaited', code: '0x58' }],
    ['unanswered', null, { answer: 'none' }],
    ['unanswered', '0x8', { answer: 'none', code: '0x8' }],
  ] as const)('a part that is %s (%s) has no answer, though one came before', (state, code, rest) => {
    const lines = linesOf(factsOf({ status: 'queued' }, { parts: [{ ...PART, state, code }] }));
    expect(lines.slice(1)).toEqual([[3, 'submitted', { part: 1, route: 'plus', ...rest }]]);
  });

  test.each(['refused', 'held'] as const)('a part that is %s says so, and why', (state) => {
    const part = { ...PART, state, providerMessageId: null, code: '0xb' };
    expect(linesOf(factsOf({ status: 'queued' }, { parts: [part] })).slice(1)).toEqual([
      [3, 'submitted', { part: 1, route: 'plus' }],
      [4, state, { part: 1, route: 'plus', code: '0xb' }],
    ]);
  });

  test('an answer that was never stored is no line', () => {
    const part = { ...PART, state: 'held' as const, answeredAt: null };
    expect(linesOf(factsOf({ status: 'queued' }, { parts: [part] })).slice(1)).toEqual([
      [3, 'submitted', { part: 1, route: 'plus' }],
    ]);
  });
});

describe('the timeline that customers see', () => {
  const iso = (second: number) => at(second).toISOString();

  test('tells each step in its order, without what lies behind the interface', () => {
    expect(eventsOf(EVERYTHING)).toEqual([
      [iso(1), 'accepted', { status: 'queued' }],
      [iso(2), 'charged', { amount_grosze: -30 }],
      [iso(4), 'submitted', { part: 1 }],
      [iso(6), 'submitted', { part: 2 }],
      [iso(6), 'status', { status: 'sent' }],
      // On its way to another state: none of the interface.
      [iso(18), 'reported', { part: 2 }],
      [iso(19), 'reported', { part: 1, status: 'failed' }],
      [iso(20), 'status', { status: 'failed' }],
      [iso(22), 'refunded', { amount_grosze: 0 }],
      [iso(23), 'webhook_attempt', { event_id: 'evt_1', attempt: 2, status_code: 503 }],
      [iso(24), 'webhook_resend', { event_id: 'evt_1' }],
      [iso(25), 'reply', { inbound_id: 'in_1' }],
      [iso(26), 'click', {}],
      [iso(27), 'opt_out', {}],
    ]);
  });

  test('every event has every field', () => {
    const fields = ['at', 'type', 'status', 'part', 'amount_grosze', 'event_id', 'attempt', 'status_code'];
    for (const event of publicTimeline(EVERYTHING)) {
      expect(Object.keys(event).sort()).toEqual([...fields, 'inbound_id'].sort());
    }
  });

  test.each([
    ['delivered', 'delivered'],
    ['undelivered', 'undelivered'],
    ['deleted', 'undelivered'],
    ['expired', 'expired'],
    ['rejected', 'failed'],
  ])('a report of %s is shown as %s', (reportState, status) => {
    const parts = [{ ...PART, reportState, reportedAt: at(8) }];
    expect(eventsOf(factsOf({}, { parts }))).toContainEqual([iso(8), 'reported', { part: 1, status }]);
  });

  test.each([[{ reportState: 'delivered', reportedAt: null }], [{ reportState: null, reportedAt: at(8) }]])(
    'half a report is none: %o',
    (half) => {
      const types = eventsOf(factsOf({}, { parts: [{ ...PART, ...half }] })).map(([, type]) => type);
      expect(types).not.toContain('reported');
    },
  );

  test.each([
    ['submitting', at(4)],
    ['refused', at(4)],
    ['accepted', null],
  ] as const)('a part that is %s (answered at %o) is not submitted', (state, answeredAt) => {
    const types = eventsOf(factsOf({ status: 'queued' }, { parts: [{ ...PART, state, answeredAt }] })).map(
      ([, type]) => type,
    );
    expect(types).not.toContain('submitted');
  });
});

describe('when a message came to its statuses', () => {
  const moments = (message: Partial<MessageFacts['message']>, parts: PartFacts[] = []) =>
    linesOf(factsOf(message, { parts }))
      .filter(([, kind]) => kind === 'status')
      .map(([second, , facts]) => [second, (facts as { status: MessageStatus }).status]);

  test('one that is what it was accepted as has come to none', () => {
    expect(moments({ status: 'queued' })).toEqual([]);
    expect(moments({ status: 'scheduled', acceptedAs: 'scheduled', sendAt: at(40) })).toEqual([]);
    expect(moments({ status: 'rejected', acceptedAs: 'rejected' }, [PART])).toEqual([]);
  });

  test('a scheduled one is queued from its send time, or else from its last change', () => {
    expect(moments({ status: 'queued', acceptedAs: 'scheduled', sendAt: at(5) })).toEqual([[5, 'queued']]);
    expect(moments({ status: 'queued', acceptedAs: 'scheduled' })).toEqual([[9, 'queued']]);
  });

  test('sent is the last answer of all its parts', () => {
    const second = { ...PART, part: 2, answeredAt: at(7) };
    expect(moments({ status: 'sent', parts: 2 }, [second, PART])).toEqual([[7, 'sent']]);
    expect(moments({ status: 'sent', parts: 2 }, [PART]), 'one is missing').toEqual([]);
    expect(moments({ status: 'sent', parts: 2 }, [PART, { ...second, state: 'held' }])).toEqual([]);
    expect(moments({ status: 'sent' }, [{ ...PART, answeredAt: null }]), 'when is not known').toEqual([]);
  });

  test('delivered is when it was, any other end its last change', () => {
    expect(moments({ status: 'delivered', deliveredAt: at(8) }, [PART])).toEqual([
      [4, 'sent'],
      [8, 'delivered'],
    ]);
    expect(moments({ status: 'undelivered' }, [PART])).toEqual([
      [4, 'sent'],
      [9, 'undelivered'],
    ]);
    expect(moments({ status: 'cancelled', acceptedAs: 'scheduled', sendAt: at(40) })).toEqual([
      [9, 'cancelled'],
    ]);
  });

  test('a status without an error names none', () => {
    const lines = linesOf(factsOf({ status: 'undelivered', parts: 1 }, { parts: [PART] }));
    expect(lines.at(-1)).toStrictEqual([9, 'status', { status: 'undelivered' }]);
  });

  test('an error is of the present status, not of those before', () => {
    const lines = linesOf(
      factsOf({ status: 'failed', errorCode: 'network_refused', updatedAt: at(9) }, { parts: [PART] }),
    );
    expect(lines.filter(([, kind]) => kind === 'status')).toEqual([
      [4, 'status', { status: 'sent' }],
      [9, 'status', { status: 'failed', error: 'network_refused' }],
    ]);
  });
});
