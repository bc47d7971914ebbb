import { createRequire } from 'node:module';
import fc from 'fast-check';
import { getCountries, getExampleNumber, type Examples } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import {
  countryOf,
  isOverlongPolish,
  isPolish,
  isPolishMobile,
  maskMsisdn,
  numberProblem,
  parseAddress,
  parseMsisdn,
  withoutSeparators,
} from '../../domain/msisdn.ts';

const examples = createRequire(import.meta.url)('libphonenumber-js/examples.mobile.json') as Examples;
const RUNS = { seed: 48, numRuns: 200 };

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

test.each([
  ['500 100 200', '+48500100200'],
  ['+48 500-100-200', '+48500100200'],
  ['0048\u00a0500\u2013100\u2013200', '+48500100200'],
  ['(+48) 500.100.200\r', '+48500100200'],
  ['\u202a48500100200\u202c', '+48500100200'],
  ['00 49 151 12345678', '+4915112345678'],
  ['0 500 100 200', null],
  ['500 100 200 500', null],
  ['+48+500100200', null],
  ['500 100 20O', null],
  ['-', null],
])('%s as people write it → %s', (written, msisdn) => {
  expect(parseMsisdn(withoutSeparators(written))).toBe(msisdn);
});

describe('ten digits without plus', () => {
  const typed = fc
    .tuple(
      fc.constantFrom('45', '50', '51', '53', '57', '60', '66', '69', '72', '73', '78', '79', '88'),
      fc.nat(9_999_999),
    )
    .map(([prefix, rest]) => prefix + String(rest).padStart(7, '0'));

  test.each(['5001002003', '6001002003', '7201002003', '4510012345'])(
    '%s is a Polish number with a digit too many; with a plus it is what it says',
    (input) => {
      expect(parseMsisdn(input)).toBeNull();
      expect(isOverlongPolish(input)).toBe(true);
      expect(parseMsisdn(`+${input}`)).toBe(parseAddress(`+${input}`));
    },
  );

  test('any Polish mobile number with one digit more is refused, unless it is a Danish mobile number', () => {
    fc.assert(
      fc.property(typed, fc.nat(9), (number, digit) => {
        const parsed = parseMsisdn(`${number}${digit}`);
        if (parsed !== null) expect(countryOf(parsed)).toBe('DK');
      }),
      RUNS,
    );
  });

  test.each([
    // Denmark's mobile numbers have ten digits and begin with the Polish prefix 45.
    '4520123456',
    '4593123456',
    '4790123456',
    '3726123456',
    '1202555012',
    '4366412345',
    // A Polish landline is nothing that is written to by mistake.
    '2212345678',
  ])('%s is read as before', (input) => {
    expect(isOverlongPolish(input)).toBe(false);
    expect(parseMsisdn(input)).toBe(parseAddress(input));
  });

  test('real mobile numbers from everywhere stay what they are, but for the countries that collide', () => {
    const colliding = getCountries().filter((country) => {
      const number = getExampleNumber(country, examples)?.number.slice(1);
      return number !== undefined && parseAddress(number) !== null && parseMsisdn(number) === null;
    });
    expect(colliding).toEqual(['BZ', 'CU', 'FM', 'MH']);
  });

  test('networks do not mistype: their addresses are read as they stand', () => {
    fc.assert(
      fc.property(typed, fc.nat(9), (number, digit) => {
        const address = `${number}${digit}`;
        expect(parseAddress(address)).toBe(parseMsisdn(`+${address}`));
      }),
      RUNS,
    );
  });
});

describe('refused', () => {
  test.each([
    '',
    '+',
    '012345678',
    '48012345678',
    '+485001002000',
    '0048500100200',
    '++48500100200',
    '+48 500 100 200',
    ' 500100200',
    '+48500100200\n',
    '+٤٨٥٠٠١٠٠٢٠٠',
    '50010020',
    '4850010020',
    '485001002003',
    '５００１００２００',
    '500100200;ext=1',
    'tel:+48500100200',
    '+999123456789',
    '+21012345678',
    '+1202555012',
    '+4402071838750',
    '+1234567',
    '2908999',
    '+1234567890123456',
    '+4915112345678901',
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

describe('what is wrong with a number that cannot be read', () => {
  test('a digit too many', () => {
    expect(numberProblem('5001002003')).toMatchObject({ reason: 'polish_number_too_long' });
  });
  test.each(['', '+5001002003x', '2212345678'])('%j is no number', (input) => {
    expect(numberProblem(input)).toEqual({ reason: 'number_malformed', given: input });
  });
});

test('isPolish goes by the calling code', () => {
  expect(isPolish('+48500100200')).toBe(true);
  expect(isPolish('+49500100200')).toBe(false);
  expect(isPolish('+4')).toBe(false);
});

test.each([
  ['+48500100200', 'PL'],
  ['+12025550123', 'US'],
  ['+14165550123', 'CA'],
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
    ['tel:+48500100200', '*****'],
    ['+48500100200;ext=12', '*****'],
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

test.each([
  ['+48500100200', true],
  ['+48450123456', true],
  ['+48221234567', false],
  ['+48700123456', false],
  ['+48801123456', false],
  ['+48391234567', false],
  ['+4915112345678', false],
])('a Polish mobile phone: %s %s', (msisdn, is) => {
  expect(isPolishMobile(msisdn)).toBe(is);
});
