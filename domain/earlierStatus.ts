import { EARLIER_STATUS_OF, type EarlierStatus } from './earlierInterface.ts';
import type { MessageStatus } from './statuses.ts';

/** Where a message stands, as far as that says whether it ever left for the provider. */
export interface Whereabouts {
  status: MessageStatus;
  errorCode: string | null;
  /** `waiting` where no provider was given anything of it. */
  submission: string;
}

/** What is shown of a message's status (v1.2.0, MessageLog). */
export interface ShownStatus {
  /** As what it left for the provider, or ended without leaving. */
  status: EarlierStatus;
  /** What came of it after that; also where no report came in time. */
  dlrStatus: EarlierStatus | null;
}

const left = (dlrStatus: EarlierStatus | null): ShownStatus => ({ status: 'sent', dlrStatus });
const stayed = (status: EarlierStatus): ShownStatus => ({ status, dlrStatus: null });

/** What the history tells apart: each status, with two that a message may come to before it has left and after. */
const SHOWN = {
  queued: stayed('queued'),
  sent: left(null),
  delivered: left('delivered'),
  undelivered: left('undelivered'),
  failed: left('failed'),
  expired: left('expired'),
  failed_unsent: stayed('failed'),
  expired_unsent: stayed('expired'),
  rejected: stayed(EARLIER_STATUS_OF.rejected),
  cancelled: stayed(EARLIER_STATUS_OF.cancelled),
} as const satisfies Record<string, ShownStatus>;

/** One of these; the index of the history says the same in SQL (`history_class`). */
export type HistoryClass = keyof typeof SHOWN;

/** All of them. */
const HISTORY_CLASSES = Object.keys(SHOWN) as HistoryClass[];

/**
 * Where a message belongs. A provider refused it, or it was given up: then it has not left; a delivery report says that it was
 * refused: then it has. What may have left, has.
 */
export function historyClassOf({ status, errorCode, submission }: Whereabouts): HistoryClass {
  if (status === 'scheduled') return 'queued';
  if (status === 'failed' && errorCode !== 'rejected_on_report') return 'failed_unsent';
  if (status === 'expired' && submission === 'waiting') return 'expired_unsent';
  return status;
}

/** What is shown of a message. */
export function shownStatus(row: Whereabouts): ShownStatus {
  return SHOWN[historyClassOf(row)];
}

/** Whether a message has left for the provider, or may have. */
export function hasLeft(row: Whereabouts): boolean {
  return shownStatus(row).status === 'sent';
}

/** Where those are that show a status, as the one they left with or as the one that came of that; null: all. */
export function classesShowing(status: EarlierStatus | null): HistoryClass[] {
  if (status === null) return HISTORY_CLASSES;
  return HISTORY_CLASSES.filter((one) => SHOWN[one].status === status || SHOWN[one].dlrStatus === status);
}
