import { cString, encodeShortMessage, type ShortMessage, TAG } from './wire.ts';

/** A submit_sm as it came, and what became of it. */
export interface Submit extends ShortMessage {
  /** When it was read; milliseconds of `performance.now()`. */
  at: number;
  /** When it came at the earliest: this process may have stood still meanwhile. */
  notBefore: number;
  /** The number of the connection it came by, from 1. */
  connection: number;
  sequence: number;
  /** Whether the message will be sent: told to the client only if the answer comes. */
  taken: boolean;
  status: number;
  /** The message's id, of those taken. */
  id: string | null;
}

/** What the SMSC does with one submit. */
export interface Behaviour {
  /** Other than 0: not taken, and this answered. */
  status?: number;
  /** Not taken although nothing says so: for submits that get lost. */
  taken?: boolean;
  /** The answer's delay in milliseconds. */
  answer?: number | 'never';
  /** The message's id; a fresh one unless told. */
  id?: string;
  /** Reports of a part that was taken; one of DELIVRD unless told. */
  reports?: ReportPlan[];
  /** What happens to the connection before the answer: bytes are written to it. */
  connection?: 'disconnect' | 'freeze' | Buffer;
}

export interface ReportPlan {
  stat: string;
  /** After the submit, in milliseconds. */
  afterMs?: number;
  /** Written in place of the message's id. */
  id?: string;
  /** `text`: as of appendix B; `tlv`: the text says nothing, the TLVs all; `both`. */
  in?: 'text' | 'tlv' | 'both';
  /** The TLV's, where that differs from the text's. */
  tlvId?: string;
  /** Not marked as a receipt in esm_class. */
  unmarked?: boolean;
}

/** message_state by `stat` (5.2.28). */
const STATES: Record<string, number> = {
  ENROUTE: 1,
  DELIVRD: 2,
  EXPIRED: 3,
  DELETED: 4,
  UNDELIV: 5,
  ACCEPTD: 6,
  UNKNOWN: 7,
  REJECTD: 8,
};

export const REPORTED_AFTER_MS = 20;

/** The body of a delivery report (appendix B) of a submit. */
export function receipt(submit: Submit, plan: ReportPlan): Buffer {
  const { in: place = 'text' } = plan;
  const err = plan.stat === 'DELIVRD' ? '000' : '001';
  const id = plan.id ?? submit.id ?? '';
  const minute = new Date().toISOString().replace(/[-:T]/g, '').slice(2, 12);
  const text = `id:${id} sub:001 dlvrd:001 submit date:${minute} done date:${minute} stat:${plan.stat} err:${err} text:${submit.shortMessage.toString('latin1', 0, 20)}`;
  const tlvs = new Map([
    [TAG.receiptedMessageId, cString(plan.tlvId ?? id)],
    [TAG.messageState, Buffer.from([STATES[plan.stat] ?? 7])],
  ]);
  return encodeShortMessage({
    source: submit.destination,
    sourceTon: submit.destinationTon,
    sourceNpi: submit.destinationNpi,
    destination: submit.source,
    destinationTon: submit.sourceTon,
    destinationNpi: submit.sourceNpi,
    esmClass: plan.unmarked ? 0 : 0x04,
    shortMessage: place === 'tlv' ? Buffer.alloc(0) : Buffer.from(text, 'latin1'),
    ...(place === 'text' ? {} : { tlvs }),
  });
}
