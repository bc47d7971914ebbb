import { firstMomentInside, firstMomentInsideAll, parseSendWindow, type SendWindow } from './sendWindow.ts';

const DAY_MINUTES = 24 * 60;
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
