import type { MessageStatus } from './statuses.ts';

/** What a delivery report says of one part, in the words of SMPP's message_state. */
export type ReportState =
  'enroute' | 'accepted' | 'delivered' | 'undelivered' | 'expired' | 'rejected' | 'deleted' | 'unknown';

/** How the reports of all parts end a message. */
export type Outcome = Extract<MessageStatus, 'delivered' | 'undelivered' | 'expired' | 'failed'>;

/** The outcome a part's final state calls for; null while the state is intermediate. */
const OUTCOME_OF: Readonly<Record<ReportState, Outcome | null>> = {
  enroute: null,
  accepted: null,
  unknown: null,
  delivered: 'delivered',
  undelivered: 'undelivered',
  deleted: 'undelivered',
  expired: 'expired',
  rejected: 'failed',
};

const WORST_FIRST: readonly Outcome[] = ['failed', 'undelivered', 'expired', 'delivered'];

/** Whether a state is a part's last: enroute, accepted and unknown are on the way to another. */
export function isFinalReport(state: ReportState): boolean {
  return OUTCOME_OF[state] !== null;
}

/**
 * A part's state after one more report. The first final state stands whatever comes after it, so
 * repeated reports and reports out of order change nothing.
 *
 * @param previous the state so far, null before the first report
 */
export function mergeReport(previous: ReportState | null, next: ReportState): ReportState {
  return previous !== null && isFinalReport(previous) ? previous : next;
}

/**
 * The outcome of a whole message from the states of its parts (null: no report yet). It is known once
 * every part has a final state: delivered when all are, else the worst: failed before undelivered before
 * expired.
 *
 * @returns null while a part is open, and for no parts
 */
export function outcomeOfParts(states: readonly (ReportState | null)[]): Outcome | null {
  const outcomes = states.map((state) => (state === null ? null : OUTCOME_OF[state]));
  if (outcomes.includes(null)) return null;
  return WORST_FIRST.find((outcome) => outcomes.includes(outcome)) ?? null;
}
