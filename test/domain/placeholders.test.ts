import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fillIn,
  firstMalformed,
  isTrackable,
  linkAddresses,
  parsePlaceholders,
  placeholderCount,
  placeholderNames,
  render,
  type Substitutes,
} from '../../domain/placeholders.ts';
import { computedMs } from '../support/computed.ts';

const substitutes = (values: Record<string, string>): Substitutes => ({
  values: new Map(Object.entries(values)),
  optOut: 's.example/o/0123456789',
  link: (url) => `s.example/l/<${url}>`,
  escapeText: (value) => value,
});
const malformedIn = (text: string) => {
  const malformed = firstMalformed(parsePlaceholders(text));
  return malformed === null ? null : [malformed.what, malformed.position, malformed.source];
};
const personalise = (text: string, values: Record<string, string> = {}) =>
  render(parsePlaceholders(text), substitutes(values));

describe('placeholders', () => {
  it.each([
    ['Cześć {{imie}} {{nazwisko}}!', 'Cześć Ala Kot!'],
    ['{{ imie }}{{IMIE}}{{Imie}}', 'AlaAlaAla'],
    ['{{miasto_2}}|{{brak}}|', 'Łódź||'],
    ['{{żabka}} {{z\u0307abka}}', 'kum kum'],
    ['Stop: {{opt_out}} albo {{WYPISZ}}', 'Stop: s.example/o/0123456789 albo s.example/o/0123456789'],
    ['{{link:https://sklep.pl/a?b=c#d}}', 's.example/l/<https://sklep.pl/a?b=c#d>'],
    ['{{ Link: http://x.pl }}', 's.example/l/<http://x.pl>'],
    ['{{{imie}}}', '{Ala}'],
    ['{{imie}}}}', 'Ala}}'],
    ['{ {imie} } {imie}} }} { } {', '{ {imie} } {imie}} }} { } {'],
    ['{"a":{"b":[{"c":1}]},"kto":"{{imie}}"}', '{"a":{"b":[{"c":1}]},"kto":"Ala"}'],
    ['{{\nimie\n}}', 'Ala'],
  ])('%s', (text, result) => {
    const values = { imie: 'Ala', nazwisko: 'Kot', miasto_2: 'Łódź', żabka: 'kum' };
    expect(personalise(text, values)).toBe(result);
  });

  it('never reads a value as a placeholder', () => {
    const hostile = '{{nazwisko}}{{link:https://zly.pl}}{{opt_out}}';
    expect(personalise('{{imie}}', { imie: hostile, nazwisko: 'x' })).toBe(hostile);
    expect(personalise('{{{imie}}}', { imie: '{nazwisko}', nazwisko: 'x' })).toBe('{{nazwisko}}');
    const filled = fillIn(parsePlaceholders('{{a}}{{b}}'), new Map([['a', '{{b}}']]));
    expect(render(filled, substitutes({ b: 'x' }))).toBe('{{b}}x');
    expect(placeholderCount(filled)).toBe(1);
  });

  it('has pieces for what stands there alone', () => {
    expect(parsePlaceholders('')).toEqual([]);
    expect(parsePlaceholders('{{imie}}{{wypisz}}')).toEqual([
      { kind: 'value', key: 'imie' },
      { kind: 'opt-out', key: 'wypisz' },
    ]);
    expect(parsePlaceholders('{{link:https://x.pl}}!{{x')).toEqual([
      { kind: 'link', url: 'https://x.pl' },
      { kind: 'text', text: '!' },
      { kind: 'malformed', what: 'placeholder', source: '{{x', position: 23 },
    ]);
  });

  it('leaves the opt-out link to the service, whatever value is given by its name', () => {
    const values = new Map([
      ['opt_out', 'x'],
      ['wypisz', 'x'],
      ['imie', 'Ala'],
    ]);
    const filled = fillIn(parsePlaceholders('{{imie}}: {{opt_out}} {{wypisz}}'), values);
    expect(render(filled, substitutes({}))).toBe('Ala: s.example/o/0123456789 s.example/o/0123456789');
  });

  it('names those of a template as they are found, each once, in lower case', () => {
    const body = '{{Imie}} {{KOD}} {{imie}} {{wypisz}} {{link:https://x.pl}} {{1}}';
    expect(placeholderNames(body)).toEqual(['imie', 'kod', 'wypisz', '1']);
  });

  it('counts each time one stands, and each address once', () => {
    const pieces = parsePlaceholders(
      '{{imie}} {{imie}} {{opt_out}} {{link:https://x.pl}} {{link:https://x.pl}}',
    );
    expect(placeholderCount(pieces)).toBe(5);
    expect(linkAddresses(pieces)).toEqual(['https://x.pl']);
  });

  it.each([
    ['{{link:}}', 'link', 1],
    ['a {{link:ftp://x.pl}}', 'link', 3],
    ['{{imie}}{{link:x.pl}}', 'link', 9],
    ['{{LINK: a b}}', 'link', 1],
    ['{{link:https://x.pl/?k={{kod}}}}', 'link', 1],
    ['{{imie}} {{ Link : https://x.pl', 'link', 10],
    ['{{link:https://x.pl} {{opt_out}}', 'link', 1],
    ['Cześć {{imie', 'placeholder', 7],
    ['👋🏽 {{imie}', 'placeholder', 4],
    ['{{imie}} {{a-b}}', 'placeholder', 10],
    ['{{imię.nazwisko}}', 'placeholder', 1],
    ['{{}}', 'placeholder', 1],
    ['{{#if imie}}x{{/if}}', 'placeholder', 1],
    ['{{mylink:https://x.pl}}', 'placeholder', 1],
    ['{{imie {{link:x.pl}}', 'placeholder', 1],
    ['\uffff\uffff{{imie', 'placeholder', 3],
    ['{{{{imie}}}}', 'placeholder', 1],
    ['{{{a-b}}}', 'placeholder', 1],
    ['{{imie}}{{', 'placeholder', 9],
    ['{{imie{{', 'placeholder', 1],
    ['{{im{ie}}', 'placeholder', 1],
  ])('finds what begins no placeholder in %s: a %s at %i', (text, what, position) => {
    const source = [...text].slice(position - 1).join('');
    const malformed = malformedIn(text)!;
    expect(malformed.slice(0, 2)).toEqual([what, position]);
    expect(source.startsWith(String(malformed[2]))).toBe(true);
    expect(malformed[2]).toMatch(/^\{\{/);
  });

  it('has addresses read as the text means them, before they are judged', () => {
    const meant = (written: string) => written.replaceAll('&amp;', '&').replaceAll('&quot;', '"');
    const pieces = parsePlaceholders('{{link:https://x.pl/?a&amp;b}} {{link:https://x.pl/?a&b}}', meant);
    expect(linkAddresses(pieces)).toEqual(['https://x.pl/?a&b']);
    expect(firstMalformed(parsePlaceholders('{{link:https://x.pl/&quot;}}', meant))).toMatchObject({
      source: '{{link:https://x.pl/&quot;}}',
    });
  });

  it('`{{link}}` without an address is a name like any other', () => {
    expect(personalise('{{LINK}} {{link }}', { link: 'x' })).toBe('x x');
    expect(placeholderNames('{{Link}}')).toEqual(['link']);
    const filled = fillIn(parsePlaceholders('{{link}}'), new Map([['link', '{{link:https://x.pl']]));
    expect(firstMalformed(filled)).toBeNull();
  });

  it.each([
    ['https://x.pl', true],
    ['HTTP://x.pl/ścieżka?q=ł', true],
    ['https://', false],
    ['https://a:b@x.pl', false],
    ['https://:b@x.pl', false],
    ['xhttps://x.pl', false],
    ['https://x.pl/\u0000', false],
    ['https://x.pl/\ud800', false],
    ['https://x.pl/"', false],
    ['//x.pl', false],
    [`https://x.pl/${'a'.repeat(1987)}`, true],
    [`https://x.pl/${'a'.repeat(1988)}`, false],
    [`https://x.pl/${'ł'.repeat(1000)}`, false],
  ])('%s can be tracked: %s', (url, trackable) => expect(isTrackable(url)).toBe(trackable));

  it('property: text without an opening pair of braces stays as it is, whatever other braces it has', () => {
    const noise = fc.array(fc.constantFrom('{', '}', '}}', ' ', '-', 'imie', '\n', '🙂'), { maxLength: 60 });
    fc.assert(
      fc.property(noise, (parts) => {
        const text = parts.join('').replaceAll(/\{+/g, '{');
        expect(personalise(text)).toBe(text);
        expect(malformedIn(text)).toBeNull();
      }),
    );
  });

  it('property: no braces pair up in what is sent, unless a value brought them; the position is where they stand', () => {
    const part = fc.constantFrom(
      '{',
      '}',
      '{{',
      '}}',
      '{{imie}}',
      'a',
      '-',
      ' ',
      '_',
      '{{link:https://x.pl}}',
      '🙂',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const malformed = malformedIn(text);
        // Every key has a value: one that leaves nothing would bring together the braces beside it.
        const values = Object.fromEntries(placeholderNames(text).map((key) => [key, 'X']));
        if (malformed === null) expect(personalise(text, values)).not.toContain('{{');
        else expect([...text].slice(Number(malformed[1]) - 1).join('')).toMatch(/^\{\{/);
      }),
      { numRuns: 500 },
    );
  });

  it('property: the pieces joined are the text', () => {
    // Keys are trimmed, composed and compared in lower case.
    const plain = (some: string) =>
      some.replaceAll(/\s/gu, '').normalize('NFC').toLowerCase().normalize('NFC');
    const word = fc.constantFrom('imie', 'OPT_OUT', 'link:https://x.pl/a', 'a b', 'link:x', '');
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      word.map((inside) => `{{${inside}}}`),
      fc.constantFrom('{{', '}}', '{'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const text = parts.join('');
        const spelt = parsePlaceholders(text).map((piece) => {
          if (piece.kind === 'text') return piece.text;
          if (piece.kind === 'link') return `{{link:${piece.url}}}`;
          return piece.kind === 'malformed' ? piece.source : `{{${piece.key}}}`;
        });
        expect(plain(spelt.join(''))).toBe(plain(text));
      }),
    );
  });

  it('takes a megabyte of braces in its stride', () => {
    for (const text of [
      ...['}'.repeat(1e6), '{'.repeat(1e6), '{{link:'.repeat(1e5), '{{}}'.repeat(2e5)],
      ...['{{-}}{{'.repeat(1e5), 'link:{{ '.repeat(1e5)],
    ])
      expect(personalise(text)).toHaveLength(text.length);
    expect(personalise('{{ {{x}}'.repeat(1e5), { x: '12345' })).toHaveLength(8e5);
  });

  it('reads what is between braces once, however many close behind it', () => {
    const text = `{{${'a'.repeat(40_000)}-${'}}'.repeat(40_000)}`;
    expect(computedMs(() => expect(malformedIn(text)?.[1]).toBe(1))).toBeLessThan(500);
  });
});
