import { describe, expect, it } from 'vitest';
import { findTiming } from '../../operations/sending/plan.ts';
import { parseSendWindow } from '../../domain/sendWindow.ts';
import { Refused } from '../../domain/refusals.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const at = (text: string) => Date.parse(text);
const windowsOf = (window: string | null) => (window === null ? [] : [parseSendWindow(window)!]);
const shown = (sendAt: string | null, window: string | null, now: string) =>
  findTiming(
    { sendAt: sendAt === null ? null : at(sendAt), windows: windowsOf(window), expiresAt: null },
    at(now),
  ).sendAt?.toISOString() ?? null;

describe('send time on the nights when the clocks change', () => {
  // 28 March 2027: 02:00 CET becomes 03:00 CEST, at 01:00 UTC.
  it.each([
    ['2027-03-28T00:45:00Z', '02:30-05:00', '2027-03-28T01:00:00.000Z'],
    ['2027-03-28T00:45:00Z', '02:15-02:45', '2027-03-29T00:15:00.000Z'],
  ])('spring: at %s the window %s opens %s', (now, window, expected) => {
    expect(shown(null, window, now)).toBe(expected);
  });

  // 31 October 2027: 03:00 CEST becomes 02:00 CET, at 01:00 UTC.
  it.each([
    ['2027-10-31T00:50:00Z', '02:15-02:45', '2027-10-31T01:15:00.000Z'],
    ['2027-10-31T01:20:00Z', '02:15-02:45', null],
  ])('autumn: at %s the window %s opens %s', (now, window, expected) => {
    expect(shown(null, window, now)).toBe(expected);
  });
});

describe('send time', () => {
  const now = '2027-01-15T12:00:00Z'; // 13:00 in Poland

  it.each([
    [null, null, null],
    [null, '20:00-21:00', '2027-01-15T19:00:00.000Z'],
    [null, '08:00-13:00', '2027-01-16T07:00:00.000Z'],
    ['2027-01-15T11:00:00Z', null, null],
    // Was inside the window then; now is outside.
    ['2027-01-15T10:00:00Z', '08:00-12:00', '2027-01-16T07:00:00.000Z'],
    ['2027-01-15T12:00:00.001Z', null, '2027-01-15T12:00:00.001Z'],
    ['2027-01-20T21:30:00Z', '08:00-20:00', '2027-01-21T07:00:00.000Z'],
  ])('send_at %s, window %s: shown as %s', (sendAt, window, expected) => {
    expect(shown(sendAt, window, now)).toBe(expected);
  });

  it('gives up 72 h after the send time, or at expires_at', () => {
    const asked = { sendAt: at('2027-01-15T11:00:00Z'), windows: windowsOf('20:00-21:00'), expiresAt: null };
    expect(findTiming(asked, at(now)).giveUpAt.toISOString()).toBe('2027-01-18T19:00:00.000Z');
    const expiresAt = at('2027-01-15T19:15:00Z');
    expect(findTiming({ ...asked, expiresAt }, at(now))).toMatchObject({
      expiresAt: new Date(expiresAt),
      giveUpAt: new Date(expiresAt),
    });
  });

  it('expires_at counts from the time as moved', () => {
    const asked = { sendAt: null, windows: windowsOf('20:00-21:00'), expiresAt: at('2027-01-15T13:00:00Z') };
    expect(() => findTiming(asked, at(now))).toThrow(Refused);
  });

  it.each([
    [{ sendAt: -DAY, expiresAt: 15 * MINUTE - 1 }, false],
    [{ sendAt: 90 * DAY }, true],
    [{ sendAt: 90 * DAY + 1 }, false],
    [{ expiresAt: 15 * MINUTE - 1 }, false],
    [{ expiresAt: 3 * DAY }, true],
    [{ expiresAt: 3 * DAY + 1 }, false],
    [{ sendAt: 90 * DAY, expiresAt: 93 * DAY + 1 }, false],
  ])(
    'to the millisecond: %o from now is taken: %o',
    (asked: { sendAt?: number; expiresAt?: number }, taken) => {
      const fromNow = (ms: number | undefined) => (ms === undefined ? null : at(now) + ms);
      const timing = () =>
        findTiming(
          { sendAt: fromNow(asked.sendAt), expiresAt: fromNow(asked.expiresAt), windows: [] },
          at(now),
        );
      if (taken)
        expect(timing().expiresAt).toEqual(
          asked.expiresAt === undefined ? null : new Date(at(now) + asked.expiresAt),
        );
      else expect(timing).toThrow(Refused);
    },
  );
});
