import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CountryRates,
  defaultForeignPrice,
  DomainError,
  messageCost,
  normaliseCountryRates,
  pricePerPart,
  rateAfterTopUp,
} from '../../domain/money.ts';

const RUNS = { seed: 15, numRuns: 200 };
const RATES: CountryRates = { '4': { sms: 1 }, '49': { sms: 25, mms: 90, vms: 60 }, '49151': { sms: 31 } };

function price(msisdn: string, countryRates: CountryRates = {}, priority = false): number | null {
  const asked = { channel: 'sms', msisdn, priority, domesticGrosze: 15, countryRates } as const;
  return pricePerPart({ ...asked, foreignAtTwice: true });
}

describe('the price of one part', () => {
  test('Poland has the domestic price, priority doubles it', () => {
    expect(price('+48500100200')).toBe(15);
    expect(price('+48500100200', {}, true)).toBe(30);
  });

  test('Poland has it even where a rate would match', () => {
    expect(price('+48500100200', { ...RATES, '48': { sms: 1 }, '485': { sms: 2 } })).toBe(15);
  });

  test('abroad it is twice the domestic price, priority doubles again', () => {
    expect(defaultForeignPrice(15)).toBe(30);
    expect(price('+33612345678')).toBe(30);
    expect(price('+33612345678', RATES)).toBe(30);
    expect(price('+33612345678', {}, true)).toBe(60);
  });

  test('the longest matching prefix wins, priority doubles it', () => {
    expect(price('+4915112345678', RATES)).toBe(31);
    expect(price('+4917012345678', RATES)).toBe(25);
    expect(price('+447700900123', RATES)).toBe(1);
    expect(price('+4915112345678', RATES, true)).toBe(62);
  });

  test('a longer prefix without an sms price leaves it to the shorter one', () => {
    expect(price('+4915112345678', { '49': { sms: 25 }, '491': { mms: 90 } })).toBe(25);
    expect(price('+4915112345678', { '491': { mms: 90 } })).toBe(30);
  });

  test('so does one without a price of an MMS or a call, and where no prefix has one there is none', () => {
    const rates: CountryRates = { '49': { mms: 90 }, '4915': { sms: 25, vms: 60 }, '49151': { sms: 31 } };
    const of = (channel: 'mms' | 'vms', msisdn: string) => {
      const asked = { channel, msisdn, priority: false, domesticGrosze: 40, countryRates: rates };
      return pricePerPart({ ...asked, foreignAtTwice: false });
    };
    expect(of('mms', '+4915112345678')).toBe(90);
    expect(of('vms', '+4915112345678')).toBe(60);
    expect(of('vms', '+4917012345678')).toBeNull();
    expect(of('mms', '+33612345678')).toBeNull();
  });

  test('priority makes no price where there is none', () => {
    const asked = { channel: 'mms', priority: true, domesticGrosze: 40, countryRates: RATES } as const;
    expect(pricePerPart({ ...asked, msisdn: '+33612345678', foreignAtTwice: false })).toBeNull();
    expect(pricePerPart({ ...asked, msisdn: '+4917012345678', foreignAtTwice: false })).toBe(180);
  });

  test('a rate of 0 is a price, not a missing one', () => {
    expect(price('+4915112345678', { '49': { sms: 0 } })).toBe(0);
  });

  test('equals the longest of all matching prefixes', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{7,14}$/).filter((text) => !text.startsWith('48'));
    const query = digits.chain((number) =>
      fc.record({
        number: fc.constant(number),
        rates: fc.dictionary(
          fc.oneof(
            fc.integer({ min: 1, max: number.length }).map((length) => number.slice(0, length)),
            fc.stringMatching(/^[1-9][0-9]{0,4}$/),
          ),
          fc.record({ sms: fc.nat(500), mms: fc.nat(500) }, { requiredKeys: [] }),
        ),
      }),
    );
    fc.assert(
      fc.property(query, ({ number, rates }) => {
        const matching = Object.entries(rates)
          .filter(([prefix, { sms }]) => number.startsWith(prefix) && sms !== undefined)
          .sort(([a], [b]) => b.length - a.length);
        expect(price(`+${number}`, rates)).toBe(matching[0]?.[1].sms ?? 30);
      }),
      RUNS,
    );
  });
});

test('a message costs its parts times the price per part', () => {
  expect(messageCost(1, 15)).toBe(15);
  expect(messageCost(3, 14)).toBe(42);
});

describe('country rates', () => {
  test('lose a plus, and a bare number is the price of a part', () => {
    expect(normaliseCountryRates({ '+49': 25, '33': { sms: 20, vms: 60 }, '+1': { mms: 0 } })).toEqual({
      '49': { sms: 25 },
      '33': { sms: 20, vms: 60 },
      '1': { mms: 0 },
    });
    expect(normaliseCountryRates({})).toEqual({});
  });

  test('once normalised stay as they are', () => {
    const rates = fc.dictionary(fc.stringMatching(/^\+[1-9][0-9]{0,14}$/), fc.nat());
    fc.assert(
      fc.property(rates, (input) => {
        const once = normaliseCountryRates(input);
        expect(normaliseCountryRates(once)).toEqual(once);
      }),
      RUNS,
    );
  });

  test.each([
    [null, 'country_rates'],
    ['49', 'country_rates'],
    [{ '': 1 }, 'country_rates.'],
    [{ DE: 1 }, 'country_rates.DE'],
    [{ '++49': 1 }, 'country_rates.++49'],
    [{ '1234567890123456': 1 }, 'country_rates.1234567890123456'],
    [JSON.parse('{"__proto__": 1}'), 'country_rates.__proto__'],
    [{ '49': 1, '+49': 2 }, 'country_rates.+49'],
    [{ '49': -1 }, 'country_rates.49'],
    [{ '49': 1.5 }, 'country_rates.49'],
    [{ '49': NaN }, 'country_rates.49'],
    [{ '49': '25' }, 'country_rates.49'],
    [{ '49': {} }, 'country_rates.49'],
    [{ '49': { sms: '25' } }, 'country_rates.49.sms'],
    [{ '49': { sms: 2 ** 53 } }, 'country_rates.49.sms'],
    [{ '49': { fax: 1 } }, 'country_rates.49.fax'],
  ])('%j is refused, naming %s', (input: unknown, field) => {
    expect(() => normaliseCountryRates(input)).toThrow(DomainError);
    expect(() => normaliseCountryRates(input)).toThrow(
      expect.objectContaining({ name: 'DomainError', field }),
    );
  });

  // What staff read behind the option that they gave.
  test.each([
    [{ '0049': 1 }, /prefix.* 1 to 15 digits.* not 0/],
    [{ '49': 1, '+49': 2 }, /prefix.* twice/],
    [{ '49': { fax: 1 } }, /sms, mms and vms/],
    [{ '49': { sms: -1 } }, /whole, non-negative.* grosze/],
  ])('the refusal of %j says what is needed', (input: unknown, fault) => {
    expect(() => normaliseCountryRates(input)).toThrow(fault);
  });
});

describe('a top-up', () => {
  test.each([
    [0, null],
    [49_99, null],
    [50_00, 15],
    [99_99, 15],
    [100_00, 14],
    [499_99, 14],
    [500_00, 10],
    [10_000_00, 10],
    [NaN, null],
  ])('of %i grosze buys the rate %s', (amount, rate) => {
    expect(rateAfterTopUp(Infinity, amount)).toBe(rate);
  });

  test('never raises the price, and lowers it to the tier', () => {
    expect(rateAfterTopUp(15, 500_00)).toBe(10);
    expect(rateAfterTopUp(10, 50_00)).toBe(10);
    expect(rateAfterTopUp(7, 500_00)).toBe(7);
    expect(rateAfterTopUp(10, 49_99)).toBeNull();
  });
});
