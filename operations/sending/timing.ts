import { type Calling, firstMomentToCall } from '../../domain/callingHours.ts';
import { firstMomentInsideAll, type SendWindow } from '../../domain/sendWindow.ts';
import {
  type AcceptedStatus,
  DEFAULT_EXPIRY_MS,
  EXPIRES_MAX_MS,
  EXPIRES_MIN_MS,
  SEND_AT_HORIZON_MS,
} from '../../domain/statuses.ts';
import { Refused } from '../../domain/refusals.ts';

const DAY_MS = 24 * 3_600_000;

/** What a send time is found by; instants in epoch milliseconds. */
export interface TimesAsked {
  sendAt: number | null;
  /** It is sent inside all of them. */
  windows: readonly SendWindow[];
  /** Of a call by a route that has calling hours. */
  calling?: Calling | null;
  expiresAt: number | null;
}

/** When a message goes out and how long it is tried. */
export interface Timing {
  acceptedAs: Exclude<AcceptedStatus, 'rejected'>;
  /** As shown: null for a message sent at once. */
  sendAt: Date | null;
  /** As asked for. */
  expiresAt: Date | null;
  giveUpAt: Date;
}

/**
 * Finds the send time (v2.3.0, States and Limits): a `send_at` in the past means at once; a time outside the window
 * moves to the window's next start; `expires_at` counts from the time so found.
 *
 * @param now epoch milliseconds
 * @throws Refused for a `send_at` beyond 90 days, an `expires_at` outside 15 minutes to 72 hours, windows that never meet
 */
export function findTiming(asked: TimesAsked, now: number): Timing {
  if (asked.sendAt !== null && asked.sendAt > now + SEND_AT_HORIZON_MS) {
    throw new Refused({ reason: 'send_at_too_far', days: SEND_AT_HORIZON_MS / DAY_MS }, 'send_at');
  }
  const wanted = Math.max(asked.sendAt ?? now, now);
  const { windows, calling = null } = asked;
  const sendTime =
    calling === null ? firstMomentInsideAll(wanted, windows) : firstMomentToCall(wanted, windows, calling);
  if (sendTime === null) throw new Refused({ reason: 'calling_hours_missed' }, 'send_window');
  const { expiresAt } = asked;
  if (
    expiresAt !== null &&
    (expiresAt < sendTime + EXPIRES_MIN_MS || expiresAt > sendTime + EXPIRES_MAX_MS)
  ) {
    throw new Refused({ reason: 'expires_at_out_of_range' }, 'expires_at');
  }
  const later = sendTime > now;
  return {
    acceptedAs: later ? 'scheduled' : 'queued',
    sendAt: later ? new Date(sendTime) : null,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    giveUpAt: new Date(expiresAt ?? sendTime + DEFAULT_EXPIRY_MS),
  };
}
