import type { DeliveryReport, SubmitAnswer, SubmitPart } from '../domain/submission.ts';

/** A way to the operators. */
export interface Carrier {
  readonly name: string;
  /** Hands over one part. Answers within `SUBMIT_TIMEOUT_MS`, with `unanswered` at the latest; never throws for what a carrier does. */
  submit(part: SubmitPart): Promise<SubmitAnswer>;
  /** Opens sessions. `onReports` resolves once the reports are stored; only then the carrier is told that we have them. */
  start(onReports: (reports: DeliveryReport[]) => Promise<void>): Promise<void>;
  /** Ends sessions after the answers under way have come. */
  stop(): Promise<void>;
}
