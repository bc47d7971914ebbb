import type { Pdu } from './codec.ts';
import type { DeliverPdu, SubmitFields } from './pdus.ts';
import type { Outcome, Requests } from './requests.ts';

export type Role = 'transceiver' | 'transmitter' | 'receiver';

/** What a session reports; none of these may throw. */
export interface SessionEvents {
  /**
   * @param pdu null for one that cannot be read
   * @param respond to be called once; false where the SMSC did not get it
   */
  onDeliver(session: Session, pdu: DeliverPdu | null, respond: (status: number) => boolean): void;
  /** An answer after the time-out. */
  onLate(reference: string, answer: Pdu): void;
  /** There is more or less room than before. */
  onRoom(): void;
}

/** How a session ended: in good order, or by a lost connection. */
export interface SessionEnd {
  why: string;
  orderly: boolean;
}

/** One bind on one connection. */
export interface Session {
  /** The SMSC's name, as it says; '' before the bind's answer. */
  readonly smscSystemId: string;
  /** Whether it takes submits, room or not. */
  accepts(): boolean;
  /** How many submits more it takes at the moment. */
  room(): number;
  inFlight(): number;
  /** @throws RangeError for fields that cannot be written: nothing was sent then */
  submit(fields: SubmitFields, reference: string): Promise<Outcome>;
  /** Takes no more submits, waits for answers in both directions, unbinds, and closes the connection. */
  close(): Promise<void>;
  readonly ended: Promise<SessionEnd>;
  /** Whether it was of use: an SMSC that throws everybody out at once is not to be asked again and again. */
  worked(): boolean;
}

/** A session before its bind. */
export interface NewSession {
  session: Session;
  request: Requests['send'];
  /** The bind was taken. */
  opened: (smscSystemId: string) => void;
  /** Closes the connection at once. */
  end: (why: string) => void;
}
