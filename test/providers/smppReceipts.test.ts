import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDeliver } from '../../providers/smpp/inbox.ts';
import type { DeliverPdu } from '../../providers/smpp/wire.ts';
import type { SmppSettings } from '../../providers/smpp/settings.ts';
import { storable } from '../../domain/ids.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { deliverPdu, settings } from './smppPdu.ts';

const TEXT =
  'id:0A1B2C sub:001 dlvrd:001 submit date:2611211200 done date:2611211201 stat:DELIVRD err:000 text:Twoja paczka czeka';
const RECEIPT = 0x04;

function receipt(text: string, given: Partial<DeliverPdu> = {}): DeliverPdu {
  return deliverPdu({ esm_class: RECEIPT, short_message: Buffer.from(text, 'latin1'), ...given });
}

function reportOf(pdu: DeliverPdu, given: Partial<SmppSettings> = {}): DeliveryReport {
  const incoming = readDeliver(pdu, settings(given));
  if (incoming.kind !== 'report') throw new Error(`no report but ${incoming.kind}`);
  return incoming.report;
}

const idAndState = (text: string) => {
  const { providerMessageId, state } = reportOf(receipt(text));
  return [providerMessageId, state];
};

test('a receipt as the standard has it', () => {
  expect(reportOf(receipt(TEXT))).toEqual({
    providerMessageId: '0A1B2C',
    otherIds: [],
    reference: null,
    whole: false,
    phone: '+48600100200',
    state: 'delivered',
    errorCode: null,
    details: 'id:0A1B2C sub:001 dlvrd:001 submit date:2611211200 done date:2611211201 stat:DELIVRD err:000',
  });
});

describe('receipts in words, as they are found', () => {
  test.each([
    [
      'id:77 sub:1 dlvrd:1 submit date:261121120000 done date:261121120100 stat:DELIVRD err:0 Text:x',
      '77',
      'delivered',
    ],
    ['ID:77 SUB:001 DLVRD:000 SUBMIT DATE:1 DONE DATE:2 STAT:UNDELIV ERR:012 TEXT:', '77', 'undelivered'],
    [
      'id: 77 sub: 001 dlvrd: 001 submit date: 1 done date: 2 stat: DELIVRD err: 000 text: Hi',
      '77',
      'delivered',
    ],
    ['id:77,sub:001,stat:DELIVRD,err:0', '77', 'delivered'],
    ['stat:DELIVRD id:77', '77', 'delivered'],
    ['id:\r\nstat:DELIVRD', '', 'delivered'],
    ['id:77 foo:bar stat:ENROUTE extra', '77', 'enroute'],
    ['id:77 stat:constructor', '77', 'unknown'],
    ['id:77', '77', 'unknown'],
    ['id:77 stat:UNDELIV text:id:88 stat:DELIVRD', '77', 'undelivered'],
    ['id:77 id:88 stat:UNDELIV stat:DELIVRD', '77', 'undelivered'],
    ['myid:88 id:77 laststat:DELIVRD stat:EXPIRED', '77', 'expired'],
    ['id:77\0stat:DELIVRD', '77stat:DELIVRD', 'unknown'],
  ])('%j', (text, id, state) => {
    expect(idAndState(text)).toEqual([id, state]);
  });

  test.each([
    ['ENROUTE', 'enroute'],
    ['EXPIRED', 'expired'],
    ['DELETED', 'deleted'],
    ['UNDELIV', 'undelivered'],
    ['ACCEPTD', 'accepted'],
    ['UNKNOWN', 'unknown'],
    ['REJECTD', 'rejected'],
    ['SKIPPED', 'undelivered'],
    ['FAILED', 'undelivered'],
    ['BUFFERED', 'enroute'],
    ['DELIVERD', 'delivered'],
  ])('stat %s is %s', (stat, state) => {
    expect(idAndState(`id:1 stat:${stat}`)).toEqual(['1', state]);
    expect(idAndState(`id:1 stat:${stat.toLowerCase()}`)).toEqual(['1', state]);
  });

  test.each([
    ['in message_payload', { short_message: Buffer.alloc(0), message_payload: Buffer.from(TEXT) }],
    ['in UCS-2', { data_coding: 8, short_message: Buffer.from(TEXT.slice(0, 120), 'utf16le').swap16() }],
    ['under the message’s data_coding', { data_coding: 8 }],
    [
      'in UCS-2 with a byte order mark',
      { data_coding: 8, short_message: Buffer.from(`\uFEFF${TEXT}`.slice(0, 120), 'utf16le').swap16() },
    ],
    [
      'behind a user data header',
      { esm_class: 0x44, short_message: Buffer.from(`\x05\0\x03\x01\x01\x01${TEXT}`) },
    ],
    ['with other bits in esm_class', { esm_class: 0xc7 & ~0x40 }],
  ])('%s', (_, given) => {
    expect(reportOf(receipt(TEXT, given))).toMatchObject({ providerMessageId: '0A1B2C', state: 'delivered' });
  });
});

describe('TLVs', () => {
  test('come before the words', () => {
    const tlvs = {
      receipted_message_id: 'ff01',
      message_state: 5,
      network_error_code: Buffer.from([3, 0, 27]),
    };
    expect(reportOf(receipt('id:65281 stat:DELIVRD err:000 text:Hi', tlvs))).toMatchObject({
      ...{ providerMessageId: 'ff01', state: 'undelivered', errorCode: '3:27' },
      details:
        'id:65281 stat:DELIVRD err:000 receipted_message_id:ff01 message_state:5 network_error_code:03001b',
    });
  });

  test('are enough, whatever esm_class says; the words may be the message’s own and are not kept', () => {
    const pdu = deliverPdu({
      receipted_message_id: '77',
      message_state: 2,
      short_message: Buffer.from('Tajne'),
    });
    const report = reportOf(pdu);
    expect(report).toMatchObject({ providerMessageId: '77', state: 'delivered', errorCode: null });
    expect(report.details).toBe('receipted_message_id:77 message_state:2');
    expect(reportOf(deliverPdu({ message_state: 3 })).state).toBe('expired');
  });

  test.each([
    [1, 'enroute'],
    [2, 'delivered'],
    [3, 'expired'],
    [4, 'deleted'],
    [5, 'undelivered'],
    [6, 'accepted'],
    [7, 'unknown'],
    [8, 'rejected'],
    [200, 'unknown'],
  ])('message_state %i is %s', (message_state, state) => {
    expect(reportOf(receipt('', { receipted_message_id: '1', message_state })).state).toBe(state);
  });

  test('a state that says nothing leaves it to the words; empty ids too', () => {
    const given = { receipted_message_id: ' ', message_state: 7 };
    expect(reportOf(receipt('id:77 stat:DELIVRD', given))).toMatchObject({
      providerMessageId: '77',
      state: 'delivered',
    });
    expect(reportOf(receipt('id:77 stat:DELIVRD', { message_state: 0 })).state).toBe('delivered');
  });

  test.each([
    ['err:1', undefined, '1'],
    ['err:0A2', Buffer.from([3, 0, 9]), '0A2'],
    ['err:000', Buffer.from([3, 0, 9]), '3:9'],
    ['', Buffer.from([3, 0, 0]), null],
    ['', Buffer.alloc(0), null],
    [`err:${'9'.repeat(100)}`, undefined, '9'.repeat(20)],
  ])('the error of %j and %j is %j', (err, tlv, errorCode) => {
    const given = tlv === undefined ? {} : { network_error_code: tlv };
    expect(reportOf(receipt(`id:1 stat:UNDELIV ${err}`, given)).errorCode).toBe(errorCode);
  });
});

describe('what is a receipt', () => {
  test('not for sure what only reads like one: a phone could send it', () => {
    expect(readDeliver(receipt(TEXT, { esm_class: 0 }), settings())).toMatchObject({
      kind: 'reply',
      receipt: { providerMessageId: '0A1B2C', state: 'delivered' },
    });
    expect(readDeliver(receipt('id:7', { esm_class: 0 }), settings())).toMatchObject({ receipt: null });
  });

  test.each([0x08, 0x10, 0x18])('not an acknowledgement by the recipient (esm_class %i)', (esm_class) => {
    expect(readDeliver(receipt(TEXT, { esm_class }), settings()).kind).toBe('reply');
  });

  test.each([
    ['id:77 stat:DELIVRD', 'enroute'],
    ['id:77 stat:ACCEPTD', 'accepted'],
    ['id:77', 'unknown'],
  ])('an intermediate notification, which ends nothing: %s', (text, state) => {
    expect(reportOf(receipt(text, { esm_class: 0x20 })).state).toBe(state);
  });

  test('one without message and state is unreadable, and its words are not repeated', () => {
    for (const text of ['', 'Dzień dobry', 'text:id:77 stat:DELIVRD', 'sub:001']) {
      const incoming = readDeliver(receipt(text), settings());
      expect(incoming).toEqual({ kind: 'unreadable', reason: 'a receipt without message id and state' });
    }
  });
});

describe('whom and which it speaks of', () => {
  test.each([
    [1, '48600100200', '+48600100200'],
    [0, '0048600100200', '+48600100200'],
    [2, '600100200', '+48600100200'],
    [1, '600100200', '+48600100200'],
    [1, '376312345', '+376312345'],
    [5, 'SKLEP', null],
    [0, '', null],
    [1, '9'.repeat(60_000), null],
  ])('the phone of %i %s is %s', (source_addr_ton, source_addr, phone) => {
    expect(reportOf(receipt(TEXT, { source_addr_ton, source_addr })).phone).toBe(phone);
  });

  test('the route’s rule holds for ids in words and in TLVs', () => {
    const rule = { ids: 'hex-answer' } as const;
    expect(reportOf(receipt('id:0006699 stat:DELIVRD'), rule).providerMessageId).toBe('6699');
    expect(reportOf(receipt('', { receipted_message_id: '6699' }), rule)).toMatchObject({
      ...{ providerMessageId: '6699', otherIds: ['26265'] },
    });
  });
});

const TEXTS = fc.string({
  unit: fc.integer({ max: 0xffff, min: 0 }).map((code) => String.fromCharCode(code)),
});

test('anything may come, and what is kept of it is bounded and can be stored', () => {
  const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array));
  const words = fc
    .array(
      fc.constantFrom(
        'id:',
        'stat:',
        'DELIVRD',
        ' ',
        '\0',
        'text:',
        'err:',
        'done date',
        ':',
        'ż',
        '9'.repeat(300),
      ),
    )
    .map((said) => Buffer.from(said.join(''), 'latin1'));
  const anything = fc.record({
    ...{ source_addr: TEXTS, destination_addr: TEXTS },
    ...{ esm_class: fc.nat(255), data_coding: fc.nat(255), source_addr_ton: fc.nat(255) },
    short_message: fc.oneof(bytes, words),
  });
  const tlvs = fc.record(
    {
      ...{ receipted_message_id: TEXTS, message_state: fc.nat(255) },
      ...{ network_error_code: bytes, message_payload: fc.oneof(bytes, words) },
      ...{
        sar_msg_ref_num: fc.nat(65_535),
        sar_total_segments: fc.nat(255),
        sar_segment_seqnum: fc.nat(255),
      },
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      anything,
      tlvs,
      fc.constantFrom('exact', 'hex-answer', 'decimal-answer'),
      (pdu, more, ids) => {
        const incoming = readDeliver(deliverPdu({ ...pdu, ...more }), settings({ ids }));
        if (incoming.kind === 'report') {
          const { providerMessageId, details, errorCode } = incoming.report;
          const kept = [providerMessageId, details ?? '', errorCode ?? ''];
          expect(kept.every((text) => storable(text) === text && text.length <= 300)).toBe(true);
        }
        if (incoming.kind === 'part') {
          const { number, total, content } = incoming.part;
          expect(number >= 1 && number <= total && total >= 2 && total <= 255 && content.length <= 160).toBe(
            true,
          );
        }
      },
    ),
    { seed: 9, numRuns: 300 },
  );
});
