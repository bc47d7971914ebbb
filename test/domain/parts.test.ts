import fc from 'fast-check';
import { SegmentedMessage } from 'sms-segments-calculator';
import { describe, expect, test } from 'vitest';
import { isGsm7, septetsOf } from '../../domain/gsm7.ts';
import { countParts, MAX_PARTS, splitIntoParts } from '../../domain/sms.ts';

const RUNS = { seed: 230, numRuns: 150 };

/** Weighted towards lengths around one and several parts and towards characters that cost two units. */
function texts(chars: readonly string[]): fc.Arbitrary<string> {
  const length = fc.oneof(
    fc.constantFrom(0, 1, 66, 67, 68, 69, 70, 71, 134, 135, 152, 153, 154, 159, 160, 161, 306, 307),
    fc.integer({ min: 0, max: 700 }),
  );
  return length.chain((n) =>
    fc.array(fc.constantFrom(...chars), { minLength: n, maxLength: n }).map((list) => list.join('')),
  );
}

const GSM_TEXTS = texts(['a', 'Z', '7', ' ', 'à', 'Ω', '\n', '\r', '€', '[', '{', '|']);
const MIXED_TEXTS = texts(['a', 'ą', 'Ł', '€', '中', '😀', '𝔸']);
const ANY_TEXTS = fc.oneof(GSM_TEXTS, MIXED_TEXTS);

function unitsOf(text: string, encoding: string): number {
  if (encoding === 'ucs2') return text.length;
  return [...text].reduce((sum, char) => sum + septetsOf(char), 0);
}

describe('the figures of the specification', () => {
  test.each([
    ['a', 160, 'gsm7', 1],
    ['a', 161, 'gsm7', 2],
    ['a', 306, 'gsm7', 2],
    ['a', 307, 'gsm7', 3],
    ['€', 80, 'gsm7', 1],
    ['€', 81, 'gsm7', 2],
    ['ą', 70, 'ucs2', 1],
    ['ą', 71, 'ucs2', 2],
    ['ą', 134, 'ucs2', 2],
    ['ą', 135, 'ucs2', 3],
    ['😀', 36, 'ucs2', 2],
    ['a', 153 * 20, 'gsm7', MAX_PARTS],
    ['a', 153 * 20 + 1, 'gsm7', MAX_PARTS + 1],
  ])('%s × %i is %s in %i part(s)', (char, times, encoding, parts) => {
    const split = splitIntoParts(char.repeat(times));
    expect([split.encoding, split.parts.length]).toEqual([encoding, parts]);
  });

  test('an empty text is one empty part', () => {
    expect(splitIntoParts('')).toEqual({ encoding: 'gsm7', parts: [''] });
  });

  test('one Polish letter makes the whole text UCS-2, where extended characters count once', () => {
    expect(countParts('a'.repeat(71))).toBe(1);
    expect(countParts('a'.repeat(70) + 'ż')).toBe(2);
    expect(countParts('€'.repeat(69) + 'ż')).toBe(1);
  });
});

test('the parts joined are the text, none is over its capacity, none splits a character', () => {
  fc.assert(
    fc.property(ANY_TEXTS, (text) => {
      const { encoding, parts } = splitIntoParts(text);
      expect(parts.join('')).toBe(text);
      const [single, multi] = encoding === 'gsm7' ? [160, 153] : [70, 67];
      const capacity = parts.length === 1 ? single : multi;
      for (const part of parts) {
        expect(unitsOf(part, encoding)).toBeLessThanOrEqual(capacity);
        expect(part).not.toMatch(/\p{Surrogate}/u);
      }
    }),
    RUNS,
  );
});

/** A segment of the calculator lists its characters after the header's octets, which have no `raw`. */
function textOfSegment(segment: Iterable<unknown>): string {
  return [...(segment as Iterable<{ raw?: string }>)].map(({ raw }) => raw ?? '').join('');
}

test('agrees with an independent calculator on encoding, count and every part', () => {
  fc.assert(
    fc.property(ANY_TEXTS, (text) => {
      const oracle = new SegmentedMessage(text, 'auto', false);
      const split = splitIntoParts(text);
      expect(split.parts).toEqual(oracle.segments.map(textOfSegment));
      expect(split.encoding).toBe(oracle.encodingName === 'GSM-7' ? 'gsm7' : 'ucs2');
    }),
    RUNS,
  );
});

test('lone surrogates neither break the cut nor get lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(299), (text, at) => {
      const broken = `${text.slice(0, at)}\ud83d${text.slice(at)}`;
      expect(splitIntoParts(broken).parts.join('')).toBe(broken);
    }),
    { ...RUNS, numRuns: 100 },
  );
});

describe('against the independent calculator', () => {
  test('every GSM-7 character is cut alike at the ends of one and of two parts', () => {
    const chars = Array.from({ length: 0xffff }, (_, code) => String.fromCharCode(code)).filter(isGsm7);
    expect(chars).toHaveLength(137);
    for (const char of chars) {
      for (const letters of [152, 153, 159, 160]) {
        const text = `${'a'.repeat(letters)}${char}b`;
        expect(countParts(text), JSON.stringify(text)).toBe(oracleParts(text));
      }
    }
  });

  test.each(['€', 'ż', '😀', '[€]'])('letters to the end of one to three parts before %s', (end) => {
    for (const capacity of [67, 70, 134, 153, 160, 201, 306, 459]) {
      for (let length = capacity - 6; length <= capacity + 2; length += 1) {
        const text = 'a'.repeat(length) + end;
        expect(countParts(text), `${length} letters`).toBe(oracleParts(text));
      }
    }
  });

  function oracleParts(text: string): number {
    return new SegmentedMessage(text, 'auto', false).segments.length;
  }
});
