import { createRequire } from 'node:module';
import fc from 'fast-check';
import { getCountries, getExampleNumber, type Examples } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { countryOf, isPolish, maskMsisdn, parseMsisdn } from '../../domain/msisdn.ts';

const examples = createRequire(import.meta.url)('libphonenumber-js/examples.mobile.json') as Examples;
const RUNS = { seed: 48, numRuns: 500 };

describe('the three formats', () => {
  test.each([
    ['+48500100200', '+48500100200'],
    ['48500100200', '+48500100200'],
    ['500100200', '+48500100200'],
    ['+4915112345678', '+4915112345678'],
    ['4915112345678', '+4915112345678'],
    ['+50010020', '+50010020'],
    ['3726123456', '+3726123456'],
    ['+12025550123', '+12025550123'],
    ['+390612345678', '+390612345678'],
    ['+88216123456', '+88216123456'],
  ])('%s → %s', (input, msisdn) => {
    expect(parseMsisdn(input)).toBe(msisdn);
  });

  test('any 9 digits not beginning with 0 are Polish, whatever range they fall into', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100_000_000, max: 999_999_999 }), (national) => {
        const msisdn = `+48${national}`;
        expect([`${national}`, `48${national}`, msisdn].map(parseMsisdn)).toEqual([msisdn, msisdn, msisdn]);
      }),
      RUNS,
    );
  });

  test('every country’s example mobile number of at least 8 digits', () => {
    const refused = getCountries()
      .map((country) => getExampleNumber(country, examples)?.number)
      .filter((number) => number !== undefined && number.length > 8)
      .filter((number) => number !== undefined && parseMsisdn(number) !== number);
    expect(refused).toEqual([]);
  });
});

describe('refused', () => {
  test.each([
    '',
    '+',
    '012345678',
    '+48012345678',
    '48012345678',
    '+4850010020',
    '+485001002000',
    '12345678',
    '0048500100200',
    '+0048500100200',
    '++48500100200',
    '+48 500 100 200',
    '+48-500-100-200',
    '(48)500100200',
    ' 500100200',
    '500100200 ',
    '500100200\n',
    '+48500100200\n',
    '\u00a0500100200',
    '٥٠٠١٠٠٢٠٠',
    '+٤٨٥٠٠١٠٠٢٠٠',
    '50010020',
    '５００１００２００',
    '＋48500100200',
    '500100200;ext=1',
    '+48500100200x1',
    'tel:+48500100200',
    '5e8100200',
    '+999123456789',
    '+21012345678',
    '+1202555012',
    '+120255501234',
    '+4402071838750',
    '+1234567',
    '+2908999',
    '2908999',
    '+1234567890123456',
  ])('%j', (input) => {
    expect(parseMsisdn(input)).toBeNull();
  });

  test('whatever is not a plus and digits; an answer is E.164 and reads as itself', () => {
    const input = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'+0123456789') }),
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^\+?[1-9][0-9]{7,14}$/),
    );
    fc.assert(
      fc.property(input, (text) => {
        const msisdn = parseMsisdn(text);
        if (msisdn === null) return;
        expect(text).toMatch(/^\+?[0-9]+$/);
        expect(msisdn).toMatch(/^\+[1-9][0-9]{7,14}$/);
        expect(msisdn.endsWith(text.replace('+', ''))).toBe(true);
        expect(parseMsisdn(msisdn)).toBe(msisdn);
      }),
      RUNS,
    );
  });
});

test('isPolish goes by the calling code', () => {
  expect(isPolish('+48500100200')).toBe(true);
  expect(isPolish('+49500100200')).toBe(false);
  expect(isPolish('+4')).toBe(false);
});

test.each([
  ['+48500100200', 'PL'],
  ['+4915112345678', 'DE'],
  ['+12025550123', 'US'],
  ['+14165550123', 'CA'],
  ['+80012345678', null],
  ['+88216123456', null],
  ['no number', null],
])('the country of %s is %s', (msisdn, country) => {
  expect(countryOf(msisdn)).toBe(country);
});

describe('masking', () => {
  test.each([
    ['+48500100200', '+48*****200'],
    ['+12025550123', '+1*****123'],
    ['+29055123', '+290*****3'],
    ['500100200', '*****'],
    ['', '*****'],
  ])('%s → %s', (msisdn, masked) => {
    expect(maskMsisdn(msisdn)).toBe(masked);
  });

  test('never shows more than a third of the national number', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\+[1-9][0-9]{7,14}$/), (msisdn) => {
        const [code = '', shown = ''] = maskMsisdn(msisdn).split('*****');
        expect(shown.length * 3).toBeLessThanOrEqual(Math.max(0, msisdn.length - code.length));
      }),
      RUNS,
    );
  });
});
