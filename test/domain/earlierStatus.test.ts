import { describe, expect, test } from 'vitest';
import {
  classesShowing,
  EARLIER_SEND_AT_HORIZON_MS,
  EARLIER_STATUS_OF,
  type EarlierStatus,
  wasSubmitted,
  historyClassOf,
  shownStatus,
} from '../../domain/earlier.ts';
import { MESSAGE_STATUSES, type MessageStatus } from '../../domain/statuses.ts';

const SUBMISSIONS = ['waiting', 'submitting', 'answered', 'unanswered'];
const SUBMITTED = ['submitting', 'answered', 'unanswered'];

test('a scheduled message is `queued` there, a cancelled one `failed`, and the others keep their name', () => {
  expect(EARLIER_STATUS_OF).toEqual({
    scheduled: 'queued',
    queued: 'queued',
    sent: 'sent',
    delivered: 'delivered',
    undelivered: 'undelivered',
    failed: 'failed',
    rejected: 'rejected',
    expired: 'expired',
    cancelled: 'failed',
  });
});

test('a message may be scheduled 60 days ahead (v1.2.0, Limits)', () => {
  expect(Date.UTC(2026, 0, 1) + EARLIER_SEND_AT_HORIZON_MS).toBe(Date.UTC(2026, 2, 2));
});

/**
 * docs/decisions.md, “Interface v1.2.0”: `status` is `sent` for what has left, else what the message ended as without leaving;
 * `dlr_status` is what came of it, also where no report came in time. Last, the class in the index (`history_class`).
 */
interface Case {
  status: MessageStatus;
  errorCodes?: (string | null)[];
  submissions?: string[];
  shown: [EarlierStatus, EarlierStatus | null];
  found: string;
}

const UNREPORTED = [null, 'given_up', 'network_refused', 'invalid_destination'];
const CASES: Record<string, Case> = {
  'waits for its send time': { status: 'scheduled', shown: ['queued', null], found: 'queued' },
  'waits for its route': { status: 'queued', shown: ['queued', null], found: 'queued' },
  'was taken by the provider': { status: 'sent', shown: ['sent', null], found: 'sent' },
  'was reported as delivered': { status: 'delivered', shown: ['sent', 'delivered'], found: 'delivered' },
  'was reported as undelivered': {
    ...{ status: 'undelivered', shown: ['sent', 'undelivered'], found: 'undelivered' },
  },
  'was refused by the provider, or given up': {
    ...{ status: 'failed', errorCodes: UNREPORTED, shown: ['failed', null], found: 'failed_unsent' },
  },
  'was refused in a delivery report': {
    ...{ status: 'failed', errorCodes: ['rejected_on_report'], shown: ['sent', 'failed'], found: 'failed' },
  },
  'expired before any submit': {
    ...{ status: 'expired', submissions: ['waiting'], shown: ['expired', null], found: 'expired_unsent' },
  },
  'expired after a submit': {
    ...{ status: 'expired', submissions: SUBMITTED, shown: ['sent', 'expired'], found: 'expired' },
  },
  'was rejected': { status: 'rejected', shown: ['rejected', null], found: 'rejected' },
  'was cancelled': { status: 'cancelled', shown: ['failed', null], found: 'cancelled' },
};

describe('a message in the history of v1.2.0', () => {
  test.each(Object.entries(CASES))(
    'that %s',
    (_name, { status, errorCodes = [...UNREPORTED, 'rejected_on_report'], submissions, shown, found }) => {
      for (const errorCode of errorCodes) {
        for (const submission of submissions ?? SUBMISSIONS) {
          const row = { status, errorCode, submission };
          expect([row, shownStatus(row)]).toEqual([row, { status: shown[0], dlrStatus: shown[1] }]);
          expect([row, historyClassOf(row)]).toEqual([row, found]);
          expect([row, wasSubmitted(row)]).toEqual([row, shown[0] === 'sent']);
        }
      }
    },
  );

  test('has a case here for each status there is', () => {
    expect(new Set(Object.values(CASES).map(({ status }) => status))).toEqual(new Set(MESSAGE_STATUSES));
  });
});

describe('the filter `status` finds what shows it as `status` or as `dlr_status`', () => {
  test.each<[EarlierStatus, string[]]>([
    ['queued', ['queued']],
    ['sent', ['sent', 'delivered', 'undelivered', 'failed', 'expired']],
    ['delivered', ['delivered']],
    ['undelivered', ['undelivered']],
    ['failed', ['failed', 'failed_unsent', 'cancelled']],
    ['expired', ['expired', 'expired_unsent']],
    ['rejected', ['rejected']],
    ['accepted', []],
    ['not_found', []],
    ['unknown', []],
  ])('%s', (status, classes) => {
    expect([...classesShowing(status)].sort()).toEqual([...classes].sort());
  });

  test('without a filter: all of them', () => {
    expect([...classesShowing(null)].sort()).toEqual(
      [
        ...['cancelled', 'delivered', 'expired', 'expired_unsent', 'failed', 'failed_unsent', 'queued'],
        ...['rejected', 'sent', 'undelivered'],
      ].sort(),
    );
  });
});
