import { Temporal } from 'temporal-polyfill';

const ZONE = 'Europe/Warsaw';
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const MIN_WIDTH_MINUTES = 15;
const STEPS_MAX = 6;
const PATTERN = /^([01][0-9]|2[0-3]):([0-5][0-9])-(?:([01][0-9]|2[0-3]):([0-5][0-9])|24:00)$/;

/** Daily sending hours, Polish time: minutes after midnight, end exclusive (0..1440). An end before the start spans midnight. */
export interface SendWindow {
  startMinute: number;
  endMinute: number;
}

/** Parses `HH:MM-HH:MM`, at least 15 minutes, end up to 24:00 (v2.3.0, Limits); null if malformed, or if equal ends make it ambiguous. */
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
 * The first instant from the given one on that is inside the window by Polish time (v2.3.0, States: "moved to the next window start").
 * The hour skipped in spring is in no window: 02:30-05:00 opens at 03:00 that day, 02:15-02:45 the next day. The hour repeated in autumn
 * counts twice. Epoch milliseconds.
 * @throws RangeError when the instant is not a whole number of milliseconds
 */
export function firstMomentInside(instant: number, window: SendWindow): number {
  let moment = instant;
  for (;;) {
    const { wallMs, nextChange } = polishTime(moment);
    if (contains(window, Math.floor(wallMs / MINUTE_MS))) return moment;
    // Local time runs evenly until its next change, so the window opens at its start or by the change jumping into it.
    const opening = moment + modulo(window.startMinute * MINUTE_MS - wallMs, DAY_MS);
    if (nextChange === null || opening < nextChange) return opening;
    moment = nextChange;
  }
}

/** The first instant from the given one on that is inside all windows; null where they never overlap. Whole epoch milliseconds. */
export function firstMomentInsideAll(instant: number, windows: readonly SendWindow[]): number | null {
  let moment = instant;
  // Each step moves to an opening; windows that overlap do so within a day, or two when the clocks change.
  for (let step = 0; step <= STEPS_MAX * windows.length; step += 1) {
    const next = windows.reduce(firstMomentInside, moment);
    if (next === moment) return moment;
    moment = next;
  }
  return null;
}

// Milliseconds since Polish midnight, and the instant of the next clock change (null: none known).
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

// Openings that a clock change makes too short; one night has no more of them.
const OPENINGS_MAX = 4;

/** When a route makes calls, Polish time. */
export interface CallingHours {
  window: SendWindow;
  /** Seconds between two attempts of one call. */
  betweenTriesS: number;
}

export interface CallConstraints {
  hours: CallingHours;
  /** Call attempts in total. */
  tries: number;
}

/**
 * The first instant from the given one on, inside all windows, at which a call may begin so that each attempt falls into the hours. When
 * the clocks change, the hours may end early or open twice: a call with an attempt outside waits for the next opening.
 * Whole epoch milliseconds.
 * @returns null where the windows never overlap, or the hours are too short
 */
export function firstMomentToCall(
  instant: number,
  windows: readonly SendWindow[],
  { hours, tries }: CallConstraints,
): number | null {
  const toBegin = hoursToBegin(hours, tries);
  if (toBegin === null) return null;
  const opening = (from: number): number | null => firstMomentInsideAll(from, [...windows, toBegin]);
  let moment = opening(instant);
  for (let found = 0; moment !== null && found < OPENINGS_MAX; found += 1) {
    if (allTriesInside(moment, hours, tries)) return moment;
    moment = opening(firstMomentInside(moment, outside(toBegin)));
  }
  return null;
}

function allTriesInside(moment: number, { window, betweenTriesS }: CallingHours, tries: number): boolean {
  return Array.from({ length: tries }, (_, before) => moment + before * betweenTriesS * 1000).every(
    (begin) => firstMomentInside(begin, window) === begin,
  );
}

// The rest of the day; only for hours shorter than a day.
function outside({ startMinute, endMinute }: SendWindow): SendWindow {
  return { startMinute: endMinute % DAY_MINUTES, endMinute: startMinute === 0 ? DAY_MINUTES : startMinute };
}

/** The hours in which a call may begin so that its last attempt is inside too, on a day of 24 hours; null when they are too short. */
export function hoursToBegin({ window, betweenTriesS }: CallingHours, tries: number): SendWindow | null {
  const { startMinute, endMinute } = window;
  const taken = Math.ceil(((tries - 1) * betweenTriesS) / 60);
  const width = endMinute > startMinute ? endMinute - startMinute : DAY_MINUTES - startMinute + endMinute;
  if (width === DAY_MINUTES) return window;
  if (taken >= width) return null;
  const end = (startMinute + width - taken) % DAY_MINUTES;
  return { startMinute, endMinute: end === 0 ? DAY_MINUTES : end };
}

export function readCallingHours(written: string, betweenTriesS: number): CallingHours | null {
  const window = parseSendWindow(written);
  return window === null ? null : { window, betweenTriesS };
}
