/** SMPP 3.4 on the wire, written for the tests alone: nothing here is shared with what is tested. */

/** Command ids (5.1.2.1). */
export const COMMAND = {
  genericNack: 0x80000000,
  bindReceiver: 0x00000001,
  bindTransmitter: 0x00000002,
  submitSm: 0x00000004,
  deliverSm: 0x00000005,
  unbind: 0x00000006,
  bindTransceiver: 0x00000009,
  enquireLink: 0x00000015,
} as const;
export const RESPONSE = 0x80000000;

/** TLV tags (5.3.2). */
export const TAG = {
  receiptedMessageId: 0x001e,
  sarMsgRefNum: 0x020c,
  sarTotalSegments: 0x020e,
  sarSegmentSeqnum: 0x020f,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const;

export interface Pdu {
  id: number;
  status: number;
  sequence: number;
  body: Buffer;
}

export type Tlvs = Map<number, Buffer>;

/** submit_sm (4.4.1) and deliver_sm (4.6.1) have the same body. */
export interface ShortMessage {
  serviceType: string;
  sourceTon: number;
  sourceNpi: number;
  source: string;
  destinationTon: number;
  destinationNpi: number;
  destination: string;
  esmClass: number;
  protocolId: number;
  priorityFlag: number;
  scheduleDeliveryTime: string;
  validityPeriod: string;
  registeredDelivery: number;
  replaceIfPresent: number;
  dataCoding: number;
  defaultMessageId: number;
  shortMessage: Buffer;
  tlvs: Tlvs;
}

const HEADER = 16;

/** A whole PDU (3.2): header and body. */
export function encodePdu(pdu: Pick<Pdu, 'id' | 'sequence'> & Partial<Pdu>): Buffer {
  const { body = Buffer.alloc(0), status = 0 } = pdu;
  const header = Buffer.alloc(HEADER);
  header.writeUInt32BE(HEADER + body.length, 0);
  header.writeUInt32BE(pdu.id >>> 0, 4);
  header.writeUInt32BE(status, 8);
  header.writeUInt32BE(pdu.sequence, 12);
  return Buffer.concat([header, body]);
}

/** Cuts whole PDUs from a stream; what is left begins the next call. */
export function takePdus(stream: Buffer): { pdus: Pdu[]; rest: Buffer } {
  const pdus: Pdu[] = [];
  let at = 0;
  while (stream.length - at >= HEADER) {
    const length = stream.readUInt32BE(at);
    if (length < HEADER || length > 0x10000) throw new Error(`a PDU of ${length} octets`);
    if (stream.length - at < length) break;
    pdus.push({
      id: stream.readUInt32BE(at + 4),
      status: stream.readUInt32BE(at + 8),
      sequence: stream.readUInt32BE(at + 12),
      body: stream.subarray(at + HEADER, at + length),
    });
    at += length;
  }
  return { pdus, rest: stream.subarray(at) };
}

/** Reads fields one after the other; throws where a field does not end inside the body. */
export function reader(body: Buffer) {
  let at = 0;
  return {
    left: () => body.length - at,
    octet: () => body.readUInt8(at++),
    /** A C-octet string of at most `max` octets with its NUL. */
    text(max: number): string {
      const end = body.indexOf(0, at);
      if (end < 0 || end - at >= max) throw new Error(`a C-octet string without end within ${max} octets`);
      const value = body.toString('latin1', at, end);
      at = end + 1;
      return value;
    },
    octets(length: number): Buffer {
      if (length > body.length - at) throw new Error('a length beyond the PDU');
      at += length;
      return body.subarray(at - length, at);
    },
  };
}

/** A C-octet string. */
export const cString = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1');

/** @throws where the body breaks a length of 4.4.1, or has octets left over */
export function decodeShortMessage(body: Buffer): ShortMessage {
  const read = reader(body);
  const fields = {
    serviceType: read.text(6),
    sourceTon: read.octet(),
    sourceNpi: read.octet(),
    source: read.text(21),
    destinationTon: read.octet(),
    destinationNpi: read.octet(),
    destination: read.text(21),
    esmClass: read.octet(),
    protocolId: read.octet(),
    priorityFlag: read.octet(),
    scheduleDeliveryTime: read.text(17),
    validityPeriod: read.text(17),
    registeredDelivery: read.octet(),
    replaceIfPresent: read.octet(),
    dataCoding: read.octet(),
    defaultMessageId: read.octet(),
    shortMessage: read.octets(read.octet()),
  };
  const tlvs: Tlvs = new Map();
  while (read.left() > 0) {
    const head = read.octets(4);
    tlvs.set(head.readUInt16BE(0), read.octets(head.readUInt16BE(2)));
  }
  return { ...fields, tlvs };
}

/** The body of a short message; fields left out are 0 or empty. */
export function encodeShortMessage(message: Partial<ShortMessage>): Buffer {
  const { shortMessage = Buffer.alloc(0), tlvs = new Map<number, Buffer>() } = message;
  return Buffer.concat([
    cString(message.serviceType ?? ''),
    Buffer.from([message.sourceTon ?? 0, message.sourceNpi ?? 0]),
    cString(message.source ?? ''),
    Buffer.from([message.destinationTon ?? 0, message.destinationNpi ?? 0]),
    cString(message.destination ?? ''),
    Buffer.from([message.esmClass ?? 0, message.protocolId ?? 0, message.priorityFlag ?? 0]),
    cString(message.scheduleDeliveryTime ?? ''),
    cString(message.validityPeriod ?? ''),
    Buffer.from([message.registeredDelivery ?? 0, message.replaceIfPresent ?? 0]),
    Buffer.from([message.dataCoding ?? 0, message.defaultMessageId ?? 0, shortMessage.length]),
    shortMessage,
    ...[...tlvs].map(([tag, value]) => tlv(tag, value)),
  ]);
}

export function tlv(tag: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(tag, 0);
  head.writeUInt16BE(value.length, 2);
  return Buffer.concat([head, value]);
}
