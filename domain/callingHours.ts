import { parseSendWindow, type SendWindow } from './sendWindow.ts';

const DAY_MINUTES = 24 * 60;

/** When a route makes calls, Polish time. */
export interface CallingHours {
  window: SendWindow;
  /** Between two tries of one call, in seconds. */
  betweenTriesS: number;
}

/**
 * The hours in which a call may begin, so that its last try still falls into them.
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
