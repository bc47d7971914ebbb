import { expect, test } from 'vitest';
import { QUOTA_NAMES, QUOTAS, quotasOf } from '../../domain/money.ts';
import { Refused, StaffRefused } from '../../domain/refusals.ts';
import { emailFigures, NOTHING_SENT, reportFigures } from '../../domain/reports.ts';

const SUMS = {
  ...{ ...NOTHING_SENT, messages: 20, parts: 31, cost: 400, refunded: 45, median: 17, p95: 205 },
  ...{ clicks: 9, robotClicks: 2, clicked: 4, replies: 3, optOuts: 1 },
  ...{ delivered: 7, undelivered: 1, failed: 2, expired: 3, rejected: 4, cancelled: 1, sent: 1, queued: 1 },
};

test('the figures of a report follow from its sums', () => {
  expect(reportFigures(SUMS)).toEqual({
    ...{ messages: 20, accepted: 16, parts: 31, cost_grosze: 400, refunded_grosze: 45, net_grosze: 355 },
    ...{ scheduled: 0, queued: 1, sent: 1, delivered: 7, undelivered: 1, failed: 2, rejected: 4 },
    // 7 of 13 that ended after an attempt.
    ...{ expired: 3, cancelled: 1, delivery_rate: 0.5385, delivery_seconds: { median: 1.7, p95: 20.5 } },
    ...{ clicks: 9, robot_clicks: 2, clicked_messages: 4, replies: 3, opt_outs: 1 },
  });
});

test('where nothing has ended there is no rate and no time', () => {
  expect(reportFigures(NOTHING_SENT)).toEqual({
    ...{ messages: 0, accepted: 0, parts: 0, cost_grosze: 0, refunded_grosze: 0, net_grosze: 0 },
    ...{ scheduled: 0, queued: 0, sent: 0, delivered: 0, undelivered: 0, failed: 0, rejected: 0 },
    ...{ expired: 0, cancelled: 0, delivery_rate: null, delivery_seconds: { median: null, p95: null } },
    ...{ clicks: 0, robot_clicks: 0, clicked_messages: 0, replies: 0, opt_outs: 0 },
  });
});

test.each([
  ['undelivered', { undelivered: 1 }],
  ['failed', { failed: 1 }],
  ['expired', { expired: 1 }],
])('a rate of 0 is one: %s alone', (_, ended) => {
  expect(reportFigures({ ...NOTHING_SENT, ...ended }).delivery_rate).toBe(0);
});

test('e-mails have a net amount as messages do: what they cost less what came back', () => {
  const byStatus = { queued: 1, sent: 2, delivered: 9, bounced: 3, complained: 1, failed: 2 };
  const rest = { suppressed: 4, unknown: 1 };
  expect(emailFigures({ count: 23, costGrosze: 23, refundedGrosze: 6, ...byStatus, ...rest })).toEqual({
    ...{ count: 23, cost_grosze: 23, refunded_grosze: 6, net_grosze: 17 },
    ...{ ...byStatus, ...rest },
  });
});

test('an account has the usual quotas but for those that staff have changed', () => {
  const quotas = quotasOf({ contacts: 7, links: 0 });
  expect(Object.keys(quotas)).toEqual(QUOTA_NAMES);
  expect(quotas).toEqual({
    ...Object.fromEntries(QUOTA_NAMES.map((name) => [name, QUOTAS[name].usual])),
    ...{ contacts: 7, links: 0 },
  });
  for (const { usual, max, about } of Object.values(QUOTAS)) {
    expect(usual).toBeLessThan(max);
    expect(about).not.toBe('');
  }
});

test('a refusal carries its reason, what is to blame, and its cause', () => {
  const cause = new Error('deeper');
  const refused = new Refused({ reason: 'timed_out' }, 'to', cause);
  expect(refused).toMatchObject({
    name: 'Refused',
    message: 'timed_out',
    refusal: { reason: 'timed_out' },
    param: 'to',
    cause,
  });
  const plain = new Refused({ reason: 'timed_out' });
  expect(plain.param).toBeNull();
  expect('cause' in plain).toBe(false);
});

test('what is refused to staff is so by another name', () => {
  const refused = new StaffRefused({ reason: 'account_missing', account: 'cl_1' }, 'account');
  expect(refused).toMatchObject({
    ...{ name: 'StaffRefused', message: 'account_missing', param: 'account' },
    refusal: { reason: 'account_missing', account: 'cl_1' },
  });
  expect(refused).not.toBeInstanceOf(Refused);
});
