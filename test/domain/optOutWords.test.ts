import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOptOut, OPT_OUT_WORDS } from '../../domain/keywords.ts';
import { computedMs } from '../support/computed.ts';

describe('a reply unsubscribes', () => {
  test.each([
    ...['STOP', 'stop', 'Stop', 'sToP', 'WYPISZ', 'wypisz', 'NIE', 'nie', 'Nie'],
    ...[
      ' STOP ',
      '\tstop\r\n',
      '"STOP"',
      '„stop”',
      '«Nie»',
      "'nie'",
      '(wypisz)',
      'STOP.',
      'Stop!!!',
      'nie…',
      'NIE?',
    ],
    ...['🛑 STOP 🛑', 'stop🙏', 'nie 😀', '❌nie', '- nie', '*STOP*', '#stop', '¡stop!', 'stop :)'],
    ...['stop\u00a0', '\ufeffSTOP', 'ST\u200bOP', 'stop\u200d', '\u202estop\u202c', 'STOP\u0301'],
    ...['ＳＴＯＰ', 'ｓｔｏｐ', '🅂🅃🄾🄿', '𝐒𝐓𝐎𝐏', 'Ⓝⓘⓔ', 'stóp', 'STÖP', 'nié'],
    ...[
      'STOP SMS',
      'wypisz mnie',
      'Wypisz mnie, proszę!',
      'WYPISZ SIĘ',
      'wypisz sie',
      'Stop, dziękuję.',
      'stop dzieki',
    ],
    ...['STOP STOP', 'stop, wypisz mnie', 'WYPISZ PROSZE MNIE SMS'],
  ])('%j', (text) => {
    expect(isOptOut(text)).toBe(true);
  });
});

describe('a reply does not unsubscribe', () => {
  test.each([
    ...['', ' ', '!!!', '😀', 'TAK', 'tak', '1'],
    ...[
      'Nie, dziękuję',
      'nie dziekuje',
      'nie przyjdę',
      'Nie, nie',
      'NIE STOP',
      'nie wiem',
      'nie teraz',
      'Tak czy nie?',
    ],
    ...[
      'stop przy sklepie',
      'Przystanek: stop',
      'proszę stop',
      'non stop',
      'stop 12',
      'STOP, ale dopiero jutro',
    ],
    ...[
      'niestety',
      'STOPKA',
      'stopy',
      'nonstop',
      'wypiszcie',
      'WYPISZ RECEPTĘ',
      'wypisz mi fakturę',
      'anie',
      'NIEMA',
    ],
    ...['S T O P', 'S.T.O.P', 'STOP1', '1STOP', 'N-I-E', 'n i e', 'STOP_SMS2', 'stopsms'],
    ...['mnie', 'sms', 'proszę', 'SMS STOP'],
  ])('%j', (text) => {
    expect(isOptOut(text)).toBe(false);
  });
});

describe('a long reply', () => {
  test('of up to 1,000 characters unsubscribes as a short one does, a longer one never', () => {
    for (const word of OPT_OUT_WORDS) {
      expect(isOptOut(word.padEnd(1_000, '!'))).toBe(true);
      expect(isOptOut(word.padEnd(1_001, '!'))).toBe(false);
      expect(isOptOut(`Dzień dobry, ${word} `.repeat(100))).toBe(false);
    }
  });
});

describe('properties', () => {
  const word = fc.constantFrom(...OPT_OUT_WORDS);
  const around = fc
    .array(fc.constantFrom(...' \t\n.,!?;:-–—…"\'„”«»()[]*#@&/\\|🛑😀🙏❌\u00a0\u200b\ufeff'), {
      maxLength: 8,
    })
    .map((signs) => signs.join(''));

  test('signs, spaces and emoji around a word change nothing, nor does the case of its letters', () => {
    fc.assert(
      fc.property(
        around,
        word,
        around,
        fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
        (a, w, b, upper) => {
          const mixed = [...w].map((letter, i) => (upper[i] ? letter : letter.toLowerCase())).join('');
          return isOptOut(a + mixed + b);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a letter or digit attached to a word makes it another word', () => {
    const more = fc.stringMatching(/^[a-zA-Z0-9ąćęłńóśźżĄĆĘŁŃÓŚŹŻ]{1,5}$/);
    fc.assert(
      fc.property(word, more, fc.boolean(), (w, letters, before) => {
        const text = before ? letters + w : w + letters;
        return !isOptOut(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test('NIE followed by any word is an answer', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-ząćęłńóśźż]{1,8}$/), (next) => !isOptOut(`Nie, ${next}`)),
      { numRuns: 1_000 },
    );
  });

  test('no text breaks it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 200 }),
        (text) => typeof isOptOut(text) === 'boolean',
      ),
      { numRuns: 2_000 },
    );
  });

  test('no text takes it long', () => {
    const took = computedMs(() => {
      for (const unit of ['!', ' ', 'stop ', '\u0301\u0323', '🛑', 'a'])
        for (const times of [400, 40_000]) isOptOut('STOP' + unit.repeat(times));
    });
    expect(took).toBeLessThan(500);
  });
});
