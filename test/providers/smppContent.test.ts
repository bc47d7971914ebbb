import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { submitFields } from '../../providers/smpp/content.ts';
import type { SubmitFields } from '../../providers/smpp/wire.ts';
import type { SmppSettings } from '../../providers/smpp/settings.ts';
import { MAX_PARTS, splitIntoParts } from '../../domain/sms.ts';
import { settings, submitPart } from './smppPdu.ts';

const NOW = new Date('2026-11-21T12:00:00Z');

// Not part of the library's interface, hence loaded by its path: code point → septets.
const { default: table } = createRequire(import.meta.url)(
  'sms-segments-calculator/dist/libs/UnicodeToGSM.js',
) as { default: Record<number, number[]> };
const CHAR_OF = new Map(
  Object.entries(table).map(([code, septets]) => [septets.join(), String.fromCharCode(Number(code))]),
);

/** Reads GSM-7 by somebody else's table. */
function readGsm7(bytes: Buffer): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 1) {
    const key = bytes[i] === 0x1b ? `27,${bytes[(i += 1)]}` : String(bytes[i]);
    text += CHAR_OF.get(key) ?? `<${key}>`;
  }
  return text;
}

/** What an SMSC understands of a submit's text, and how it is to be joined; written after the standard, not our code. */
function received(fields: SubmitFields, defaultAlphabet: SmppSettings['defaultAlphabet']) {
  expect(fields.message_payload === undefined || fields.short_message.length === 0).toBe(true);
  let bytes = fields.message_payload ?? fields.short_message;
  let joins = [fields.sar_msg_ref_num, fields.sar_total_segments, fields.sar_segment_seqnum];
  if (fields.esm_class === 0x40) {
    expect([...bytes.subarray(0, 3)]).toEqual([5, 0, 3]);
    joins = [...bytes.subarray(3, 6)];
    bytes = bytes.subarray(6);
  } else {
    expect(fields.esm_class).toBe(0);
  }
  const read: Record<number, () => string> = {
    0: () => (defaultAlphabet === 'gsm7' ? readGsm7(bytes) : bytes.toString('latin1')),
    8: () => new TextDecoder('utf-16be', { ignoreBOM: true }).decode(bytes),
    0xf1: () => readGsm7(bytes),
    0x10: () => readGsm7(bytes),
    0x18: () => new TextDecoder('utf-16be', { ignoreBOM: true }).decode(bytes),
  };
  const octetsOnAir = [8, 0x18].includes(fields.data_coding)
    ? bytes.length
    : Math.ceil((bytes.length * 7) / 8);
  return { text: read[fields.data_coding]!(), joins, octetsOnAir };
}

const GSM_TEXTS = fc
  .array(fc.constantFrom('a', 'Z', ' ', 'à', 'Ω', '\n', '€', '[', '^', '@', '_', '$', 'é'), {
    maxLength: 3060,
  })
  .map((chars) => chars.join(''));
const WIDE_TEXTS = fc
  .array(fc.constantFrom('a', 'ą', 'Ł', '€', '中', '😀', '\uFEFF'), { maxLength: 900 })
  .map((chars) => chars.join(''));
const TEXTS = fc
  .oneof(GSM_TEXTS, WIDE_TEXTS, fc.string({ unit: 'binary', maxLength: 700 }))
  .filter((text) => {
    return splitIntoParts(text).parts.length <= MAX_PARTS && !/\p{Surrogate}/u.test(text);
  });
const OPTIONS = fc.record({
  longMessages: fc.constantFrom('udh' as const, 'sar' as const),
  defaultAlphabet: fc.constantFrom('gsm7' as const, 'latin1' as const),
});

describe('the text arrives', () => {
  test('every part of any text is read as it was written, joined under one number, and fits into an SMS', () => {
    fc.assert(
      fc.property(TEXTS, OPTIONS, fc.integer({ min: 0, max: 65_535 }), (text, options, concatReference) => {
        const { encoding, parts } = splitIntoParts(text);
        const read = parts.map((cut, index) => {
          const part = submitPart({
            text: cut,
            encoding,
            part: index + 1,
            parts: parts.length,
            concatReference,
          });
          const fields = submitFields(part, settings(options), NOW);
          expect(fields.registered_delivery).toBe(1);
          const { joins, octetsOnAir, text: said } = received(fields, options.defaultAlphabet);
          const reference = options.longMessages === 'udh' ? concatReference % 256 : concatReference;
          const joined = parts.length > 1;
          expect(joins).toEqual(
            joined ? [reference, parts.length, index + 1] : [undefined, undefined, undefined],
          );
          if (options.defaultAlphabet === 'gsm7') {
            expect(octetsOnAir).toBeLessThanOrEqual(joined ? 134 : 140);
          }
          return said;
        });
        expect(read.join('')).toBe(text);
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  test('a whole message goes as message_payload where it does not fit into one SMS', () => {
    fc.assert(
      fc.property(TEXTS, OPTIONS, (text, { defaultAlphabet }) => {
        const { encoding, parts } = splitIntoParts(text);
        const whole = submitPart({ text, encoding });
        const fields = submitFields(whole, settings({ longMessages: 'payload', defaultAlphabet }), NOW);
        expect(fields.message_payload !== undefined).toBe(parts.length > 1);
        expect(received(fields, defaultAlphabet).text).toBe(text);
      }),
      { seed: 6, numRuns: 100 },
    );
  });

  test.each([
    ['Kraków', 'gsm7', 8],
    ['Krakow', 'gsm7', 0],
    ['Krakow', 'latin1', 0],
    ['10 €', 'latin1', 8],
    ['Ω'.repeat(71), 'latin1', 0xf1],
  ] as const)('%s where 0 means %s goes under data_coding %i', (text, defaultAlphabet, dataCoding) => {
    const { encoding } = splitIntoParts(text);
    const fields = submitFields(submitPart({ text, encoding }), settings({ defaultAlphabet }), NOW);
    expect(fields.data_coding).toBe(dataCoding);
    expect(received(fields, defaultAlphabet).text).toBe(text);
  });

  test.each([
    ['Kraków', 'gsm7', 0x18],
    ['10 € [à]', 'latin1', 0x10],
  ] as const)(
    '%s as flash where 0 means %s goes under data_coding %i',
    (text, defaultAlphabet, dataCoding) => {
      const { encoding } = splitIntoParts(text);
      const part = submitPart({ text, encoding, content: { flash: true } });
      const fields = submitFields(part, settings({ defaultAlphabet }), NOW);
      expect(fields.data_coding).toBe(dataCoding);
      expect(received(fields, defaultAlphabet).text).toBe(text);
    },
  );

  test('a GSM-7 text that has to go as UCS-2 does', () => {
    const part = submitPart({ text: 'Krakow', encoding: 'ucs2', content: { ucs2: true } });
    const fields = submitFields(part, settings(), NOW);
    expect(fields.data_coding).toBe(8);
    expect(received(fields, 'gsm7').text).toBe('Krakow');
  });
});

describe('addresses', () => {
  test.each([
    ['SKLEP', 5, 0, 'SKLEP'],
    ['2024sale', 5, 0, '2024sale'],
    ['7100', 3, 0, '7100'],
    ['501234', 3, 0, '501234'],
    ['500600700', 1, 1, '48500600700'],
    ['80012345', 0, 1, '80012345'],
    [null, 0, 0, ''],
  ])('the sender %s is %i/%i %s', (sender, ton, npi, address) => {
    const fields = submitFields(submitPart({ sender }), settings(), NOW);
    expect([fields.source_addr_ton, fields.source_addr_npi, fields.source_addr]).toEqual([ton, npi, address]);
  });

  test('a destination is international without plus, whatever the country', () => {
    const fields = submitFields(submitPart({ destination: '+447700900123' }), settings(), NOW);
    expect([fields.dest_addr_ton, fields.dest_addr_npi, fields.destination_addr]).toEqual([
      1,
      1,
      '447700900123',
    ]);
  });

  test('a route may have its own types and plans, zero too, but for no sender at all', () => {
    const own = settings({
      ...{ senderTon: 0, senderNpi: 8, destinationTon: 2, destinationNpi: 0, serviceType: 'BULK' },
    });
    const fields = submitFields(submitPart(), own, NOW);
    expect([fields.source_addr_ton, fields.source_addr_npi]).toEqual([0, 8]);
    expect([fields.dest_addr_ton, fields.dest_addr_npi]).toEqual([2, 0]);
    expect(fields.service_type).toBe('BULK');
    const none = submitFields(submitPart({ sender: null }), settings({ senderTon: 5, senderNpi: 8 }), NOW);
    expect([none.source_addr_ton, none.source_addr_npi, none.source_addr]).toEqual([0, 0, '']);
  });
});

describe('the rest', () => {
  test.each([
    [true, 1, 1],
    [true, 3, 3],
    [false, 3, 0],
  ])('priority %s on a route with flag %i is sent as %i', (priority, priorityFlag, sent) => {
    expect(submitFields(submitPart({ priority }), settings({ priorityFlag }), NOW).priority_flag).toBe(sent);
  });

  test.each([
    ['absolute', '2026-11-24T12:00:00Z', '261124120000000+'],
    ['absolute', '2026-12-31T23:59:59.999Z', '261221120000000+'],
    ['absolute', '2026-11-21T12:00:01Z', '261121120100000+'],
    ['relative', '2026-11-24T13:02:03.900Z', '000003010203000R'],
    ['relative', '2026-11-21T11:00:00Z', '000000000100000R'],
    ['relative', '2036-11-21T11:00:00Z', '000030000000000R'],
    ['none', '2026-11-24T12:00:00Z', ''],
  ] as const)('%s validity until %s is %s', (validity, expiresAt, period) => {
    const part = submitPart({ expiresAt: new Date(expiresAt) });
    expect(submitFields(part, settings({ validity }), NOW).validity_period).toBe(period);
  });
});
