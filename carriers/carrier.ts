import type { CarrierReply } from '../domain/inbound.ts';
import type { LookupAnswer } from '../domain/lookups.ts';
import type { DeliveryReport, SubmitAnswer, SubmitPart } from '../domain/submission.ts';

/** Within this time a carrier answers a look-up. */
export const LOOKUP_TIMEOUT_MS = 3_000;

/** A way to the operators. */
export interface Carrier {
  readonly name: string;
  /** Hands over one part. Answers within `SUBMIT_TIMEOUT_MS`, with `unanswered` at the latest; never throws for what a carrier does. */
  submit(part: SubmitPart): Promise<SubmitAnswer>;
  /**
   * Asks the network about a number (E.164 with plus), once. Answers within `LOOKUP_TIMEOUT_MS`, with `timed_out` at the
   * latest; never throws for what a carrier does.
   */
  lookup(msisdn: string): Promise<LookupAnswer>;
  /**
   * Opens sessions. `onReports` and `onReplies` resolve once what they were given is stored; only then the carrier is
   * told that we have it. A reply handed over again has the same `carrierReference`.
   */
  start(
    onReports: (reports: DeliveryReport[]) => Promise<void>,
    onReplies: (replies: CarrierReply[]) => Promise<void>,
  ): Promise<void>;
  /** Ends sessions after the answers under way have come. */
  stop(): Promise<void>;
}
