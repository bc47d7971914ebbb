import { Temporal } from 'temporal-polyfill';

const PATTERN =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?:Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)$/;
const MINUTE_MS = 60_000;
const MAX_OFFSET_MINUTES = 18 * 60;
// ISO 8601 has instants that PostgreSQL does not read; nothing of the service is of before 1970 or after 9998.
const LATEST = Date.UTC(9999, 0);

/**
 * Reads an ISO 8601 date and time with an explicit offset: `Z`, `+01:00`, `+0100` or `+01`. Seconds and
 * their fraction (1 to 9 digits) may be left out; what is finer than a millisecond is cut off.
 *
 * A time without an offset is refused: it would leave the sending hour to a guess. So are days and hours
 * that do not exist (30 February, 24:00, a 61st second) and offsets beyond 18 hours.
 *
 * @returns epoch milliseconds, or null when the input is not such an instant
 */
export function parseInstant(input: string): number | null {
  const match = PATTERN.exec(input);
  if (match === null) return null;
  const [, dateAndMinutes, seconds = '00', fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] =
    match;
  const offset = Number(offsetHours) * 60 + Number(offsetMinutes);
  if (offset > MAX_OFFSET_MINUTES || Number(offsetMinutes) > 59) return null;

  const asUtc = `${dateAndMinutes}:${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
  const epochMs = Date.parse(asUtc);
  // Date.parse turns 30 February into 2 March; only a date that comes back as written exists.
  if (Number.isNaN(epochMs) || formatInstant(epochMs) !== asUtc) return null;
  return epochMs - (sign === '-' ? -offset : offset) * MINUTE_MS;
}

/** The nearest instant, in epoch milliseconds, that a database compares with: for filters, which may ask for any. */
export function comparableInstant(epochMs: number): number {
  return Math.min(Math.max(epochMs, 0), LATEST);
}

/** Writes epoch milliseconds as the API shows every instant: `2026-11-21T10:00:00.000Z`. */
export function formatInstant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

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
