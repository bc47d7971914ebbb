import { storable } from '../../domain/inbound.ts';
import { isFinalReport, type ReportState } from '../../domain/deliveryReports.ts';
import { decodeText } from '../../domain/smsText.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { phoneOf } from './addresses.ts';
import { reportedIds } from './ids.ts';
import type { DeliverPdu } from './pdus.ts';
import { type ReceiptField, receiptFields } from './receiptText.ts';
import type { SmppSettings } from './settings.ts';

// esm_class, message type (SMPP 3.4, 5.2.12).
const MESSAGE_TYPE = 0x3c;
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;

/** message_state (5.2.28); 9 is SMPP 5.0's SKIPPED. */
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

/** `stat` of Appendix B, and what SMSCs write instead. */
const STATE_OF_STAT: Readonly<Record<string, ReportState>> = Object.assign(
  Object.create(null) as Record<string, ReportState>,
  {
    ...{
      ENROUTE: 'enroute',
      SCHEDULED: 'enroute',
      BUFFERED: 'enroute',
      BUFFRED: 'enroute',
      BUFFERD: 'enroute',
    },
    ...{ QUEUED: 'enroute', PENDING: 'enroute', SUBMITTED: 'enroute', SENT: 'enroute', RETRY: 'enroute' },
    ...{ ACCEPTD: 'accepted', ACCEPTED: 'accepted', ACKED: 'accepted' },
    ...{
      DELIVRD: 'delivered',
      DELIVERED: 'delivered',
      DELIVERD: 'delivered',
      DELIVRED: 'delivered',
      DLVRD: 'delivered',
    },
    ...{
      UNDELIV: 'undelivered',
      UNDELIVERED: 'undelivered',
      UNDELIVERABLE: 'undelivered',
      UNDELIVRD: 'undelivered',
    },
    ...{ UNDELVD: 'undelivered', FAILED: 'undelivered', FAIL: 'undelivered', SKIPPED: 'undelivered' },
    ...{ EXPIRED: 'expired', EXPIRD: 'expired' },
    ...{ DELETED: 'deleted', CANCELLED: 'deleted', CANCELED: 'deleted' },
    ...{ REJECTD: 'rejected', REJECTED: 'rejected', REJECT: 'rejected', BLOCKED: 'rejected' },
    UNKNOWN: 'unknown',
  } satisfies Record<string, ReportState>,
);

const DETAILS: readonly ReceiptField[] = ['id', 'sub', 'dlvrd', 'submit date', 'done date', 'stat', 'err'];
const LONGEST_DETAILS = 300;
const LONGEST_CODE = 20;

/**
 * Whether a deliver_sm is a delivery receipt or an intermediate notification: by its esm_class, or by the TLVs that only
 * receipts have. Never by its words, which anybody can send from a phone.
 */
export function isReceipt(pdu: DeliverPdu): boolean {
  const type = pdu.esm_class & MESSAGE_TYPE;
  return (
    (type & DELIVERY_RECEIPT) !== 0 ||
    type === INTERMEDIATE_NOTIFICATION ||
    pdu.receipted_message_id !== undefined ||
    pdu.message_state !== undefined
  );
}

/**
 * Reads a delivery receipt (SMPP 3.4, Appendix B; TLVs 5.3.2.12, 5.3.2.31, 5.3.2.35), the TLVs before the text. An
 * intermediate notification never says more than that the message is on its way.
 *
 * @param content the text's bytes without a user data header
 * @returns null when it names neither a message nor a state
 */
export function readReceipt(
  pdu: DeliverPdu,
  content: Buffer,
  rule: SmppSettings['ids'],
): DeliveryReport | null {
  const fields = receiptFields(textOf(content));
  const stat = fields.get('stat') ?? '';
  const id = pdu.receipted_message_id?.trim() || (fields.get('id') ?? '');
  if (id === '' && stat === '' && pdu.message_state === undefined) return null;
  const ids = reportedIds(rule, id);
  const state = stateOf(pdu.message_state, stat);
  const intermediate = (pdu.esm_class & MESSAGE_TYPE) === INTERMEDIATE_NOTIFICATION;
  return {
    providerMessageId: ids.id,
    alternativeId: ids.alternative,
    reference: null,
    phone: phoneOf(pdu.source_addr_ton, pdu.source_addr),
    state: intermediate && isFinalReport(state) ? 'enroute' : state,
    errorCode: errorOf(fields.get('err') ?? '', pdu.network_error_code),
    details: detailsOf(pdu, fields),
  };
}

// Receipts are ASCII, whatever data_coding says: some repeat the message's there. In GSM-7 "_" and "$" of an id would be
// other characters; one that is UCS-2 is ASCII without its NULs.
function textOf(content: Buffer): string {
  return decodeText('latin1', content).replaceAll('\0', '');
}

function stateOf(tlv: number | undefined, stat: string): ReportState {
  const stated = STATE_OF_STAT[stat.toUpperCase()];
  const byTlv = tlv === undefined ? undefined : STATE_OF_TLV[tlv];
  if (byTlv !== undefined && byTlv !== 'unknown') return byTlv;
  return stated ?? byTlv ?? 'unknown';
}

/** The network's code: of the text, else of the TLV as `type:code`. Zero is no error. */
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
