import type { DeliveryReport, RefusalReason, SubmitAnswer } from '../../domain/submission.ts';
import type { SmppSettings } from './settings.ts';
import { storable } from '../../domain/ids.ts';
import { isFinalReport, type ReportState } from '../../domain/incoming.ts';
import { phoneOf } from './content.ts';
import { reportedIds, statusCode, statusName } from './codec.ts';
import type { DeliverPdu } from './wire.ts';

type StatusMeaning =
  | { kind: 'throttled' | 'later'; seconds: number }
  | { kind: 'refused'; reason: RefusalReason }
  | { kind: 'broken' | 'unknown' };

const refused = (reason: RefusalReason): StatusMeaning => ({ kind: 'refused', reason });
const BROKEN: StatusMeaning = { kind: 'broken' };
const UNKNOWN: StatusMeaning = { kind: 'unknown' };

/**
 * All error codes of SMPP 3.4 (5.1.3), and those of SMPP 5.0 (4.7.6) that SMSCs send for a submit. `refused`: this one message is at fault.
 * `broken`: the fault is the same for every message (settings, session, permission), so other routes may accept it, and correcting the
 * settings loses none. `unknown`: codes for other requests than a submit.
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
  [0x43, refused('invalid_content')], // ESME_RINVESMCLASS: only for long messages
  [0x44, UNKNOWN], // ESME_RCNTSUBDL
  [0x45, { kind: 'later', seconds: 30 }], // ESME_RSUBMITFAIL
  [0x48, refused('invalid_sender')], // ESME_RINVSRCTON: depends on the sender
  [0x49, refused('invalid_sender')], // ESME_RINVSRCNPI
  [0x50, BROKEN], // ESME_RINVDSTTON: the same for all messages
  [0x51, BROKEN], // ESME_RINVDSTNPI
  [0x53, BROKEN], // ESME_RINVSYSTYP
  [0x54, BROKEN], // ESME_RINVREPFLAG
  [0x55, UNKNOWN], // ESME_RINVNUMMSGS
  [0x58, { kind: 'throttled', seconds: 1 }], // ESME_RTHROTTLED
  [0x61, BROKEN], // ESME_RINVSCHED
  [0x62, BROKEN], // ESME_RINVEXPIRY: the format is a setting of the route, and most messages have the same validity
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

const DEFAULT_SECONDS = { throttled: 1, later: 30 } as const;

/** Answer for a command_status, by the route's table, else the standard. Unknown codes are `unanswered`: it may have been accepted. */
export function answerOfStatus(
  status: number,
  settings: Pick<SmppSettings, 'errors'>,
): Exclude<SubmitAnswer, { kind: 'accepted' }> {
  const code = statusCode(status);
  const meaning = configured(status, settings.errors) ?? STATUS_MEANING.get(status) ?? UNKNOWN;
  switch (meaning.kind) {
    case 'throttled':
    case 'later':
      return { kind: meaning.kind, retryAfterMs: meaning.seconds * 1000, code };
    case 'refused':
      return { kind: 'refused', reason: meaning.reason, code };
    case 'broken':
      return { kind: 'broken', code };
    case 'unknown':
      return { kind: 'unanswered', code };
  }
}

function configured(status: number, errors: SmppSettings['errors']): StatusMeaning | null {
  const said = Object.entries(errors).find(([code]) => Number(code) === status)?.[1];
  if (said === undefined) return null;
  const [kind, seconds] = said.split(':');
  if (kind === 'throttled' || kind === 'later') {
    return { kind, seconds: seconds === undefined ? DEFAULT_SECONDS[kind] : Number(seconds) };
  }
  if (kind === 'refused') {
    const usual = STATUS_MEANING.get(status);
    return usual?.kind === 'refused' ? usual : { kind, reason: 'network_refused' };
  }
  return kind === 'broken' ? { kind } : UNKNOWN;
}

const WORDS = {
  throttled: 'the SMSC takes no more for a moment',
  later: 'the SMSC cannot take it now',
  refused: 'the SMSC does not take this message',
  broken: 'the SMSC takes no message of this session: settings or permission',
  unknown: 'the SMSC may have taken it',
} as const satisfies Record<StatusMeaning['kind'], string>;

/** A command_status as stored, for staff: its name and what it usually means. Any other code is returned as it is. */
export function describeCode(code: string): string {
  if (!/^0x[0-9a-f]{8}$/.test(code)) return code;
  const { kind } = STATUS_MEANING.get(Number(code)) ?? UNKNOWN;
  return `${statusName(Number(code))}: ${WORDS[kind]}`;
}

type ReceiptField = 'id' | 'sub' | 'dlvrd' | 'submit date' | 'done date' | 'stat' | 'err';

// A name begins a word; SMSCs separate fields by spaces, underscores, commas or semicolons.
const NAME = /(?<![a-z0-9_-])(id|sub|dlvrd|submit[ _]?date|done[ _]?date|stat|err|text)\s*:/gi;
const READ = 1_000;
const LONGEST_VALUE = 65;

// The fields in the text of a receipt (SMPP 3.4, Appendix B): `id:… sub:001 dlvrd:001 submit date:… done date:… stat:DELIVRD err:000
// text:…`. They may be missing and come in any case and order; of duplicates the first counts. What follows `text:` is the message's own
// and is not read. Values have no spaces and at most 65 characters; '' when only the name is there.
function receiptFields(text: string): ReadonlyMap<ReceiptField, string> {
  const fields = new Map<ReceiptField, string>();
  const names = [...text.slice(0, READ).matchAll(NAME)];
  for (const [index, match] of names.entries()) {
    const name = (match[1] ?? '').toLowerCase().replace(/(submit|done).*/, '$1 date');
    if (name === 'text') break;
    const end = names[index + 1]?.index ?? READ;
    const field = name as ReceiptField;
    if (!fields.has(field)) fields.set(field, valueOf(text.slice(match.index + match[0].length, end)));
  }
  return fields;
}

function valueOf(said: string): string {
  return storable(/[^\s,;|]+/.exec(said)?.[0] ?? '').slice(0, LONGEST_VALUE);
}

// esm_class, message type (SMPP 3.4, 5.2.12).
const MESSAGE_TYPE = 0x3c;
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;

// message_state (5.2.28); 9 is SMPP 5.0's SKIPPED.
const STATE_OF_TLV: Readonly<Record<number, ReportState>> = {
  1: 'enroute',
  2: 'delivered',
  3: 'expired',
  4: 'deleted',
  5: 'undelivered',
  6: 'accepted',
  7: 'unknown',
  8: 'rejected',
  9: 'undelivered',
};

const STATE_OF_STAT: Readonly<Record<string, ReportState>> = Object.assign(
  Object.create(null) as Record<string, ReportState>,
  {
    ENROUTE: 'enroute',
    SCHEDULED: 'enroute',
    BUFFERED: 'enroute',
    BUFFRED: 'enroute',
    BUFFERD: 'enroute',
    QUEUED: 'enroute',
    PENDING: 'enroute',
    SUBMITTED: 'enroute',
    SENT: 'enroute',
    RETRY: 'enroute',
    ACCEPTD: 'accepted',
    ACCEPTED: 'accepted',
    ACKED: 'accepted',
    DELIVRD: 'delivered',
    DELIVERED: 'delivered',
    DELIVERD: 'delivered',
    DELIVRED: 'delivered',
    DLVRD: 'delivered',
    UNDELIV: 'undelivered',
    UNDELIVERED: 'undelivered',
    UNDELIVERABLE: 'undelivered',
    UNDELIVRD: 'undelivered',
    UNDELVD: 'undelivered',
    FAILED: 'undelivered',
    FAIL: 'undelivered',
    SKIPPED: 'undelivered',
    EXPIRED: 'expired',
    EXPIRD: 'expired',
    DELETED: 'deleted',
    CANCELLED: 'deleted',
    CANCELED: 'deleted',
    REJECTD: 'rejected',
    REJECTED: 'rejected',
    REJECT: 'rejected',
    BLOCKED: 'rejected',
    UNKNOWN: 'unknown',
  } satisfies Record<string, ReportState>,
);

const DETAILS: readonly ReceiptField[] = ['id', 'sub', 'dlvrd', 'submit date', 'done date', 'stat', 'err'];
const LONGEST_DETAILS = 300;
const LONGEST_CODE = 20;

/** Receipt or intermediate notification, by esm_class or receipt-only TLVs. */
export function isReceipt(pdu: DeliverPdu): boolean {
  const type = pdu.esm_class & MESSAGE_TYPE;
  return (
    (type & DELIVERY_RECEIPT) !== 0 ||
    type === INTERMEDIATE_NOTIFICATION ||
    pdu.receipted_message_id !== undefined ||
    pdu.message_state !== undefined
  );
}

type ReceiptSettings = Pick<SmppSettings, 'ids' | 'longReports'>;

/**
 * Reads a delivery receipt (SMPP 3.4, Appendix B; TLVs 5.3.2.12, 5.3.2.31, 5.3.2.35) with `content` its text without a user data header;
 * null without message id and state. For these two, TLVs precede the text. An intermediate notification never gives a final state.
 */
export function readReceipt(
  pdu: DeliverPdu,
  content: Buffer,
  { ids: rule, longReports }: ReceiptSettings,
): DeliveryReport | null {
  const fields = receiptFields(textOf(content));
  const stat = fields.get('stat') ?? '';
  const named = [pdu.receipted_message_id ?? '', fields.get('id') ?? ''];
  const [providerMessageId = '', ...otherIds] = reportedIds(rule, named);
  if (providerMessageId === '' && stat === '' && pdu.message_state === undefined) return null;
  const state = stateOf(pdu.message_state, stat);
  const intermediate = (pdu.esm_class & MESSAGE_TYPE) === INTERMEDIATE_NOTIFICATION;
  return {
    providerMessageId,
    otherIds,
    reference: null,
    whole: longReports === 'one-part',
    phone: phoneOf(pdu.source_addr_ton, pdu.source_addr),
    state: intermediate && isFinalReport(state) ? 'enroute' : state,
    errorCode: errorOf(fields.get('err') ?? '', pdu.network_error_code),
    details: detailsOf(pdu, fields),
  };
}

/** What a text reports that has the id and state of a receipt, but not its mark: anybody can send that from a phone. */
export function readUnmarkedReceipt(
  pdu: DeliverPdu,
  content: Buffer,
  settings: ReceiptSettings,
): DeliveryReport | null {
  const fields = receiptFields(textOf(content));
  return fields.get('id') && fields.get('stat') ? readReceipt(pdu, content, settings) : null;
}

// Receipts are ASCII whatever data_coding says, as some SMSCs repeat the message's there. GSM-7 would change "_" and "$" in an id; UCS-2 is
// ASCII without its NULs.
function textOf(content: Buffer): string {
  return content.toString('latin1').replaceAll('\0', '');
}

function stateOf(tlv: number | undefined, stat: string): ReportState {
  const stated = STATE_OF_STAT[stat.toUpperCase()];
  const byTlv = tlv === undefined ? undefined : STATE_OF_TLV[tlv];
  if (byTlv !== undefined && byTlv !== 'unknown') return byTlv;
  return stated ?? byTlv ?? 'unknown';
}

// The network's error code: from the text, else from the TLV as `type:code`. Zero is no error.
function errorOf(err: string, tlv: Buffer | undefined): string | null {
  if (err !== '' && !/^0+$/.test(err)) return err.slice(0, LONGEST_CODE);
  if (tlv?.length !== 3 || tlv.readUInt16BE(1) === 0) return null;
  return `${tlv.readUInt8(0)}:${tlv.readUInt16BE(1)}`;
}

function detailsOf(pdu: DeliverPdu, fields: ReadonlyMap<ReceiptField, string>): string | null {
  const tlvs = [
    ['receipted_message_id', pdu.receipted_message_id],
    ['message_state', pdu.message_state],
    ['network_error_code', pdu.network_error_code?.subarray(0, 3).toString('hex')],
  ] as const;
  const said = [...DETAILS.map((name) => [name, fields.get(name)] as const), ...tlvs]
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}:${value}`);
  return said.length === 0 ? null : storable(said.join(' ').slice(0, LONGEST_DETAILS));
}
