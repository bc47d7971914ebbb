import { Temporal } from 'temporal-polyfill';

const ZONE = 'Europe/Warsaw';
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const MIN_WIDTH_MINUTES = 15;
const STEPS_MAX = 6;
const PATTERN = /^([01][0-9]|2[0-3]):([0-5][0-9])-(?:([01][0-9]|2[0-3]):([0-5][0-9])|24:00)$/;

/**
 * Daily sending hours in minutes after midnight, Polish time, start inclusive, end exclusive: 0..1439 and 0..1440. An end
 * before the start means the window runs over midnight; 0 to 1440 is the whole day.
 */
export interface SendWindow {
  startMinute: number;
  endMinute: number;
}

/**
 * Reads `HH:MM-HH:MM`, at least 15 minutes wide counted over midnight if need be (v2.3.0, Limits). As the end is
 * exclusive, it may be 24:00: `20:00-24:00` is `20:00-00:00`, and `00:00-24:00` any time. Equal ends are refused: nobody can know whether they mean all day or never.
 *
 * @returns null when the input is not such a window
 */
export function parseSendWindow(input: string): SendWindow | null {
  const match = PATTERN.exec(input);
  if (match === null) return null;
  const [, startHour, startMinutes, endHour = '24', endMinutes = '00'] = match;
  const startMinute = Number(startHour) * 60 + Number(startMinutes);
  const endMinute = Number(endHour) * 60 + Number(endMinutes);
  const width =
    endMinute === DAY_MINUTES ? endMinute - startMinute : modulo(endMinute - startMinute, DAY_MINUTES);
  return width >= MIN_WIDTH_MINUTES ? { startMinute, endMinute } : null;
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

/**
 * The first moment, from the given one on, that lies inside all windows.
 * @param instant epoch milliseconds, whole
 * @returns epoch milliseconds; null where the windows never meet
 */
export function firstMomentInsideAll(instant: number, windows: readonly SendWindow[]): number | null {
  let moment = instant;
  // Each step moves to an opening; windows that meet at all do so within a day, or two where the clocks change.
  for (let step = 0; step <= STEPS_MAX * windows.length; step += 1) {
    const next = windows.reduce(firstMomentInside, moment);
    if (next === moment) return moment;
    moment = next;
  }
  return null;
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

// Each is an opening that the clocks' change makes too short; there are no more of them in one night.
const OPENINGS_MAX = 4;

/** When a route makes calls, Polish time. */
export interface CallingHours {
  window: SendWindow;
  /** Between two tries of one call, in seconds. */
  betweenTriesS: number;
}

/** A call, as far as its hours matter. */
export interface Calling {
  hours: CallingHours;
  /** Call attempts in all. */
  tries: number;
}

/**
 * The first moment, from the given one on, inside all windows at which a call may begin, so that each of its tries falls into the hours.
 * In a night when the clocks change the hours may end earlier than the clock says, or open twice: where a try would fall outside, the
 * call waits for the next opening.
 *
 * @param instant epoch milliseconds, whole
 * @returns epoch milliseconds; null where the windows never meet, or the hours are too short
 */
export function firstMomentToCall(
  instant: number,
  windows: readonly SendWindow[],
  { hours, tries }: Calling,
): number | null {
  const toBegin = hoursToBegin(hours, tries);
  if (toBegin === null) return null;
  const opening = (from: number): number | null => firstMomentInsideAll(from, [...windows, toBegin]);
  let moment = opening(instant);
  for (let found = 0; moment !== null && found < OPENINGS_MAX; found += 1) {
    if (holdsAllTries(moment, hours, tries)) return moment;
    moment = opening(firstMomentInside(moment, outside(toBegin)));
  }
  return null;
}

function holdsAllTries(moment: number, { window, betweenTriesS }: CallingHours, tries: number): boolean {
  return Array.from({ length: tries }, (_, before) => moment + before * betweenTriesS * 1000).every(
    (begin) => firstMomentInside(begin, window) === begin,
  );
}

/** The rest of the day; of hours that are not the whole day. */
function outside({ startMinute, endMinute }: SendWindow): SendWindow {
  return { startMinute: endMinute % DAY_MINUTES, endMinute: startMinute === 0 ? DAY_MINUTES : startMinute };
}

/**
 * The hours in which a call may begin, so that its last try still falls into them on any day of 24 hours.
 * @param tries call attempts in all
 * @returns null when they are too short for that
 */
export function hoursToBegin({ window, betweenTriesS }: CallingHours, tries: number): SendWindow | null {
  const { startMinute, endMinute } = window;
  const taken = Math.ceil(((tries - 1) * betweenTriesS) / 60);
  const width = endMinute > startMinute ? endMinute - startMinute : DAY_MINUTES - startMinute + endMinute;
  if (width === DAY_MINUTES) return window;
  if (taken >= width) return null;
  const end = (startMinute + width - taken) % DAY_MINUTES;
  return { startMinute, endMinute: end === 0 ? DAY_MINUTES : end };
}

/** @param written `HH:MM-HH:MM`, as a setting that was checked */
export function readCallingHours(written: string, betweenTriesS: number): CallingHours | null {
  const window = parseSendWindow(written);
  return window === null ? null : { window, betweenTriesS };
}
