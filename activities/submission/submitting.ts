import type { RetryPace } from '../../concurrency/retryPace.ts';
import type { Database } from '../../db/connection.ts';
import type { Routing } from '../../domain/routing.ts';
import type { SubmitAnswer, Suspect } from '../../domain/submission.ts';
import type { Pacer } from '../../db/routes/pacing.ts';
import type { Provider } from '../../providers/provider.ts';
import type { MovedOn, PausedSubmission, SubmissionOutcome } from '../../workflows/contracts.ts';

/** What submitting came to. */
export type Submitted = SubmissionOutcome | MovedOn | PausedSubmission;

/** What submitting on one route needs. */
export interface Submitting {
  sql: Database;
  provider: Provider;
  pacer: Pacer;
  routing: () => Promise<Routing>;
  /** Of the messages of each account that find no route to move to. */
  retries: RetryPace;
  /** Applies stored reports; called when one came before its answer. */
  applyReports: () => Promise<void>;
  /**
   * Notified how every submit was answered, and after how many milliseconds.
   * @param suspect what may itself be to blame, where it was an e-mail
   */
  onAnswer: (answer: SubmitAnswer, ms: number, suspect?: Suspect) => void;
}
