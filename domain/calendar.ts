import { Temporal } from 'temporal-polyfill';

const PATTERN =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?:Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)$/;
const MINUTE_MS = 60_000;
const MAX_OFFSET_MINUTES = 18 * 60;
// PostgreSQL does not read every ISO 8601 instant; the service has none before 1970 or after 9998.
const LATEST = Date.UTC(9999, 0);

/**
 * Parses an ISO 8601 date and time into epoch milliseconds. Null without an offset, which would make the sending hour a guess, for days and
 * hours that do not exist, and for offsets beyond 18 hours. Fractions of a millisecond are cut off.
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
  // Date.parse turns 30 February into 2 March; only an existing date comes back as written.
  if (Number.isNaN(epochMs) || new Date(epochMs).toISOString() !== asUtc) return null;
  return epochMs - (sign === '-' ? -offset : offset) * MINUTE_MS;
}

/** Clamps a filter's instant (epoch milliseconds) to what the database compares with. */
export function comparableInstant(epochMs: number): number {
  return Math.min(Math.max(epochMs, 0), LATEST);
}

const ZONE = 'Europe/Warsaw';
const DAY = /^20[0-9]{2}-[0-9]{2}-[0-9]{2}$/;

export const CALENDAR_UNITS = ['day', 'week', 'month'] as const;
export type CalendarUnit = (typeof CALENDAR_UNITS)[number];

/** Whole Polish calendar days: one unit, or its part inside a period. */
export interface CalendarSpan {
  /** `2026-11-21`, `2026-W47` (ISO week and its year) or `2026-11`. */
  key: string;
  /** First and last day, `YYYY-MM-DD`, both inclusive. */
  from: string;
  to: string;
  /** Start of the first day, epoch milliseconds. The span ends where the next one begins. */
  startsAt: number;
}

/** Parses a calendar day of this century, `YYYY-MM-DD`; returns the same text, or null when there is no such day. */
export function parseDay(input: string): string | null {
  if (!DAY.test(input)) return null;
  try {
    return Temporal.PlainDate.from(input).toString();
  } catch {
    return null;
  }
}

/** The Polish calendar day of an instant (whole epoch milliseconds), `YYYY-MM-DD`. */
export function polishDay(instant: number): string {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(ZONE).toPlainDate().toString();
}

/** Polish day and time of an instant (whole epoch milliseconds), `YYYY-MM-DD` and `HH:MM`. */
export function polishTime(instant: number): { day: string; time: string } {
  const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(ZONE);
  return {
    day: local.toPlainDate().toString(),
    time: local.toPlainTime().toString({ smallestUnit: 'minute' }),
  };
}

const LOCAL_TIME = /^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::00)?$/;

/**
 * Parses a time of the Polish clock, `YYYY-MM-DDTHH:MM`, into epoch milliseconds. Of the hour repeated in autumn it is the first one; null
 * for the hour skipped in spring, and for what is no time.
 */
export function parsePolishTime(input: string): number | null {
  if (!LOCAL_TIME.test(input)) return null;
  try {
    const local = Temporal.PlainDateTime.from(input);
    const found = local.toZonedDateTime(ZONE, { disambiguation: 'earlier' });
    return found.toPlainDateTime().equals(local) ? found.epochMilliseconds : null;
  } catch {
    return null;
  }
}

/** Start of a Polish day (`YYYY-MM-DD`), epoch milliseconds. Days last 23, 24 or 25 hours: a day ends where the next one begins. */
export function startOfDay(day: string): number {
  return Temporal.PlainDate.from(day).toZonedDateTime(ZONE).epochMilliseconds;
}

export function addDays(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString();
}

/** Both ends inclusive; below 1 when they are reversed. */
export function daysInside(from: string, to: string): number {
  return Temporal.PlainDate.from(from).until(Temporal.PlainDate.from(to)).days + 1;
}

/** Splits a period, both ends inclusive, into units; the first and the last are cut at its ends. */
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
