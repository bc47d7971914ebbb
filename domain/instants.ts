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
