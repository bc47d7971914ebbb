import smpp, { type FieldType } from 'smpp';
import { storable } from '../../domain/ids.ts';
import type { SmppSettings } from './settings.ts';
import type { DeliverPdu } from './wire.ts';

type IdRule = SmppSettings['ids'];

// SMPP 3.4: a message id has at most 64 characters (5.2.23), and 65 as a TLV with its NUL (5.3.2.12).
const LONGEST = 65;
const DECIMAL = /^[0-9]+$/;
const HEXADECIMAL = /^(0x)?[0-9a-f]+$/i;

/**
 * The stored form of the message id of a submit's answer: unchanged (`exact`), in lower case without leading zeros (`insensitive`), or
 * decimal. An id that is no number in the base of the rule is treated as `insensitive`.
 */
export function acceptedId(rule: IdRule, idInAnswer: string): string {
  const id = tidy(idInAnswer);
  switch (rule) {
    case 'exact':
      return id;
    case 'insensitive':
      return insensitive(id);
    case 'hex-answer':
      return fromHexadecimal(id) ?? insensitive(id);
    case 'decimal-answer':
      return fromDecimal(id) ?? insensitive(id);
  }
}

/** Ids under which the part of a report may be stored, in the order to try them: each as the rule reads it, then as answers write it. */
export function reportedIds(rule: IdRule, idsInReport: readonly string[]): string[] {
  const likeAnswers = idsInReport.map((id) => acceptedId(rule, id));
  const byRule = idsInReport.map((id, index) => readByRule(rule, tidy(id)) ?? likeAnswers[index]!);
  return [...new Set([...byRule, ...likeAnswers])].filter((id) => id !== '');
}

function readByRule(rule: IdRule, id: string): string | null {
  if (rule === 'hex-answer') return fromDecimal(id);
  if (rule === 'decimal-answer') return fromHexadecimal(id);
  return null;
}

function fromDecimal(id: string): string | null {
  return DECIMAL.test(id) ? withoutZeros(id) : null;
}

function fromHexadecimal(id: string): string | null {
  return HEXADECIMAL.test(id) ? BigInt(`0x${id.replace(/^0x/i, '')}`).toString() : null;
}

function insensitive(id: string): string {
  return withoutZeros(id.toLowerCase());
}

function withoutZeros(id: string): string {
  return id.replace(/^0+(?=.)/, '');
}

function tidy(id: string): string {
  return storable(id.slice(0, LONGEST)).trim();
}

export interface UserData {
  content: Buffer;
  concatenation: Concatenation | null;
}

export interface Concatenation {
  /** Includes its kind: an 8-bit and a 16-bit reference never match. */
  reference: string;
  total: number;
  number: number;
}

const IEI_CONCATENATION_8 = 0x00;
const IEI_CONCATENATION_16 = 0x08;

/** Concatenation header with an 8-bit reference, 6 octets (9.2.3.24.1). */
export function concatenationHeader(reference: number, total: number, number: number): Buffer {
  return Buffer.from([5, IEI_CONCATENATION_8, 3, reference & 0xff, total, number]);
}

/**
 * Separates the header from the content. Some SMSCs announce a header that is not there: one longer than the bytes is ignored, or the text
 * would be lost. An element with a wrong length ends the header.
 */
export function readUserData(bytes: Buffer): UserData {
  const length = bytes[0];
  if (length === undefined || length + 1 > bytes.length) return { content: bytes, concatenation: null };
  const header = bytes.subarray(1, 1 + length);
  return { content: bytes.subarray(1 + length), concatenation: readConcatenation(header) };
}

// The last of several concatenation elements counts (9.2.3.24).
function readConcatenation(header: Buffer): Concatenation | null {
  let found: Concatenation | null = null;
  for (let at = 0; at + 2 <= header.length;) {
    const iei = header.readUInt8(at);
    const length = header.readUInt8(at + 1);
    const value = header.subarray(at + 2, at + 2 + length);
    if (value.length < length) break;
    if (iei === IEI_CONCATENATION_8 && length === 3) {
      found = concatenation(`udh8:${value.readUInt8(0)}`, value.readUInt8(1), value.readUInt8(2)) ?? found;
    } else if (iei === IEI_CONCATENATION_16 && length === 4) {
      found =
        concatenation(`udh16:${value.readUInt16BE(0)}`, value.readUInt8(2), value.readUInt8(3)) ?? found;
    }
    at += 2 + length;
  }
  return found;
}

/** Null for impossible numbers: such an element is ignored (9.2.3.24.1). */
export function concatenation(reference: string, total: number, number: number): Concatenation | null {
  return number >= 1 && number <= total && total <= 255 ? { reference, total, number } : null;
}

export const HEADER = 16;
const RESPONSE = 0x8000_0000;

export const STATUS = {
  ok: 0x00,
  invalidCommand: 0x03,
  /** ESME_RINVBNDSTS: the SMSC has no such bind. */
  notBound: 0x04,
  /** ESME_RX_T_APPN: not accepted now, to be redelivered. */
  temporary: 0x64,
} as const;

export type Fields = Record<string, string | number | Buffer | undefined>;

export interface Pdu {
  /** SMPP name; null for an unknown command_id. */
  command: string | null;
  isResponse: boolean;
  status: number;
  sequence: number;
  fields: Fields;
  /** The body does not fit the command; `fields` has what could be read. */
  malformed: boolean;
  /** Tag of a TLV that runs beyond the PDU; the command's fields and the TLVs before it are complete. */
  brokenTlv: number | null;
}

/** Decodes one whole PDU; never throws for its contents. Skips the package's filters, which would decode texts: content stays bytes. */
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

function readBody(bytes: Buffer, params: Record<string, { type: FieldType }>, fields: Fields): number | null {
  let offset = HEADER;
  for (const [name, { type }] of Object.entries(params)) {
    // An error response ends after its header, and some SMSCs omit empty fields at the end.
    if (offset >= bytes.length) return null;
    const value = type.read(bytes, offset);
    const size = type.size(value);
    const cut = type === smpp.types.buffer && size - 1 !== bytes[offset];
    // Some SMSCs omit the NUL after the id at the end of their response.
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

// Unknown TLVs are skipped; of duplicates the first counts.
function readTlv(id: number, value: Buffer, fields: Fields): void {
  const tlv = smpp.tlvsById[id];
  if (!tlv || tlv.tag in fields) return;
  const { cstring, buffer, string } = smpp.types.tlv;
  if (tlv.type === buffer) fields[tlv.tag] = value;
  else if (tlv.type === cstring || tlv.type === string)
    fields[tlv.tag] = tlv.type.read(value, 0, value.length) as string;
  // Integers are read at any length: some SMSCs send them wider or narrower than specified.
  else if (value.length >= 1 && value.length <= 4) fields[tlv.tag] = value.readUIntBE(0, value.length);
}

/** Encodes one PDU: fields in order, missing ones empty, then TLVs. @throws RangeError for a value that does not fit its field */
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

/** A deliver_sm or data_sm; null when it is malformed or too short. */
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

export function statusCode(status: number): string {
  return `0x${(status >>> 0).toString(16).padStart(8, '0')}`;
}

/** A command_status for staff: `ESME_RINVPASWD (0x0000000e)`. */
export function statusName(status: number): string {
  const code = statusCode(status);
  const name = Object.entries(smpp.errors).find(([, value]) => value === status)?.[0];
  return name === undefined ? code : `${name} (${code})`;
}
