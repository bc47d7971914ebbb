import { Temporal } from 'temporal-polyfill';

const ZONE = 'Europe/Warsaw';
const DAY = /^20[0-9]{2}-[0-9]{2}-[0-9]{2}$/;

/** What a period is divided into; weeks begin on Monday (ISO 8601). */
export const CALENDAR_UNITS = ['day', 'week', 'month'] as const;
export type CalendarUnit = (typeof CALENDAR_UNITS)[number];

/** Some whole Polish calendar days: one unit, or what of it lies inside a longer period. */
export interface CalendarSpan {
  /** The unit's name: `2026-11-21`, `2026-W47` (ISO week and its year), `2026-11`. */
  key: string;
  /** First and last day, `YYYY-MM-DD`, both inside. */
  from: string;
  to: string;
  /** When the first day begins, epoch milliseconds. The span ends where the next one begins. */
  startsAt: number;
}

/**
 * Reads a calendar day of this century, `YYYY-MM-DD`.
 * @returns the same text, or null when there is no such day
 */
export function parseDay(input: string): string | null {
  if (!DAY.test(input)) return null;
  try {
    return Temporal.PlainDate.from(input).toString();
  } catch {
    return null;
  }
}

/**
 * The calendar day in Poland at an instant, `YYYY-MM-DD`.
 * @param instant epoch milliseconds, whole
 */
export function polishDay(instant: number): string {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(ZONE).toPlainDate().toString();
}

/**
 * Day and time of day in Poland at an instant, `YYYY-MM-DD` and `HH:MM`.
 * @param instant epoch milliseconds, whole
 */
export function polishTime(instant: number): { day: string; time: string } {
  const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(ZONE);
  return {
    day: local.toPlainDate().toString(),
    time: local.toPlainTime().toString({ smallestUnit: 'minute' }),
  };
}

/**
 * When a day begins in Poland. Days last 23, 24 or 25 hours: a day ends where the next one begins.
 * @param day `YYYY-MM-DD`
 * @returns epoch milliseconds
 */
export function startOfDay(day: string): number {
  return Temporal.PlainDate.from(day).toZonedDateTime(ZONE).epochMilliseconds;
}

/** The day so many days later, or earlier when `days` is negative; `YYYY-MM-DD`. */
export function addDays(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString();
}

/** How many days a period has, both its ends inside; below 1 when it ends before it begins. */
export function daysInside(from: string, to: string): number {
  return Temporal.PlainDate.from(from).until(Temporal.PlainDate.from(to)).days + 1;
}

/** Divides a period, both ends inside, into units, in order; the first and the last are cut off at its ends. */
export function divide(from: string, to: string, unit: CalendarUnit): CalendarSpan[] {
  const spans: CalendarSpan[] = [];
  const last = Temporal.PlainDate.from(to);
  let first = Temporal.PlainDate.from(from);
  while (Temporal.PlainDate.compare(first, last) <= 0) {
    const next = nextUnit(first, unit);
    const end = Temporal.PlainDate.compare(next, last) > 0 ? last : next.subtract({ days: 1 });
    spans.push({
      key: keyOf(first, unit),
      from: first.toString(),
      to: end.toString(),
      startsAt: first.toZonedDateTime(ZONE).epochMilliseconds,
    });
    first = next;
  }
  return spans;
}

/** The first day of the next unit. */
function nextUnit(day: Temporal.PlainDate, unit: CalendarUnit): Temporal.PlainDate {
  switch (unit) {
    case 'day':
      return day.add({ days: 1 });
    case 'week':
      return day.add({ days: 8 - day.dayOfWeek });
    case 'month':
      return day.with({ day: 1 }).add({ months: 1 });
  }
}

function keyOf(day: Temporal.PlainDate, unit: CalendarUnit): string {
  const date = day.toString();
  switch (unit) {
    case 'day':
      return date;
    case 'week':
      return `${day.yearOfWeek}-W${String(day.weekOfYear).padStart(2, '0')}`;
    case 'month':
      return date.slice(0, 7);
  }
}
