import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDays,
  type CalendarUnit,
  daysInside,
  divide,
  parseDay,
  parsePolishTime,
  polishDay,
  polishTime,
  startOfDay,
} from '../../domain/calendar.ts';

const HOUR_MS = 3_600_000;
const FIRST = Date.UTC(2000, 0, 2);
const LAST = Date.UTC(2099, 11, 30);

// An oracle of its own: the clock of Intl, not that of Temporal.
const intl = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Warsaw',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});
function oracleDay(instant: number): string {
  const parts = new Map(intl.formatToParts(instant).map(({ type, value }) => [type, value]));
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
}
function oracleWeek(day: string): string {
  const thursday = new Date(`${day}T00:00:00Z`);
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * 24 * HOUR_MS));
  return `${year}-W${String(week).padStart(2, '0')}`;
}

const instants = fc.integer({ min: FIRST, max: LAST });
// Around both changes of a year nearly every second counts.
const nearChanges = fc
  .tuple(fc.integer({ min: 2000, max: 2099 }), fc.constantFrom(2, 9), fc.integer({ min: -100, max: 200 }))
  .map(([year, month, hours]) => Date.UTC(year, month + 1, 0) + hours * (HOUR_MS / 2) - 1);

describe('a time of the Polish clock', () => {
  it.each([
    ['2026-11-28T12:00', '2026-11-28T11:00:00.000Z'],
    ['2026-07-01T00:00:00', '2026-06-30T22:00:00.000Z'],
    // Summer time begins: 02:00 to 03:00 is skipped.
    ['2027-03-28T01:59', '2027-03-28T00:59:00.000Z'],
    ['2027-03-28T02:00', null],
    ['2027-03-28T02:59', null],
    ['2027-03-28T03:00', '2027-03-28T01:00:00.000Z'],
    // It ends: 02:00 to 03:00 comes twice.
    ['2027-10-31T01:59', '2027-10-30T23:59:00.000Z'],
    ['2027-10-31T02:00', '2027-10-31T00:00:00.000Z'],
    ['2027-10-31T02:59', '2027-10-31T00:59:00.000Z'],
    ['2027-10-31T03:00', '2027-10-31T02:00:00.000Z'],
    ['2027-02-29T12:00', null],
    ['2027-01-01T24:00', null],
    ['2027-01-01', null],
    ['2027-01-01T12:00Z', null],
    ['', null],
  ])('%s is %s', (written, instant) => {
    const found = parsePolishTime(written);
    expect(found === null ? null : new Date(found).toISOString()).toBe(instant);
  });
});

describe('Polish calendar days', () => {
  it('the day of an instant is the one that a clock in Poland shows', () => {
    fc.assert(
      fc.property(fc.oneof(instants, nearChanges), (at) => {
        expect(polishDay(at)).toBe(oracleDay(at));
      }),
      { numRuns: 500 },
    );
  });

  it('a day begins at its first millisecond', () => {
    fc.assert(
      fc.property(fc.oneof(instants, nearChanges), (at) => {
        const day = oracleDay(at);
        const start = startOfDay(day);
        expect([oracleDay(start - 1), oracleDay(start)]).toEqual([addDays(day, -1), day]);
        expect(start <= at && at < startOfDay(addDays(day, 1))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['2026-03-29', 23],
    ['2026-10-25', 25],
  ])('%s has %i hours', (day, hours) => {
    expect((startOfDay(addDays(day, 1)) - startOfDay(day)) / HOUR_MS).toBe(hours);
  });

  it.each([
    ['2026-07-05T08:04:00.000Z', '2026-07-05', '10:04'],
    ['2026-12-31T23:00:00.000Z', '2027-01-01', '00:00'],
    ['2026-03-29T01:00:00.000Z', '2026-03-29', '03:00'],
    ['2026-10-25T01:30:00.000Z', '2026-10-25', '02:30'],
  ])('%s is the day %s, %s on the clock', (instant, day, time) => {
    expect(polishTime(Date.parse(instant))).toEqual({ day, time });
  });

  it.each(['2026-02-29', '2026-13-01', '2026-1-1', '1999-12-31', '20260101', '2026-01-01T00:00'])(
    'no day: %s',
    (text) => expect(parseDay(text)).toBeNull(),
  );

  it('reads days, leap days too', () => {
    expect([parseDay('2026-11-21'), parseDay('2028-02-29')]).toEqual(['2026-11-21', '2028-02-29']);
  });
});

describe('divide', () => {
  it('cuts the first and the last week off at the ends', () => {
    expect(divide('2026-12-30', '2027-01-05', 'week').map(({ key, from, to }) => [key, from, to])).toEqual([
      ['2026-W53', '2026-12-30', '2027-01-03'],
      ['2027-W01', '2027-01-04', '2027-01-05'],
    ]);
  });

  it('divides into months, also from a 31st', () => {
    expect(divide('2026-01-31', '2026-03-01', 'month').map(({ key, from, to }) => [key, from, to])).toEqual([
      ['2026-01', '2026-01-31', '2026-01-31'],
      ['2026-02', '2026-02-01', '2026-02-28'],
      ['2026-03', '2026-03-01', '2026-03-01'],
    ]);
  });

  it('of a period that ends before it begins, nothing', () => {
    expect(divide('2026-11-21', '2026-11-20', 'day')).toEqual([]);
    expect(daysInside('2026-11-21', '2026-11-20')).toBe(0);
  });

  it('covers every day once, in order, each instant in the span that its day names', () => {
    const units = fc.constantFrom<CalendarUnit>('day', 'week', 'month');
    fc.assert(
      fc.property(
        instants,
        fc.integer({ min: 1, max: 400 }),
        units,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (at, days, unit, share) => {
          const from = polishDay(Math.min(at, LAST - 401 * 24 * HOUR_MS));
          const to = addDays(from, days - 1);
          const spans = divide(from, to, unit);
          expect(daysInside(from, to)).toBe(days);
          expect([spans[0]!.from, spans.at(-1)!.to]).toEqual([from, to]);
          spans.slice(1).forEach((span, i) => expect(span.from).toBe(addDays(spans[i]!.to, 1)));
          const start = startOfDay(from);
          const moment = Math.floor(start + share * (startOfDay(addDays(to, 1)) - start - 1));
          const day = oracleDay(moment);
          const span = spans.findLast(({ startsAt }) => startsAt <= moment)!;
          expect(span.from <= day && day <= span.to).toBe(true);
          expect(span.key).toBe(unit === 'day' ? day : unit === 'week' ? oracleWeek(day) : day.slice(0, 7));
        },
      ),
      { numRuns: 150 },
    );
  });
});
