import type { StatusChange } from '../../db/messages/endings.ts';
import { countEnd } from '../../telemetry/messageMetrics.ts';
import type { SubmissionOutcome } from '../../workflows/contracts.ts';

/** What the workflow is to know of a message that has ended, counted as such. */
export function asEnd(change: StatusChange): SubmissionOutcome {
  countEnd(change.status);
  return asOutcome(change);
}

/** What the workflow is to know of where a message stands. */
export function asOutcome({ status, events }: StatusChange): SubmissionOutcome {
  return { status: status as SubmissionOutcome['status'], events };
}
