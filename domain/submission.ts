import type { Encoding } from './parts.ts';
import type { ReportState } from './receipts.ts';

/** One part of a message on its way to the SMSC. */
export interface SubmitPart {
  /** Ours, unique per part: `msg_…/1`. Carriers that can carry it return it in their delivery reports. */
  reference: string;
  /** MSISDN in E.164 with plus. */
  destination: string;
  sender: string | null;
  encoding: Encoding;
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

/** A delivery report as the carrier gave it. */
export interface DeliveryReport {
  carrierMessageId: string;
  /** Our reference, where the carrier returns it. */
  reference: string | null;
  state: ReportState;
  errorCode: string | null;
}
