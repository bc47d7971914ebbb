import { Temporal } from 'temporal-polyfill';

const ZONE = 'Europe/Warsaw';
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const MIN_WIDTH_MINUTES = 15;
const PATTERN = /^([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])$/;

/**
 * Daily sending hours in minutes after midnight, Polish time, start inclusive, end exclusive, each
 * 0..1439. An end before the start means the window runs over midnight.
 */
export interface SendWindow {
  startMinute: number;
  endMinute: number;
}

/**
 * Reads `HH:MM-HH:MM`, 00:00 to 23:59 each, at least 15 minutes wide counted over midnight if need be
 * (v2.3.0, Limits). Equal ends are refused: nobody can tell whether they mean all day or never.
 *
 * @returns null when the input is not such a window
 */
export function parseSendWindow(input: string): SendWindow | null {
  const match = PATTERN.exec(input);
  if (match === null) return null;
  const [startHour, startMinutes, endHour, endMinutes] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const window = { startMinute: startHour * 60 + startMinutes, endMinute: endHour * 60 + endMinutes };
  const width = modulo(window.endMinute - window.startMinute, DAY_MINUTES);
  return width >= MIN_WIDTH_MINUTES ? window : null;
}

/**
 * The first moment, from the given one on, at which a clock in Poland shows a time inside the window:
 * the instant itself when it is inside (v2.3.0, States: "moved to the next window start").
 *
 * When the clocks go forward, the skipped hour is in no window: 02:30-05:00 opens at 03:00 that day and
 * 02:15-02:45 not before the next. When they go back, the doubled hour counts both times.
 *
 * @param instant epoch milliseconds, whole
 * @returns epoch milliseconds
 * @throws RangeError when the instant is not a whole number of milliseconds
 */
export function firstMomentInside(instant: number, window: SendWindow): number {
  let moment = instant;
  for (;;) {
    const { wallMs, nextChange } = polishTime(moment);
    if (contains(window, Math.floor(wallMs / MINUTE_MS))) return moment;
    // The clock runs evenly until its next change, so the window opens when the clock shows its start,
    // or by the change itself jumping into it.
    const opening = moment + modulo(window.startMinute * MINUTE_MS - wallMs, DAY_MS);
    if (nextChange === null || opening < nextChange) return opening;
    moment = nextChange;
  }
}

/** Milliseconds since midnight on the Polish clock, and the instant of its next change (null: none known). */
function polishTime(instant: number): { wallMs: number; nextChange: number | null } {
  const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(ZONE);
  const offsetMs = local.offsetNanoseconds / 1e6;
  return {
    wallMs: modulo(instant + offsetMs, DAY_MS),
    nextChange: local.getTimeZoneTransition('next')?.epochMilliseconds ?? null,
  };
}

function contains({ startMinute, endMinute }: SendWindow, minute: number): boolean {
  return startMinute < endMinute
    ? startMinute <= minute && minute < endMinute
    : startMinute <= minute || minute < endMinute;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
