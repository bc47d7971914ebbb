import { expect, test } from 'vitest';
import * as statuses from '../../domain/statuses.ts';

const { FINAL_STATUSES, TRANSITIONS } = statuses;

test('exactly the moves of the specification are allowed', () => {
  const allowed = TRANSITIONS.map(({ from, to }) => `${from} → ${to}`);
  expect(allowed.sort()).toEqual(
    [
      'scheduled → queued',
      'scheduled → cancelled',
      'queued → sent',
      'queued → failed',
      // Opted out since it was accepted.
      'queued → rejected',
      'queued → expired',
      // The account was suspended until its time was over, or closed: never submitted, refunded.
      'scheduled → expired',
      'queued → cancelled',
      'sent → delivered',
      'sent → undelivered',
      'sent → failed',
      'sent → expired',
    ].sort(),
  );
});

test('final are the statuses nothing leads out of', () => {
  expect([...FINAL_STATUSES].sort()).toEqual(
    ['cancelled', 'delivered', 'expired', 'failed', 'rejected', 'undelivered'].sort(),
  );
});

// v2.3.0: States and transitions (rejected costs 0, a cancelled message is refunded), Events.
test('an account does not pay for what was never submitted, or was refused at its submission', () => {
  const refunded = TRANSITIONS.filter(({ refund }) => refund !== 'never').map(
    ({ from, to, refund }) => `${from} → ${to}: ${refund}`,
  );
  expect(refunded.sort()).toEqual([
    'queued → cancelled: always',
    'queued → expired: unsubmitted',
    'queued → failed: always',
    'queued → rejected: always',
    'scheduled → cancelled: always',
    'scheduled → expired: unsubmitted',
  ]);
});

test('what a charge may make of a message', () => {
  expect([...statuses.ACCEPTED_STATUSES].sort()).toEqual(['queued', 'rejected', 'scheduled']);
});

test('the webhook is notified of the statuses that the specification names', () => {
  expect([...statuses.NOTIFIED_STATUSES].sort()).toEqual([
    'delivered',
    'expired',
    'failed',
    'sent',
    'undelivered',
  ]);
});

test('the limits are those of the specification', () => {
  expect(statuses.CANCEL_LEAD_MS).toBe(30_000);
  expect(statuses.EXPIRES_MIN_MS).toBe(900_000);
  expect(statuses.EXPIRES_MAX_MS).toBe(259_200_000);
  expect(statuses.DEFAULT_EXPIRY_MS).toBe(259_200_000);
  expect(statuses.SEND_AT_HORIZON_MS).toBe(7_776_000_000);
});
