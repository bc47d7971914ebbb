import { describe, expect, test } from 'vitest';
import { readDeliver } from '../../providers/smpp/inbox.ts';
import type { DeliverPdu } from '../../providers/smpp/wire.ts';
import { deliverPdu, settings } from './smppPdu.ts';

const HEADER = 0x40;
const UNREADABLE = '(unreadable)';

/** What a reply says, as its receiver would read it. */
function textOf(given: Partial<DeliverPdu>, defaultAlphabet: 'gsm7' | 'latin1' = 'gsm7'): string {
  const incoming = readDeliver(deliverPdu(given), settings({ defaultAlphabet }));
  if (incoming.kind === 'unreadable') return UNREADABLE;
  if (incoming.kind !== 'reply') throw new Error(`no reply but ${incoming.kind}`);
  return incoming.text;
}

function partOf(given: Partial<DeliverPdu>) {
  const incoming = readDeliver(deliverPdu(given), settings());
  if (incoming.kind !== 'part') throw new Error(`no part but ${incoming.kind}`);
  const { reference, number, total, content } = incoming.part;
  return { reference, number, total, text: Buffer.from(content).toString('latin1') };
}

const ucs2 = (text: string) => Buffer.from(text, 'utf16le').swap16();
const bytes = (...list: number[]) => Buffer.from(list);

describe('what a reply says', () => {
  test.each([
    ['GSM-7', 0, bytes(0x00, 0x1b, 0x65, 0x5f, 0x54), '@€§T'],
    ['ASCII', 1, Buffer.from('a_@$'), 'a_@$'],
    ['Latin-1', 3, Buffer.from('é_ÿ', 'latin1'), 'é_ÿ'],
    ['UCS-2', 8, ucs2('Żółć 😀'), 'Żółć 😀'],
    ['half a character at the end', 8, Buffer.concat([ucs2('Tak'), bytes(1)]), 'Tak'],
    ['Cyrillic, by its ASCII letters', 6, Buffer.from('STOP'), 'STOP'],
    ['no text that is one', 4, Buffer.from('STOP'), 'STOP'],
    ['no text', 4, bytes(0, 1, 2, 0xff), UNREADABLE],
    ['GSM-7 of class 0', 0xf0, bytes(0x00, 0x54), '@T'],
    ['UCS-2 of class 0', 0x18, ucs2('Ż'), 'Ż'],
    ['compressed', 0x20, Buffer.from('xyz'), UNREADABLE],
    ['voice mail waiting, UCS-2', 0xe0, ucs2('Ż'), 'Ż'],
    ['nothing', 0, Buffer.alloc(0), ''],
  ])('%s (data_coding %i)', (_, data_coding, short_message, text) => {
    expect(textOf({ data_coding, short_message })).toBe(text);
  });

  test('what 0 means is the route’s', () => {
    const given = { data_coding: 0, short_message: Buffer.from('é_@', 'latin1') };
    expect(textOf(given, 'latin1')).toBe('é_@');
    expect(textOf({ data_coding: 0xf1, short_message: bytes(0x00, 0x5f) }, 'latin1')).toBe('@§');
  });

  test('message_payload counts where there is no short_message', () => {
    expect(
      textOf({ short_message: Buffer.alloc(0), message_payload: Buffer.from('TAK'.repeat(500)) }),
    ).toHaveLength(1500);
    expect(textOf({ short_message: Buffer.from('TAK'), message_payload: Buffer.from('NIE') })).toBe('TAK');
    const headed = Buffer.concat([bytes(2, 0x70, 0), Buffer.from('TAK')]);
    expect(textOf({ esm_class: HEADER, short_message: Buffer.alloc(0), message_payload: headed })).toBe(
      'TAK',
    );
  });
});

describe('who sent it, and where to', () => {
  test.each([
    [{ source_addr: '48600100200' }, '+48600100200', '+48500600700'],
    [{ source_addr: '600100200', source_addr_ton: 2 }, '+48600100200', '+48500600700'],
    [{ source_addr: 'Play', source_addr_ton: 5 }, 'Play', '+48500600700'],
    [{ source_addr: '7100', destination_addr: '7200' }, '7100', '7200'],
    [{ destination_addr: '' }, '+48600100200', null],
    [{ source_addr: 'x\0y'.repeat(1000) }, 'x\uFFFDy'.repeat(22).slice(0, 64), '+48500600700'],
  ])('%#', (given, from, to) => {
    expect(readDeliver(deliverPdu(given), settings())).toMatchObject({ kind: 'reply', reply: { from, to } });
  });
});

describe('parts', () => {
  const content = Buffer.from('abc');
  const headed = (...header: number[]) => ({
    esm_class: HEADER,
    short_message: Buffer.concat([bytes(header.length, ...header), content]),
  });

  test.each([
    ['8-bit', headed(0, 3, 9, 2, 1), { reference: 'udh8:9', total: 2, number: 1, text: 'abc' }],
    ['16-bit', headed(8, 4, 1, 9, 3, 2), { reference: 'udh16:265', total: 3, number: 2, text: 'abc' }],
    [
      'behind others',
      headed(0x24, 1, 1, 0x05, 4, 1, 2, 3, 4, 0, 3, 9, 2, 2),
      { reference: 'udh8:9', total: 2, number: 2, text: 'abc' },
    ],
    [
      'before one that lies',
      headed(0, 3, 9, 2, 1, 5, 200, 1),
      { reference: 'udh8:9', total: 2, number: 1, text: 'abc' },
    ],
    [
      'SAR',
      { sar_msg_ref_num: 40_000, sar_total_segments: 255, sar_segment_seqnum: 255, short_message: content },
      { reference: 'sar:40000', total: 255, number: 255, text: 'abc' },
    ],
  ])('%s', (_, given, part) => {
    expect(partOf(given)).toEqual(part);
  });

  test.each([
    ['number 0', headed(0, 3, 9, 2, 0)],
    ['one of one', headed(0, 3, 9, 1, 1)],
    ['of a wrong length', headed(0, 2, 9, 2, 1)],
    ['lying about its length', headed(0, 200, 9, 2, 1)],
    ['empty', headed()],
  ])('none, but a whole reply: %s', (_, given) => {
    expect(textOf(given)).toBe('abc');
  });

  test('a header that is longer than all there is, is none', () => {
    expect(textOf({ esm_class: HEADER, short_message: Buffer.from('STOP') })).toBe('STOP');
    expect(textOf({ esm_class: HEADER, short_message: Buffer.alloc(0) })).toBe('');
    expect(textOf({ esm_class: HEADER, short_message: bytes(3, 0, 1, 9) })).toBe('');
  });

  test('what is longer than an SMS is whole, and SAR numbers that cannot be are none', () => {
    const sar = { sar_msg_ref_num: 1, sar_total_segments: 2, sar_segment_seqnum: 1 };
    expect(
      textOf({ ...sar, short_message: Buffer.alloc(0), message_payload: Buffer.from('x'.repeat(161)) }),
    ).toHaveLength(161);
    expect(textOf({ ...sar, sar_segment_seqnum: 3 })).toBe('TAK');
    expect(textOf({ sar_msg_ref_num: 1, sar_total_segments: 2 })).toBe('TAK');
  });
});
