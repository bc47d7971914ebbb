import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { answerOfStatus, describeCode, STATUS_MEANING } from '../../providers/smpp/receipts.ts';

// Somebody else's list of the codes.
const { errors: CODES } = createRequire(import.meta.url)('smpp/lib/defs.js') as {
  errors: Record<string, number>;
};
const NONE = { errors: {} };

describe('by the standard', () => {
  test('every code of SMPP 3.4 that answers anything has a meaning', () => {
    const listed = Object.entries(CODES).filter(
      ([name, code]) => name.startsWith('ESME_') && code !== 0 && code < 0x100,
    );
    expect(listed.length).toBeGreaterThanOrEqual(46);
    expect(listed.filter(([, code]) => !STATUS_MEANING.has(code))).toEqual([]);
  });

  test.each([
    ['ESME_RTHROTTLED', { kind: 'throttled', retryAfterMs: 1_000 }],
    ['ESME_RSYSERR', { kind: 'later', retryAfterMs: 10_000 }],
    ['ESME_RSUBMITFAIL', { kind: 'later', retryAfterMs: 30_000 }],
    ['ESME_RINVDSTADR', { kind: 'refused', reason: 'invalid_destination' }],
    ['ESME_RINVSRCADR', { kind: 'refused', reason: 'invalid_sender' }],
    ['ESME_RINVMSGLEN', { kind: 'refused', reason: 'invalid_content' }],
    ['ESME_RX_R_APPN', { kind: 'refused', reason: 'network_refused' }],
    ['ESME_RINVBNDSTS', { kind: 'broken' }],
    ['ESME_RPROHIBITED', { kind: 'broken' }],
    ['ESME_RUNKNOWNERR', { kind: 'unanswered' }],
  ])('%s', (name, expected) => {
    const status = CODES[name]!;
    const code = `0x${status.toString(16).padStart(8, '0')}`;
    expect(answerOfStatus(status, NONE)).toEqual({ ...expected, code });
  });

  test.each([0x400, 0x4ff, 0x09, 0x500, 0xffff_ffff])('nobody knows what 0x%s means', (status) => {
    expect(answerOfStatus(status, NONE)).toEqual({
      kind: 'unanswered',
      code: `0x${status.toString(16).padStart(8, '0')}`,
    });
  });
});

describe('by the route’s own table', () => {
  const errors = {
    '0x00000400': 'later:90',
    '1025': 'throttled',
    '0x402': 'refused',
    '0x58': 'throttled:5',
    '0x0000000A': 'broken',
    '11': 'refused',
    '8': 'unknown',
    '0X045': 'later',
  };
  test.each([
    [0x400, { kind: 'later', retryAfterMs: 90_000 }],
    [0x402, { kind: 'refused', reason: 'network_refused' }],
    [0x58, { kind: 'throttled', retryAfterMs: 5_000 }],
    [0x0b, { kind: 'refused', reason: 'invalid_destination' }],
    [0x08, { kind: 'unanswered' }],
  ])('%i', (status, expected) => {
    expect(answerOfStatus(status, { errors })).toMatchObject(expected);
  });
});

test.each([
  ['0x0000000b', 'ESME_RINVDSTADR (0x0000000b): the SMSC does not take this message'],
  ['0x00000400', '0x00000400: the SMSC may have taken it'],
  ['no_session', 'no_session'],
])('%s is explained to staff', (code, words) => {
  expect(describeCode(code)).toBe(words);
});
