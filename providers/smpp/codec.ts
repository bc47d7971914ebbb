import smpp, { type FieldType } from 'smpp';
import type { DeliverPdu } from './pdus.ts';

const HEADER = 16;
const RESPONSE = 0x8000_0000;

/** The values of command_status that sessions deal with themselves (SMPP 3.4, 5.1.3). */
export const STATUS = {
  ok: 0x00,
  invalidCommand: 0x03,
  /** ESME_RINVBNDSTS: to the SMSC there is no such bind. */
  notBound: 0x04,
  /** ESME_RX_T_APPN: not taken now, to be handed over again. */
  temporary: 0x64,
} as const;

/** Values by the names of SMPP 3.4. */
export type Fields = Record<string, string | number | Buffer | undefined>;

/** One PDU as it was received. */
export interface Pdu {
  /** As SMPP names it; null for a command_id that it does not know. */
  command: string | null;
  isResponse: boolean;
  status: number;
  sequence: number;
  fields: Fields;
  /** The body is not what the command promises; `fields` has what could be read before that. */
  malformed: boolean;
  /** The tag of a TLV that runs beyond the PDU: the command's own fields and the TLVs before it are whole. */
  brokenTlv: number | null;
}

/**
 * Reads one PDU. The package's definitions are used without its filters, which would decode texts: content stays bytes.
 * Never throws for what is in it.
 * @param bytes exactly one PDU, at least the 16 octets of its header
 */
export function decodePdu(bytes: Buffer): Pdu {
  const id = bytes.readUInt32BE(4);
  const command = smpp.commandsById[id];
  const pdu: Pdu = {
    command: command?.command ?? null,
    isResponse: id >= RESPONSE,
    status: bytes.readUInt32BE(8),
    sequence: bytes.readUInt32BE(12),
    fields: {},
    malformed: false,
    brokenTlv: null,
  };
  try {
    if (command) pdu.brokenTlv = readBody(bytes, command.params ?? {}, pdu.fields);
  } catch {
    pdu.malformed = true;
  }
  return pdu;
}

/** @returns as `Pdu.brokenTlv` */
function readBody(bytes: Buffer, params: Record<string, { type: FieldType }>, fields: Fields): number | null {
  let offset = HEADER;
  for (const [name, { type }] of Object.entries(params)) {
    // An answer with an error ends with its header, and some SMSCs leave out empty fields at the end.
    if (offset >= bytes.length) return null;
    const value = type.read(bytes, offset);
    const size = type.size(value);
    const cut = type === smpp.types.buffer && size - 1 !== bytes[offset];
    // Some SMSCs leave out the NUL behind the id that ends their answer.
    const end = type === smpp.types.cstring ? bytes.length + 1 : bytes.length;
    if (cut || offset + size > end) throw new RangeError('a field runs beyond the PDU');
    fields[name] = value as string | number | Buffer;
    offset += size;
  }
  while (offset + 4 <= bytes.length) {
    const tag = bytes.readUInt16BE(offset);
    const length = bytes.readUInt16BE(offset + 2);
    const value = bytes.subarray(offset + 4, offset + 4 + length);
    if (value.length < length) return tag;
    readTlv(tag, value, fields);
    offset += 4 + length;
  }
  return null;
}

/** TLVs that nobody knows are left out; of one that comes twice the first counts. */
function readTlv(id: number, value: Buffer, fields: Fields): void {
  const tlv = smpp.tlvsById[id];
  if (!tlv || tlv.tag in fields) return;
  const { cstring, buffer, string } = smpp.types.tlv;
  if (tlv.type === buffer) fields[tlv.tag] = value;
  else if (tlv.type === cstring || tlv.type === string)
    fields[tlv.tag] = tlv.type.read(value, 0, value.length) as string;
  // Integers are read as long as they came: some SMSCs send them wider or narrower than they should.
  else if (value.length >= 1 && value.length <= 4) fields[tlv.tag] = value.readUIntBE(0, value.length);
}

/**
 * Writes one PDU: the command's fields in their order, those not given empty, then the TLVs among `fields`.
 * @throws RangeError for a value that its field cannot hold
 */
export function encodePdu(command: string, sequence: number, fields: Fields = {}, status = 0): Buffer {
  const definition = smpp.commands[command];
  if (!definition) throw new RangeError(`no command ${command}`);
  const params = definition.params ?? {};
  const body = Object.entries(params).map(([name, { type }]) => written(type, fields[name] ?? emptyOf(type)));
  for (const [name, value] of Object.entries(fields)) {
    const tlv = smpp.tlvs[name];
    if (value === undefined || name in params || !tlv) continue;
    const content = written(tlv.type, value);
    const head = Buffer.alloc(4);
    head.writeUInt16BE(tlv.id, 0);
    head.writeUInt16BE(content.length, 2);
    body.push(head, content);
  }
  const header = Buffer.alloc(HEADER);
  const pdu = Buffer.concat([header, ...body]);
  pdu.writeUInt32BE(pdu.length, 0);
  pdu.writeUInt32BE(definition.id, 4);
  pdu.writeUInt32BE(status, 8);
  pdu.writeUInt32BE(sequence, 12);
  return pdu;
}

function emptyOf(type: FieldType): string | number | Buffer {
  if (type === smpp.types.cstring) return '';
  return type === smpp.types.buffer ? Buffer.alloc(0) : 0;
}

function written(type: FieldType, value: string | number | Buffer): Buffer {
  if (typeof value === 'string' && !/^[\x01-\x7f]*$/.test(value)) {
    throw new RangeError('a C-octet string of other characters than ASCII');
  }
  const bytes = Buffer.alloc(type.size(value));
  type.write(value, bytes, 0);
  return bytes;
}

/** A deliver_sm, or a data_sm, from what was read; null where it is broken or ends too early. */
export function deliverPdu(pdu: Pdu): DeliverPdu | null {
  if (pdu.malformed || pdu.fields.data_coding === undefined) return null;
  return { ...EMPTY_DELIVER, ...pdu.fields, brokenTlv: pdu.brokenTlv };
}

const EMPTY_DELIVER: DeliverPdu = {
  service_type: '',
  source_addr_ton: 0,
  source_addr_npi: 0,
  source_addr: '',
  dest_addr_ton: 0,
  dest_addr_npi: 0,
  destination_addr: '',
  esm_class: 0,
  protocol_id: 0,
  data_coding: 0,
  short_message: Buffer.alloc(0),
  brokenTlv: null,
};

/** A command_status for staff's eyes: `ESME_RINVPASWD (0x0000000e)`. */
export function statusName(status: number): string {
  const code = `0x${status.toString(16).padStart(8, '0')}`;
  const name = Object.entries(smpp.errors).find(([, value]) => value === status)?.[0];
  return name === undefined ? code : `${name} (${code})`;
}
