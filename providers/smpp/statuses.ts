import type { RefusalReason } from '../../domain/submission.ts';

/** What a command_status means for a submit; `unknown`: nobody can say whether the message was taken. */
export type StatusMeaning =
  | { kind: 'throttled' | 'later'; seconds: number }
  | { kind: 'refused'; reason: RefusalReason }
  | { kind: 'broken' | 'unknown' };

const refused = (reason: RefusalReason): StatusMeaning => ({ kind: 'refused', reason });
const BROKEN: StatusMeaning = { kind: 'broken' };
const UNKNOWN: StatusMeaning = { kind: 'unknown' };

/**
 * All of SMPP 3.4's error codes (5.1.3), and those of SMPP 5.0 (4.7.6) that SMSCs send for a submit.
 *
 * `refused` is what this one message is to blame for. Where the fault lies in what we say of every message alike (the
 * route's settings), in the session or in the SMSC's permission, the route is `broken`: other routes may take the message,
 * and putting the settings right loses none. Codes that answer other requests than a submit are `unknown`.
 */
export const STATUS_MEANING: ReadonlyMap<number, StatusMeaning> = new Map<number, StatusMeaning>([
  [0x01, refused('invalid_content')], // ESME_RINVMSGLEN
  [0x02, BROKEN], // ESME_RINVCMDLEN
  [0x03, BROKEN], // ESME_RINVCMDID
  [0x04, BROKEN], // ESME_RINVBNDSTS
  [0x05, BROKEN], // ESME_RALYBND
  [0x06, BROKEN], // ESME_RINVPRTFLG
  [0x07, BROKEN], // ESME_RINVREGDLVFLG
  [0x08, { kind: 'later', seconds: 10 }], // ESME_RSYSERR
  [0x0a, refused('invalid_sender')], // ESME_RINVSRCADR
  [0x0b, refused('invalid_destination')], // ESME_RINVDSTADR
  [0x0c, UNKNOWN], // ESME_RINVMSGID
  [0x0d, BROKEN], // ESME_RBINDFAIL
  [0x0e, BROKEN], // ESME_RINVPASWD
  [0x0f, BROKEN], // ESME_RINVSYSID
  [0x11, UNKNOWN], // ESME_RCANCELFAIL
  [0x13, UNKNOWN], // ESME_RREPLACEFAIL
  [0x14, { kind: 'throttled', seconds: 1 }], // ESME_RMSGQFUL
  [0x15, BROKEN], // ESME_RINVSERTYP
  [0x33, UNKNOWN], // ESME_RINVNUMDESTS
  [0x34, UNKNOWN], // ESME_RINVDLNAME
  [0x40, UNKNOWN], // ESME_RINVDESTFLAG
  [0x42, UNKNOWN], // ESME_RINVSUBREP
  [0x43, refused('invalid_content')], // ESME_RINVESMCLASS: said of long messages only
  [0x44, UNKNOWN], // ESME_RCNTSUBDL
  [0x45, { kind: 'later', seconds: 30 }], // ESME_RSUBMITFAIL
  [0x48, refused('invalid_sender')], // ESME_RINVSRCTON: ours follows from the sender's kind
  [0x49, refused('invalid_sender')], // ESME_RINVSRCNPI
  [0x50, BROKEN], // ESME_RINVDSTTON: ours is the same for all
  [0x51, BROKEN], // ESME_RINVDSTNPI
  [0x53, BROKEN], // ESME_RINVSYSTYP
  [0x54, BROKEN], // ESME_RINVREPFLAG
  [0x55, UNKNOWN], // ESME_RINVNUMMSGS
  [0x58, { kind: 'throttled', seconds: 1 }], // ESME_RTHROTTLED
  [0x61, BROKEN], // ESME_RINVSCHED
  [0x62, BROKEN], // ESME_RINVEXPIRY: the form is the route's; most messages have the same length of validity
  [0x63, BROKEN], // ESME_RINVDFTMSGID
  [0x64, { kind: 'later', seconds: 30 }], // ESME_RX_T_APPN
  [0x65, refused('network_refused')], // ESME_RX_P_APPN
  [0x66, refused('network_refused')], // ESME_RX_R_APPN
  [0x67, UNKNOWN], // ESME_RQUERYFAIL
  [0xc0, BROKEN], // ESME_RINVOPTPARSTREAM
  [0xc1, BROKEN], // ESME_ROPTPARNOTALLWD
  [0xc2, BROKEN], // ESME_RINVPARLEN
  [0xc3, BROKEN], // ESME_RMISSINGOPTPARAM
  [0xc4, BROKEN], // ESME_RINVOPTPARAMVAL
  [0xfe, refused('network_refused')], // ESME_RDELIVERYFAILURE
  [0xff, UNKNOWN], // ESME_RUNKNOWNERR
  [0x100, BROKEN], // ESME_RSERTYPUNAUTH
  [0x101, BROKEN], // ESME_RPROHIBITED
  [0x102, { kind: 'later', seconds: 30 }], // ESME_RSERTYPUNAVAIL
  [0x103, BROKEN], // ESME_RSERTYPDENIED
  [0x104, refused('invalid_content')], // ESME_RINVDCS
  [0x105, refused('invalid_sender')], // ESME_RINVSRCADDRSUBUNIT
  [0x106, refused('invalid_destination')], // ESME_RINVDSTADDRSUBUNIT
]);
