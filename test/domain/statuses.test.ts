import { expect, test } from 'vitest';
import * as statuses from '../../domain/statuses.ts';

const { FINAL_STATUSES, MESSAGE_STATUSES, mayMove } = statuses;

test('exactly the moves of the specification are allowed', () => {
  const allowed = MESSAGE_STATUSES.flatMap((from) =>
    MESSAGE_STATUSES.filter((to) => mayMove(from, to)).map((to) => `${from} → ${to}`),
  );
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

test('the limits are those of the specification', () => {
  expect(statuses.CANCEL_LEAD_MS).toBe(30_000);
  expect(statuses.EXPIRES_MIN_MS).toBe(900_000);
  expect(statuses.EXPIRES_MAX_MS).toBe(259_200_000);
  expect(statuses.DEFAULT_EXPIRY_MS).toBe(259_200_000);
  expect(statuses.SEND_AT_HORIZON_MS).toBe(7_776_000_000);
});
