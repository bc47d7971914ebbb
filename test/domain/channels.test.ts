import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rulesOf } from '../../domain/channels.ts';
import { cutAsNoted, noteOfCut, splitIntoParts } from '../../domain/parts.ts';

const sms = rulesOf('sms');

describe('an SMS', () => {
  test('is cut as it was counted, whatever its text', () => {
    const texts = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '€', '^', 'ż', '😀', ' '), maxLength: 900 }),
      fc.string({ unit: 'binary', maxLength: 300 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const stored = { text, content: null };
        const { parts, cut, encoding } = sms.measure(stored);
        expect(sms.cutAs(stored, cut)).toEqual(splitIntoParts(text));
        expect([parts, encoding]).toEqual([splitIntoParts(text).parts.length, splitIntoParts(text).encoding]);
        expect(cut.length).toBeLessThanOrEqual(4 + 5 * (parts - 1));
      }),
    );
  });

  test('keeps the cut of a release that cut in another way', () => {
    const stored = { text: 'Dzień dobry', content: null };
    expect(sms.cutAs(stored, 'gsm7:5,6')).toEqual({ encoding: 'gsm7', parts: ['Dzień', ' ', 'dobry'] });
    expect(sms.cutAs(stored, 'ucs2')).toEqual({ encoding: 'ucs2', parts: ['Dzień dobry'] });
  });

  test('that nobody has cut is cut as it would be now', () => {
    expect(sms.cutAs({ text: 'Dzień', content: null }, null)).toEqual({ encoding: 'ucs2', parts: ['Dzień'] });
  });

  test.each(['', 'gsm8', 'gsm7:', 'gsm7:1,', 'gsm7:-1', 'ucs2 7'])('%j is no cut', (note) => {
    expect(() => cutAsNoted('tajne', note)).toThrow(RangeError);
    expect(() => cutAsNoted('tajne', note)).not.toThrow(/tajne/);
  });
});

test('the note of a cut says where parts begin', () => {
  expect(noteOfCut(splitIntoParts('a'.repeat(160)))).toBe('gsm7');
  expect(noteOfCut(splitIntoParts('a'.repeat(310)))).toBe('gsm7:153,306');
  expect(noteOfCut(splitIntoParts('ż'.repeat(71)))).toBe('ucs2:67');
});

describe.each([
  ['mms', { subject: 'Oferta' }, 'Oferta'],
  ['vms', { voice: 'jan', tries: 2 }, null],
] as const)('%s', (channel, content, subject) => {
  const rules = rulesOf(channel);

  test('is one part, submitted as it is, however long', () => {
    const stored = { text: 'ż'.repeat(5_000), content };
    expect(rules.measure(stored)).toEqual({ encoding: 'ucs2', parts: 1, cut: 'whole' });
    expect(rules.cutAs(stored, 'whole')).toEqual({ encoding: 'ucs2', parts: [stored.text] });
    expect(rules.show(stored)).toEqual({ text: stored.text, subject });
  });

  test('shows nothing of one that was erased', () => {
    expect(rules.show({ text: '', content: null })).toEqual({ text: '', subject: null });
  });
});
