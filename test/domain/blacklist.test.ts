import { expect, test } from 'vitest';
import * as blacklist from '../../domain/statuses.ts';

test('up to 1000 numbers are listed at once, for the reason `manual` where none is given (v2.3.0, Blacklist)', () => {
  expect(blacklist.BLACKLIST_ADDED_MAX).toBe(1000);
  expect(blacklist.BLACKLIST_REASON_STANDARD).toBe('manual');
});

test('an entry ends in a year of four digits, which the database can hold and every reader can read', () => {
  expect(new Date(blacklist.BLACKLIST_LATEST_END).toISOString()).toBe('9999-12-31T00:00:00.000Z');
});
