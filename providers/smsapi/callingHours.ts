import { firstMomentInside } from '../../domain/sendWindow.ts';

const HOUR = 60;
/**
 * When SMSAPI.pl calls: between 8:00 and 22:00 Polish time, and only if all repeats of the call fit in as well
 * (https://www.smsapi.pl/docs/#19-kody-bledow, 51).
 */
export const CALLING_HOURS = { startMinute: 8 * HOUR, endMinute: 22 * HOUR };
const NIGHT = { startMinute: CALLING_HOURS.endMinute, endMinute: CALLING_HOURS.startMinute };

/**
 * How long after a call was refused for its hour it may be given again, in ms: until the next morning, also where it is
 * not night yet, as then its repeats reach into it.
 *
 * @param now epoch milliseconds
 */
export function untilCallsOpen(now: number): number {
  return firstMomentInside(firstMomentInside(now, NIGHT), CALLING_HOURS) - now;
}
