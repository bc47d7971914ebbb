import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePdu, deliverPdu, encodePdu, type Pdu } from '../../providers/smpp/codec.ts';
import { readDeliver } from '../../providers/smpp/inbox.ts';
import { readPdus } from '../../providers/smpp/wire.ts';
import { decodeShortMessage, encodeShortMessage, tlv } from '../smsc/wire.ts';
import { settings } from './smppPdu.ts';

const DELIVER = 5;
const octets = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));

/** A PDU with any body, its length true. */
function pdu(id: number, body: Buffer, sequence = 1, status = 0): Buffer {
  const header = Buffer.alloc(16);
  for (const [index, value] of [16 + body.length, id, status, sequence].entries()) {
    header.writeUInt32BE(value, index * 4);
  }
  return Buffer.concat([header, body]);
}

describe('a PDU', () => {
  test('that is written is read by others as it was meant', () => {
    const ascii = (maxLength: number) =>
      fc.string({
        unit: fc.integer({ min: 1, max: 127 }).map((code) => String.fromCharCode(code)),
        maxLength,
      });
    fc.assert(
      fc.property(
        ascii(20),
        ascii(20),
        octets(254),
        octets(1_000),
        fc.integer({ min: 0, max: 0xffff }),
        (source_addr, destination_addr, short_message, message_payload, sar_msg_ref_num) => {
          const fields = { source_addr, destination_addr, short_message, message_payload, sar_msg_ref_num };
          const bytes = encodePdu('submit_sm', 7, {
            ...fields,
            data_coding: 8,
            sar_total_segments: undefined,
          });
          expect(bytes.readUInt32BE(0)).toBe(bytes.length);
          const read = decodeShortMessage(bytes.subarray(16));
          expect(read).toMatchObject({ source: source_addr, destination: destination_addr, dataCoding: 8 });
          expect(read.shortMessage.equals(short_message)).toBe(true);
          expect(read.tlvs.get(0x0424)?.equals(message_payload)).toBe(true);
          expect(read.tlvs.get(0x020c)?.readUInt16BE(0)).toBe(sar_msg_ref_num);
          expect(read.tlvs.has(0x020e)).toBe(false);
        },
      ),
    );
  });

  test('of which something was changed or cut is read without harm', () => {
    const whole = encodeShortMessage({
      source: '48600100200',
      destination: '48500600700',
      esmClass: 0x44,
      shortMessage: Buffer.from('id:1 stat:DELIVRD'),
      tlvs: new Map([[0x001e, Buffer.from('1\0')]]),
    });
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.integer({ min: 0, max: 255 }),
        fc.nat(whole.length),
        (at, value, length) => {
          const body = Buffer.from(whole.subarray(0, length));
          if (at < body.length) body[at] = value;
          const deliver = deliverPdu(decodePdu(pdu(DELIVER, body)));
          if (deliver) readDeliver(deliver, settings());
        },
      ),
      { numRuns: 500 },
    );
  });

  test('that reaches beyond its end is not taken for one', () => {
    const cut = encodeShortMessage({ source: '48600100200', shortMessage: Buffer.from('abc') }).subarray(
      0,
      -1,
    );
    expect(deliverPdu(decodePdu(pdu(DELIVER, cut)))).toBeNull();
    expect(deliverPdu(decodePdu(pdu(DELIVER, Buffer.from('no end'))))).toBeNull();
    expect(deliverPdu(decodePdu(pdu(DELIVER, Buffer.alloc(0))))).toBeNull();
    expect(decodePdu(pdu(0x80000004, Buffer.from([])))).toMatchObject({ malformed: false, fields: {} });
  });

  test('whose last text ends with it, without NUL, has that text', () => {
    const answer = decodePdu(pdu(0x80000004, Buffer.from('no end')));
    expect(answer).toMatchObject({ malformed: false, fields: { message_id: 'no end' } });
  });

  test.each([
    ['counts its own head', Buffer.from([0x14, 0x03, 0, 6, 1, 2])],
    ['counts one octet too many', Buffer.from([0x14, 0x03, 0, 2, 1])],
  ])('of which a TLV %s has everything before that', (_what, broken) => {
    const whole = encodeShortMessage({ source: '48600100200', shortMessage: Buffer.from('STOP') });
    const read = decodePdu(pdu(DELIVER, Buffer.concat([whole, tlv(0x0427, Buffer.from([2])), broken])));
    expect(deliverPdu(read)).toMatchObject({
      source_addr: '48600100200',
      short_message: Buffer.from('STOP'),
      message_state: 2,
      brokenTlv: 0x1403,
    });
  });

  test('has TLVs in any order and width, unknown and repeated ones', () => {
    const body = Buffer.concat([
      encodeShortMessage({ source: '1' }),
      tlv(0x1501, Buffer.from('vendor')),
      tlv(0x0427, Buffer.from([0, 0, 0, 2])),
      tlv(0x0427, Buffer.from([5])),
      tlv(0x001e, Buffer.from('abc')),
      tlv(0x0423, Buffer.from([3, 0, 1])),
      Buffer.from([1, 2, 3]),
    ]);
    expect(deliverPdu(decodePdu(pdu(DELIVER, body)))).toMatchObject({
      message_state: 2,
      receipted_message_id: 'abc',
      network_error_code: Buffer.from([3, 0, 1]),
    });
  });

  test.each([
    ['a character of more than 7 bits', { source_addr: 'ŻÓŁW' }],
    ['a NUL', { source_addr: 'A\0B' }],
    ['more octets than fit', { short_message: Buffer.alloc(256) }],
  ])('is not written with %s', (_what, fields) => {
    expect(() => encodePdu('submit_sm', 1, fields)).toThrow(RangeError);
  });
});

test('a stream is cut the same however it comes', async () => {
  const stream = Buffer.concat([
    pdu(0x15, Buffer.alloc(0), 1),
    pdu(5, encodeShortMessage({ source: '1', tlvs: new Map([[0x0424, Buffer.alloc(60_000, 1)]]) }), 2),
    pdu(0x15, Buffer.alloc(0), 3),
    pdu(0x7777, Buffer.from('unknown'), 4),
  ]);
  for (const size of [1, 3, 16, 1_000, 65_536, stream.length]) {
    const read = await readFrom(stream, size);
    expect(read.pdus.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(read.garbage).toBe(0);
  }
  const broken = await readFrom(
    Buffer.concat([stream, Buffer.from('GET / HTTP/1.1\r\n\r\n'), stream]),
    1_000,
  );
  expect(broken.pdus).toHaveLength(4);
  expect(broken.garbage).toBe(1);
});

async function readFrom(stream: Buffer, size: number): Promise<{ pdus: Pdu[]; garbage: number }> {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    // The reader hangs up on garbage, with more of it under way.
    socket.on('error', () => undefined);
    for (let at = 0; at < stream.length; at += size) socket.write(stream.subarray(at, at + size));
    socket.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const pdus: Pdu[] = [];
  let garbage = 0;
  readPdus(
    socket,
    (one) => pdus.push(one),
    () => {
      garbage++;
      socket.destroy();
    },
  );
  await once(socket, 'close');
  server.close();
  return { pdus, garbage };
}
