import { COMMAND, encodePdu } from './wire.ts';

const header = (length: number, id: number): Buffer => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(length, 0);
  bytes.writeUInt32BE(id, 4);
  bytes.writeUInt32BE(1, 12);
  return bytes;
};

const deliver = (body: number[]): Buffer =>
  encodePdu({ id: COMMAND.deliverSm, sequence: 0x7000_0001, body: Buffer.from(body) });

/** Bytes that no SMSC should write. Those `readable` leave the stream in step: a client may keep the connection. */
export const GARBAGE: Record<string, { bytes: Buffer; readable: boolean }> = {
  'a length of nothing': { bytes: header(0, COMMAND.enquireLink), readable: false },
  'a length below the header': { bytes: header(15, COMMAND.deliverSm), readable: false },
  'a huge length': { bytes: header(0xffff_ffff, COMMAND.deliverSm), readable: false },
  'a text instead of a PDU': { bytes: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), readable: false },
  'an unknown command': { bytes: encodePdu({ id: 0x0000_7777, sequence: 7 }), readable: true },
  'an answer to nothing': { bytes: encodePdu({ id: 0x8000_0004, sequence: 0x00ff_ffff }), readable: true },
  'a generic_nack to nothing': {
    bytes: encodePdu({ id: 0x8000_0000, sequence: 0, status: 3 }),
    readable: true,
  },
  'a deliver_sm without a body': { bytes: deliver([]), readable: true },
  'a string without its end': { bytes: deliver(Array.from({ length: 40 }, () => 0x41)), readable: true },
  'a text longer than its PDU': {
    bytes: deliver([0, 1, 1, 0x34, 0, 1, 1, 0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 254, 0x41]),
    readable: true,
  },
  'a TLV longer than its PDU': {
    bytes: deliver([
      0, 1, 1, 0x34, 0, 1, 1, 0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x04, 0x24, 0xff, 0xff, 1,
    ]),
    readable: true,
  },
};
