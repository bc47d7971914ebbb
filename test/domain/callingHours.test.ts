import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstMomentInside,
  firstMomentInsideAll,
  firstMomentToCall,
  hoursToBegin,
  parseSendWindow,
  readCallingHours,
} from '../../domain/sendWindow.ts';

const MINUTE = 60_000;
const hours = (window: string, betweenTriesS = 300) => ({ window: parseSendWindow(window)!, betweenTriesS });
const window = (written: string) => parseSendWindow(written)!;
const at = (text: string) => Date.parse(text);
/** A minute of the three days around each change of the clocks in 2027, and around an ordinary day. */
const nearAChange = fc
  .tuple(
    fc.constantFrom(at('2027-03-27T00:00:00Z'), at('2027-10-30T00:00:00Z'), at('2027-06-10T00:00:00Z')),
    fc.integer({ min: 0, max: 3 * 1440 }),
  )
  .map(([day, minute]) => day + minute * MINUTE);

describe('the hours in which a call may begin', () => {
  it.each([
    ['08:00-22:00', 300, 1, { startMinute: 480, endMinute: 1320 }],
    ['08:00-22:00', 300, 6, { startMinute: 480, endMinute: 1295 }],
    ['20:00-02:00', 3600, 3, { startMinute: 1200, endMinute: 1440 }],
    ['20:00-02:00', 3600, 4, { startMinute: 1200, endMinute: 1380 }],
    ['08:00-08:15', 900, 2, null],
    ['08:00-08:15', 840, 2, { startMinute: 480, endMinute: 481 }],
  ])('%s, tries %s s apart, %i of them', (written, betweenTriesS, tries, expected) => {
    expect(hoursToBegin(hours(written, betweenTriesS), tries)).toEqual(expected);
  });
});

describe('the calling hours of a route', () => {
  it('are its window, with the time between two tries', () => {
    expect(readCallingHours('08:00-22:00', 300)).toEqual({
      window: { startMinute: 480, endMinute: 1320 },
      betweenTriesS: 300,
    });
  });

  it('are none where the setting is no window', () => {
    expect(readCallingHours('8-22', 300)).toBeNull();
  });
});

describe('the moment to call', () => {
  const first = (
    now: string,
    written: string,
    betweenTriesS: number,
    tries: number,
    ...windows: string[]
  ) => {
    const calling = { hours: hours(written, betweenTriesS), tries };
    const moment = firstMomentToCall(at(now), windows.map(window), calling);
    return moment === null ? null : new Date(moment).toISOString();
  };

  it.each([
    ['2026-11-24T20:34:00Z', '08:00-22:00', 300, 6, [], '2026-11-24T20:34:00.000Z'],
    ['2026-11-24T20:35:00Z', '08:00-22:00', 300, 6, [], '2026-11-25T07:00:00.000Z'],
    ['2026-11-24T20:35:00Z', '08:00-22:00', 300, 6, ['20:00-08:00'], '2026-11-25T19:00:00.000Z'],
    ['2026-11-24T12:00:00Z', '08:00-22:00', 300, 6, ['22:00-08:00'], null],
    ['2026-11-24T12:00:00Z', '08:00-08:15', 900, 2, [], null],
    // The hours end at 02:00, when the clocks go forward: a try at 03:15 is outside of them.
    ['2027-03-28T00:34:00Z', '22:00-02:30', 300, 6, [], '2027-03-28T00:34:00.000Z'],
    ['2027-03-28T00:50:00Z', '22:00-02:30', 300, 6, [], '2027-03-28T20:00:00.000Z'],
    ['2027-03-28T00:50:00Z', '22:00-02:30', 300, 6, ['00:00-03:00'], '2027-03-28T22:00:00.000Z'],
    // They open twice when the clocks go back, and the second try falls in between.
    ['2027-10-31T00:50:00Z', '02:45-14:00', 1200, 2, [], '2027-10-31T01:45:00.000Z'],
    ['2027-10-31T00:45:00Z', '02:45-14:00', 3600, 2, [], '2027-10-31T00:45:00.000Z'],
  ] as const)(
    'from %s of a route that calls at %s, tries %i s apart, %i of them, in %j: %s',
    (now, written, betweenTriesS, tries, windows, expected) => {
      expect(first(now, written, betweenTriesS, tries, ...windows)).toBe(expected);
    },
  );

  it('has every try inside, and is the first one of which the clock says so unless it lies', () => {
    const width = fc.integer({ min: 15, max: 1439 });
    const anyHours = fc.tuple(fc.integer({ min: 0, max: 1439 }), width).map(([startMinute, minutes]) => {
      const end = (startMinute + minutes) % 1440;
      return { startMinute, endMinute: end === 0 ? 1440 : end };
    });
    fc.assert(
      fc.property(
        nearAChange,
        anyHours,
        fc.integer({ min: 300, max: 7_200 }),
        fc.integer({ min: 1, max: 6 }),
        (from, calls, betweenTriesS, tries) => {
          const toBegin = hoursToBegin({ window: calls, betweenTriesS }, tries);
          fc.pre(toBegin !== null);
          const holds = (moment: number) =>
            Array.from({ length: tries }, (_, i) => moment + i * betweenTriesS * 1000).every(
              (begin) => firstMomentInside(begin, calls) === begin,
            );
          const moment = firstMomentToCall(from, [], { hours: { window: calls, betweenTriesS }, tries })!;
          expect(moment).toBeGreaterThanOrEqual(from);
          expect(holds(moment)).toBe(true);
          const opening = firstMomentInside(from, toBegin);
          if (holds(opening)) expect(moment).toBe(opening);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a moment inside several windows', () => {
  const first = (now: string, ...written: string[]) => {
    const moment = firstMomentInsideAll(at(now), written.map(window));
    return moment === null ? null : new Date(moment).toISOString();
  };

  it.each([
    // 23:00 in Poland: the call waits for the morning.
    ['2026-11-24T22:00:00Z', ['08:00-22:00'], '2026-11-25T07:00:00.000Z'],
    ['2026-11-24T22:00:00Z', ['08:00-22:00', '20:00-06:00'], '2026-11-25T19:00:00.000Z'],
    ['2026-11-24T12:00:00Z', ['08:00-22:00', '22:00-06:00'], null],
    ['2026-11-24T12:00:00Z', ['22:00-08:00', '07:45-09:00'], '2026-11-25T06:45:00.000Z'],
    ['2026-11-24T12:00:00Z', [], '2026-11-24T12:00:00.000Z'],
    ['2027-03-28T00:10:00Z', ['02:30-05:00', '00:00-04:00'], '2027-03-28T01:00:00.000Z'],
    ['2027-10-31T00:50:00Z', ['02:15-02:45', '00:00-03:00'], '2027-10-31T01:15:00.000Z'],
    // They meet on the doubled hour as on any other day, but not in the skipped one.
    ['2027-03-27T12:00:00Z', ['02:10-02:50', '02:00-03:00'], '2027-03-29T00:10:00.000Z'],
    ['2027-03-27T04:00:00Z', ['02:20-05:00', '01:40-03:10', '03:50-02:40'], '2027-03-29T00:20:00.000Z'],
  ])('from %s in %j is %s', (now, windows, expected) => {
    expect(first(now, ...windows)).toBe(expected);
  });

  it('is in each, and no minute before it is', () => {
    const minutes = fc.integer({ min: 0, max: 1439 });
    const anyWindow = fc
      .tuple(minutes, minutes)
      .filter(([start, end]) => start !== end)
      .map(([startMinute, endMinute]) => ({ startMinute, endMinute }));
    fc.assert(
      fc.property(nearAChange, fc.array(anyWindow, { minLength: 1, maxLength: 3 }), (from, windows) => {
        const inside = (moment: number) => windows.every((one) => firstMomentInside(moment, one) === moment);
        let searched: number | null = null;
        for (let moment = from; moment <= from + 3 * 1440 * MINUTE; moment += MINUTE) {
          if (inside(moment)) {
            searched = moment;
            break;
          }
        }
        expect(firstMomentInsideAll(from, windows)).toBe(searched);
      }),
      { numRuns: 60 },
    );
  });
});
