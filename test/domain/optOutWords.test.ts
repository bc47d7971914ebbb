import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOptOut, OPT_OUT_WORDS } from '../../domain/keywords.ts';
import { computedMs } from '../support/computed.ts';

describe('a reply unsubscribes', () => {
  test.each([
    ...['STOP', 'sToP', 'WYPISZ', 'Nie', '\tstop\r\n', '„stop”', 'nie…', '🛑 STOP 🛑', '❌nie', '- nie'],
    ...['¡stop!', '\ufeffSTOP', 'ST\u200bOP', '\u202estop\u202c', 'STOP\u0301', 'ＳＴＯＰ', '🅂🅃🄾🄿'],
    ...['𝐒𝐓𝐎𝐏', 'Ⓝⓘⓔ', 'STÖP', 'STOP SMS', 'Wypisz mnie, proszę!', 'WYPISZ SIĘ', 'Stop, dziękuję.'],
    ...['stop dzieki', 'STOP STOP', 'WYPISZ PROSZE MNIE SMS'],
    ...['STOP\n\nWysłane z iPhone’a', 'Stop\r\n-- \r\nJan Kowalski\r\ntel. 500 100 200', 'STOP\nJan'],
    ...['> Promocja! Rezygnacja: STOP\n\nstop', 'W dniu 28.11.2026 SKLEP napisał(a):\n> Promocja\n\nWYPISZ'],
    ...[
      'NIE\nWysłano z mojego Galaxy',
      'Nie\n> Czy potwierdzasz?',
      'nie\n___\nJan',
      'NIE\nOn Fri, Shop wrote:\n> A',
    ],
    ...['Stop. Thank you', 'STOP Wysłane z iPhone’a', 'Wypisz. Pozdrawiam, Jan'],
    ...['Nie\nPozdrawiam\nJan', 'NIE\n\nOd: SKLEP\nWysłano: piątek\nTemat: Promocja'],
    'STOP\nSent from my Samsung Galaxy smartphone\n-------- Original message --------\nFrom: SKLEP',
    ...[`STOP\n${'> dawna treść\n'.repeat(200)}`],
  ])('%j', (text) => {
    expect(isOptOut(text)).toBe(true);
  });
});

describe('a reply does not unsubscribe', () => {
  test.each([
    ...['We have got to STOP this!', 'Liked “Rezygnacja: STOP”', 'Nie, pozdrawiam', 'Stop-klatka'],
    ...['STOP 12345', 'STOP -- ale dopiero jutro', 'Stop, wysłane dane są błędne'],
    ...['', '!!!', '😀', 'tak', 'Nie, dziękuję', 'Nie, nie', 'NIE STOP', 'Tak czy nie?'],
    ...['stop przy sklepie', 'proszę stop', 'stop 12', 'STOP, ale dopiero jutro', 'niestety'],
    ...['nonstop', 'WYPISZ RECEPTĘ', 'anie', 'S T O P', 'S.T.O.P', '1STOP', 'N-I-E', 'STOP_SMS2'],
    ...[
      'stopsms',
      'mnie',
      'SMS STOP',
      '> STOP',
      '> STOP\ntak, przyjdę',
      'Przyjdę\n-- \nSTOP',
      'Nie\nmogę jutro',
    ],
  ])('%j', (text) => {
    expect(isOptOut(text)).toBe(false);
  });
});

test.each([
  ['STOP SKLEP', true],
  ['stop, sklep!', true],
  ['Wypisz mnie z: SKLEP', false],
  ['STOP Mój-Sklep.pl', true],
  ['STOP moj sklep pl proszę', true],
  ['STOP +48 500 600 700', true],
  ['STOP 500600700', true],
  ['STOP 500600701', false],
  ['STOP INNY', false],
  ['STOP SKLEP jutro', false],
  ['NIE SKLEP', false],
])('%j to SKLEP unsubscribes: %s', (text, expected) => {
  expect(isOptOut(text, ['SKLEP', 'Moj-Sklep.pl', '+48500600700'])).toBe(expected);
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
      { numRuns: 500 },
    );
  });

  test('a letter or digit attached to a word makes it another word', () => {
    const more = fc.stringMatching(/^[a-zA-Z0-9ąćęłńóśźżĄĆĘŁŃÓŚŹŻ]{1,5}$/);
    fc.assert(
      fc.property(word, more, fc.boolean(), (w, letters, before) => {
        const text = before ? letters + w : w + letters;
        return !isOptOut(text);
      }),
      { numRuns: 500 },
    );
  });

  test('NIE followed by any word is an answer', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-ząćęłńóśźż]{1,8}$/), (next) => !isOptOut(`Nie, ${next}`)),
      { numRuns: 200 },
    );
  });

  test('no text takes it long', () => {
    const took = computedMs(() => {
      for (const unit of ['!', ' ', 'stop ', '\u0301\u0323', '🛑', 'a', '\n-', ': ', '\n>', ' --', ' sent'])
        for (const times of [400, 40_000]) isOptOut('STOP' + unit.repeat(times));
    });
    expect(took).toBeLessThan(500);
  });
});
