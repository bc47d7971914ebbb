import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstMomentInside, parseSendWindow, type SendWindow } from '../../domain/sendWindow.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A Polish clock from the runtime's own calendar data, apart from the library under test. */
const CLOCK = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Warsaw',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** What the Polish clock shows (minutes after midnight) in each minute from `from` on. */
function clockTable(from: number, days: number): { from: number; minutes: Int16Array } {
  const minutes = new Int16Array(days * 1440);
  for (let i = 0; i < minutes.length; i += 1) {
    const [hour = '', minute = ''] = CLOCK.format(from + i * MINUTE).split(':');
    minutes[i] = Number(hour) * 60 + Number(minute);
  }
  return { from, minutes };
}

/** For each minute of the clock whether it is inside, found by counting on from the start. */
function insideMinutes({ startMinute, endMinute }: SendWindow): Uint8Array {
  const inside = new Uint8Array(1440);
  let minute = startMinute;
  do {
    inside[minute] = 1;
    minute = (minute + 1) % 1440;
  } while (minute !== endMinute % 1440);
  return inside;
}

/** Goes on minute by minute until the clock shows a time inside. */
function walk(table: ReturnType<typeof clockTable>, instant: number, window: SendWindow): number {
  const inside = insideMinutes(window);
  const first = Math.floor((instant - table.from) / MINUTE);
  for (let i = first; i < table.minutes.length; i += 1) {
    if (inside[table.minutes[i] ?? -1]) return i === first ? instant : table.from + i * MINUTE;
  }
  throw new Error('The table ends before the window opens');
}

function at(instant: string): number {
  return Date.parse(instant);
}

function shifted(instant: string, window: string): string {
  const parsed = parseSendWindow(window);
  if (parsed === null) throw new Error(`No window: ${window}`);
  return new Date(firstMomentInside(at(instant), parsed)).toISOString().replace('.000Z', 'Z');
}

describe('reading a window', () => {
  test.each([
    ['08:00-20:00', 480, 1200],
    ['22:00-06:00', 1320, 360],
    ['09:00-09:15', 540, 555],
    ['23:45-00:00', 1425, 0],
    ['09:00-08:59', 540, 539],
    ['00:00-24:00', 0, 1440],
    ['23:45-24:00', 1425, 1440],
  ])('%s', (input, startMinute, endMinute) => {
    expect(parseSendWindow(input)).toEqual({ startMinute, endMinute });
  });

  test.each([
    '09:00-09:14',
    '23:50-00:04',
    '09:00-09:00',
    '24:00-08:00',
    '23:46-24:00',
    '08:00-24:01',
    '08:00-25:00',
    '08:60-10:00',
    '8:00-20:00',
    '08:00-20:00 ',
    '08:00-20:00\n',
    '08:00–20:00',
    '08:00:00-20:00:00',
    '٠٨:00-20:00',
    '',
  ])('%j is refused', (input) => {
    expect(parseSendWindow(input)).toBeNull();
  });
});

describe('the first moment inside', () => {
  test.each([
    ['inside: at once', '2026-07-01T10:30:15Z', '08:00-20:00', '2026-07-01T10:30:15Z'],
    ['the start is inside', '2026-07-01T06:00:00Z', '08:00-20:00', '2026-07-01T06:00:00Z'],
    ['the end is outside', '2026-07-01T18:00:00Z', '08:00-20:00', '2026-07-02T06:00:00Z'],
    ['the last second is inside', '2026-07-01T17:59:59Z', '08:00-20:00', '2026-07-01T17:59:59Z'],
    ['after: tomorrow', '2026-07-01T19:00:00Z', '08:00-20:00', '2026-07-02T06:00:00Z'],
    ['over midnight, in its first minute', '2026-07-01T20:00:30Z', '22:00-06:00', '2026-07-01T20:00:30Z'],
    ['over midnight, after it', '2026-07-01T02:00:00Z', '22:00-06:00', '2026-07-01T02:00:00Z'],
    ['over midnight, outside', '2026-07-01T04:00:00Z', '22:00-06:00', '2026-07-01T20:00:00Z'],
  ])('%s', (_, instant, window, expected) => {
    expect(shifted(instant, window)).toBe(expected);
  });

  test('is exact to the millisecond', () => {
    const window = { startMinute: 480, endMinute: 1200 };
    const end = at('2026-07-01T18:00:00Z');
    const start = at('2026-07-02T06:00:00Z');
    expect(firstMomentInside(end - 1, window)).toBe(end - 1);
    expect(firstMomentInside(end, window)).toBe(start);
    expect(firstMomentInside(start - 1, window)).toBe(start);
  });

  test('00:00-24:00 is any time, to the millisecond, in the nights when the clocks change too', () => {
    const anyTime = parseSendWindow('00:00-24:00')!;
    const around = fc
      .constantFrom('2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z', '2026-12-31T23:00:00Z')
      .map(at);
    fc.assert(
      fc.property(around, fc.integer({ min: -DAY, max: DAY }), (change, ms) => {
        expect(firstMomentInside(change + ms, anyTime)).toBe(change + ms);
      }),
    );
  });

  test('24:00 as the end is the midnight that ends the day', () => {
    const late = parseSendWindow('20:00-24:00')!;
    const midnight = at('2026-07-01T22:00:00Z');
    expect(firstMomentInside(midnight - 1, late)).toBe(midnight - 1);
    expect(firstMomentInside(midnight, late)).toBe(at('2026-07-02T18:00:00Z'));
    const same = parseSendWindow('20:00-00:00')!;
    for (let hour = 0; hour < 48; hour += 1) {
      const instant = midnight + hour * 60 * MINUTE;
      expect(firstMomentInside(instant, late)).toBe(firstMomentInside(instant, same));
    }
  });

  test('needs whole milliseconds', () => {
    expect(() => firstMomentInside(0.5, { startMinute: 0, endMinute: 60 })).toThrow(RangeError);
    expect(() => firstMomentInside(NaN, { startMinute: 0, endMinute: 60 })).toThrow(RangeError);
  });
});

describe('when the clocks go forward (29 March 2026, 02:00 → 03:00, 01:00Z)', () => {
  test.each([
    ['02:30-05:00 opens at 03:00', '2026-03-29T00:00:00Z', '02:30-05:00', '2026-03-29T01:00:00Z'],
    ['02:15-02:45 waits a day', '2026-03-29T00:00:00Z', '02:15-02:45', '2026-03-30T00:15:00Z'],
    ['01:00-02:30 ends at the change', '2026-03-29T00:59:59Z', '01:00-02:30', '2026-03-29T00:59:59Z'],
    ['01:00-02:30 is over at 03:00', '2026-03-29T01:00:00Z', '01:00-02:30', '2026-03-29T23:00:00Z'],
    ['08:00 is an hour nearer', '2026-03-28T19:00:00Z', '08:00-20:00', '2026-03-29T06:00:00Z'],
  ])('%s', (_, instant, window, expected) => {
    expect(shifted(instant, window)).toBe(expected);
  });
});

describe('when the clocks go back (25 October 2026, 03:00 → 02:00, 01:00Z)', () => {
  test.each([
    ['02:15-02:45, first pass', '2026-10-24T23:30:00Z', '02:15-02:45', '2026-10-25T00:15:00Z'],
    ['02:15-02:45 opens again', '2026-10-25T00:50:00Z', '02:15-02:45', '2026-10-25T01:15:00Z'],
    ['02:15-02:45, after both', '2026-10-25T01:45:00Z', '02:15-02:45', '2026-10-26T01:15:00Z'],
    ['01:00-02:30 opens at the second 02:00', '2026-10-25T00:30:00Z', '01:00-02:30', '2026-10-25T01:00:00Z'],
    ['08:00 is an hour farther', '2026-10-24T18:00:00Z', '08:00-20:00', '2026-10-25T07:00:00Z'],
  ])('%s', (_, instant, window, expected) => {
    expect(shifted(instant, window)).toBe(expected);
  });
});

describe('against a minute-by-minute walk on an independent clock', () => {
  const windows = fc
    .tuple(fc.nat(1439), fc.oneof(fc.integer({ min: 15, max: 90 }), fc.integer({ min: 15, max: 1439 })))
    .map(([startMinute, width]) => ({ startMinute, endMinute: (startMinute + width) % 1440 }));

  test('over the whole of 2026', () => {
    const from = at('2025-12-31T23:00:00Z');
    const year = clockTable(from, 368);
    const instants = fc.integer({ min: from, max: from + 365 * DAY - 1 });
    fc.assert(
      fc.property(instants, windows, (instant, window) => {
        expect(firstMomentInside(instant, window)).toBe(walk(year, instant, window));
      }),
      { seed: 2026, numRuns: 300 },
    );
  });

  test.each(['2026-03-28', '2026-10-24', '2031-03-29', '2031-10-25'])(
    'densely on the two days from %s, with short windows around the change',
    (day) => {
      const from = at(`${day}T12:00:00Z`);
      const nights = clockTable(from, 4);
      const instants = fc.integer({ min: from, max: from + 2 * DAY });
      const aroundChange = fc
        .tuple(fc.integer({ min: 60, max: 240 }), fc.integer({ min: 15, max: 120 }))
        .map(([startMinute, width]) => ({ startMinute, endMinute: startMinute + width }));
      fc.assert(
        fc.property(instants, fc.oneof(aroundChange, windows), (instant, window) => {
          expect(firstMomentInside(instant, window)).toBe(walk(nights, instant, window));
        }),
        { seed: 31, numRuns: 200 },
      );
    },
  );
});
