/** One part of a message on its way to the SMSC. */
export interface SubmitPart {
  /** Ours, unique per part: `msg_…/1`. Carriers that can carry it return it in their delivery reports. */
  reference: string;
  /** MSISDN in E.164 with plus. */
  destination: string;
  sender: string | null;
  encoding: 'gsm7' | 'ucs2';
  text: string;
  part: number;
  parts: number;
  priority: boolean;
  /** The end of delivery attempts. */
  expiresAt: Date;
}

/**
 * The SMSC's answer to a submit. `throttled` and `unavailable`: certainly not taken, to be tried again;
 * `refused`: certainly not taken, final; `unanswered`: nobody knows, so it is never repeated by itself.
 */
export type SubmitAnswer =
  | { kind: 'accepted'; carrierMessageId: string }
  | { kind: 'throttled'; retryAfterMs: number }
  | { kind: 'unavailable'; reason: string }
  | { kind: 'refused'; code: string }
  | { kind: 'unanswered' };

/** A delivery report as the carrier gave it; states as in domain/receipts. */
export interface DeliveryReport {
  carrierMessageId: string;
  /** Our reference, where the carrier returns it. */
  reference: string | null;
  state:
    'enroute' | 'accepted' | 'delivered' | 'undelivered' | 'expired' | 'rejected' | 'deleted' | 'unknown';
  errorCode: string | null;
}

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
