import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Channel, CHANNELS, DEFAULT_CHANNEL } from '../../domain/channelDeclaration.ts';
import { mms } from '../../domain/channels/mms.ts';
import { vms, VOICES, voiceContentOf } from '../../domain/channels/vms.ts';
import { declareChannel, rulesOf } from '../../domain/channels.ts';
import { applySplit, encodeSplit, splitIntoParts } from '../../domain/sms.ts';

const sms = rulesOf('sms');

describe('an SMS', () => {
  test('is cut as it was counted, whatever its text', () => {
    const texts = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '€', '^', ' '), maxLength: 900 }),
      fc.string({ unit: fc.constantFrom('a', '€', 'ż', '😀', ' '), maxLength: 900 }),
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

  test.each(['', 'gsm8', 'gsm7:', 'gsm7:1,', 'gsm7:-1', 'ucs2 7', 'xgsm7:1'])('%j is no cut', (note) => {
    expect(() => applySplit('tajne', note)).toThrow(RangeError);
    expect(() => applySplit('tajne', note)).toThrow(`${note} `);
    expect(() => applySplit('tajne', note)).not.toThrow(/tajne/);
  });
});

test('the note of a cut says where parts begin', () => {
  expect(encodeSplit(splitIntoParts('a'.repeat(160)))).toBe('gsm7');
  expect(encodeSplit(splitIntoParts('a'.repeat(310)))).toBe('gsm7:153,306');
  expect(encodeSplit(splitIntoParts('ż'.repeat(71)))).toBe('ucs2:67');
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

describe('what holds for a channel', () => {
  const prices = { pricePerPartGrosze: 15, pricePerMmsGrosze: 40, pricePerVmsGrosze: 22 };

  // v2.3.0, Send, rules 3 and 4, Limits; v1.2.0, POST /v1/vms: a call is from a number. It is read aloud, so it has no links.
  test.each<[Channel, object, number]>([
    [
      'sms',
      { maxParts: 20, priority: true, foreignAtTwice: true, links: true, senderIsNumber: false },
      prices.pricePerPartGrosze,
    ],
    [
      'mms',
      { maxParts: 1, priority: false, foreignAtTwice: false, links: true, senderIsNumber: false },
      prices.pricePerMmsGrosze,
    ],
    [
      'vms',
      { maxParts: 1, priority: false, foreignAtTwice: false, links: false, senderIsNumber: true },
      prices.pricePerVmsGrosze,
    ],
  ])('%s', (channel, traits, price) => {
    const rules = rulesOf(channel);
    expect(rules).toMatchObject({ channel, ...traits });
    expect(rules.domesticPrice(prices)).toBe(price);
  });

  test('an SMS is what a request means that names no channel', () => {
    expect(CHANNELS).toContain(DEFAULT_CHANNEL);
    expect(DEFAULT_CHANNEL).toBe('sms');
  });

  test.each(['sms', 'vms'] as const)('values stand in the text of a %s as they are', (channel) => {
    const rules = rulesOf(channel);
    for (const text of ['', 'Zażółć & <b> "{{x}}"']) {
      expect(rules.escapeText(text)).toBe(text);
      expect(rules.unescapeText(text)).toBe(text);
      expect(rules.faultOf(text, false)).toBeNull();
    }
  });

  test('values stand in an MMS as text of its markup, which is looked at', () => {
    expect(rulesOf('mms').escapeText('Zażółć & <b>')).toBe('Zażółć &amp; &lt;b&gt;');
    expect(rulesOf('mms').unescapeText('Zażółć &amp; &lt;b&gt;')).toBe('Zażółć & <b>');
    expect(rulesOf('mms').faultOf('no markup', false)).toMatchObject({ reason: 'smil_malformed' });
  });

  test('another declaration takes the place of the one before', () => {
    const stored = { text: 'a b c', content: null };
    declareChannel({ ...vms, longest: 7, measure: () => ({ encoding: 'gsm7', parts: 3, cut: '3' }) });
    try {
      expect(rulesOf('vms').longest).toBe(7);
      expect(rulesOf('vms').measure(stored)).toEqual({ encoding: 'gsm7', parts: 3, cut: '3' });
      expect(rulesOf('mms').longest).toBe(mms.longest);
    } finally {
      declareChannel(vms);
    }
    expect(rulesOf('vms').measure(stored)).toEqual({ encoding: 'ucs2', parts: 1, cut: 'whole' });
  });
});

describe('a call', () => {
  test('is read by ewa, once, unless asked otherwise', () => {
    expect(voiceContentOf(null)).toEqual({ voice: 'ewa', tries: 1 });
    expect(voiceContentOf({ voice: 'maja' })).toEqual({ voice: 'maja', tries: 1 });
    expect(voiceContentOf({ tries: 6 })).toEqual({ voice: 'ewa', tries: 6 });
    expect(VOICES).toEqual(['ewa', 'jacek', 'jan', 'maja']);
  });
});
