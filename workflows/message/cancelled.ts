import type { SubmissionOutcome } from '../contracts.ts';
import { local } from './local.ts';

/** What a cancel came to: the message's status afterwards, and its end where that is cancelled. */
interface CancelOutcome {
  status: string;
  end: SubmissionOutcome | null;
}

/** Cancels and refunds a message that is still scheduled. Its status comes alone where nobody is to be notified of it. */
export async function cancelMessage(id: string): Promise<CancelOutcome> {
  const answer = await local.cancelMessage(id);
  const { status, events } = typeof answer === 'string' ? { status: answer, events: [] } : answer;
  return { status, end: status === 'cancelled' ? { status, events } : null };
}
