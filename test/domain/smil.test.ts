import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { faultOfSmil, escapeXml, unescapeXml, SMIL_MAX } from '../../domain/smil.ts';

const IMAGE = '<img src="https://cdn.example.com/a.jpg"/>';
const body = (inside: string) => `<smil><body>${inside}</body></smil>`;
const whatIn = (smil: string) => {
  const fault = faultOfSmil(smil);
  return fault?.reason === 'smil_malformed' ? fault.what : fault;
};

describe('SMIL', () => {
  it.each([
    body(IMAGE),
    `<?xml version="1.0" encoding="UTF-8"?>\n${body(`<par dur="5s">${IMAGE}</par>`)}\n`,
    `<smil xmlns="http://www.w3.org/2001/SMIL20/Language"><head><meta name="a" content="b"/><layout>
      <root-layout width="100%" height="100%"/><region id="I" left="0" top="0" width="100%" height="60%" fit="meet"/>
      </layout></head><body><par dur="8s"><img src="https://cdn.example.com/a.jpg?x=1&amp;y=2" region="I" alt="ż"/>
      <audio src="https://cdn.example.com/a.mp3" begin="1s"/><text region="T">Dzień dobry {{imie}} &amp; &#380;</text></par>
      <seq><video src="https://cdn.example.com:8443/a.3gp"/><text src="https://cdn.example.com/a.txt"/></seq></body></smil>`,
    body('<text>{{link:https://example.com/?a=1}} {{wypisz}}</text>'),
  ])('is taken: %s', (smil) => {
    expect(faultOfSmil(smil)).toBeNull();
  });

  it('may have braces in attributes where they are text', () => {
    const literal = body('<text region="{{imie}}">x {{</text><img src="https://cdn.example.com/{{a}}.jpg"/>');
    expect(faultOfSmil(literal, true)).toBeNull();
    expect(faultOfSmil(literal)).toMatchObject({ what: 'placeholder', name: 'region' });
    expect(faultOfSmil(body('<img src="https://{{host}}/a.jpg"/>'), true)).toMatchObject({
      what: 'source_address',
    });
  });

  it.each([
    ['not_xml', ''],
    ['not_xml', 'Dzień dobry'],
    ['not_xml', body('<par>')],
    ['not_xml', body(`${IMAGE}&nbsp;`)],
    ['not_xml', body('<text>\u0001</text>')],
    ['not_xml', body('<text>&#0;</text>')],
    ['not_xml', `${body(IMAGE)}<smil/>`],
    ['construct', `<!DOCTYPE smil [<!ENTITY a "b">]>${body('<text>&a;</text>')}`],
    ['construct', `<?php echo 1 ?>${body(IMAGE)}`],
    ['construct', body(`<!-- {{imie}} -->${IMAGE}`)],
    ['construct', body('<text><![CDATA[{{imie}}]]></text>')],
    ['element', '<html/>'],
    ['element', body('<script src="https://cdn.example.com/a.js"/>')],
    ['element', body(`<smil><body>${IMAGE}</body></smil>`)],
    ['element', `<smil><body>${IMAGE}</body><body>${IMAGE}</body></smil>`],
    ['element', body(`<text>${IMAGE}</text>`)],
    ['element', body('<constructor/>')],
    ['attribute', body('<par href="https://example.com"/>')],
    ['attribute', body('<img xlink:href="https://example.com" src="https://cdn.example.com/a.jpg"/>')],
    ['placeholder', body('<img src="https://cdn.example.com/{{imie}}.jpg"/>')],
    ['placeholder', body('<text region="{{imie}}">x</text>')],
    ['source_missing', body('<img/>')],
    ['text_misplaced', body(`{{imie}}${IMAGE}`)],
    ['text_misplaced', `<smil>x${body(IMAGE).slice(6)}`],
    ['media_missing', '<smil><body><par/></body></smil>'],
    ['too_deep', body('<par>'.repeat(8) + IMAGE + '</par>'.repeat(8))],
    ['too_large', body(IMAGE.repeat(51))],
    ['too_large', body(`${IMAGE}${'<par/>'.repeat(198)}`)],
  ])('%s: %s', (what, smil) => {
    expect(whatIn(smil)).toBe(what);
  });

  it.each([
    'http://cdn.example.com/a.jpg',
    'a.jpg',
    'data:,x',
    'https://127.0.0.1/a.jpg',
    'https://localhost/a.jpg',
    'https://user:pass@cdn.example.com/a.jpg',
    'https://cdn.example.com:22/',
    ' https://cdn.example.com/a.jpg',
    '',
  ])('a medium at %s is refused', (src) => {
    expect(whatIn(body(`<img src="${src}"/>`))).toBe('source_address');
  });

  it('is judged to the last element, and its line is named', () => {
    expect(faultOfSmil(body(IMAGE.repeat(50)))).toBeNull();
    expect(faultOfSmil(body(`${IMAGE}${'<par/>'.repeat(197)}`))).toBeNull();
    expect(faultOfSmil(body('<par>'.repeat(5) + IMAGE + '</par>'.repeat(5)))).toBeNull();
    expect(faultOfSmil(`<smil>\n<body>\n${IMAGE}\n<b/>\n</body></smil>`)).toEqual({
      ...{ reason: 'smil_malformed', what: 'element', line: 4, name: 'b' },
    });
  });

  it('whatever it is, is read without an error of ours, soon', () => {
    const piece = fc.constantFrom(
      ...[
        '<smil>',
        '</smil>',
        '<body>',
        '</body>',
        '<par>',
        '</par>',
        IMAGE,
        '<text>',
        '</text>',
        '<!--',
        '-->',
      ],
      ...[
        '<![CDATA[',
        ']]>',
        '&',
        ';',
        '<',
        '>',
        '"',
        '{{',
        '}}',
        '<?',
        '?>',
        'ż',
        '\ud800',
        '\0',
        '<!DOCTYPE a [',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(() => faultOfSmil(pieces.join(''))).not.toThrow();
      }),
    );
    expect(faultOfSmil('<!DOCTYPE a [<!--\n--\ud800')).toMatchObject({ what: 'not_xml', line: 2 });
    for (const hostile of ['<par>', '&amp;', '<a ', '<!--', ' x="{{"', '<![CDATA['])
      expect(faultOfSmil(hostile.repeat(SMIL_MAX / hostile.length))).not.toBeNull();
  });
});

describe('a value in SMIL', () => {
  it('is read out of it as an XML reader reads it, each reference once', () => {
    expect(unescapeXml('a?b=1&amp;c=&#50;&#x26;d=&#x0003D;&lt;&gt;&quot;&apos;')).toBe('a?b=1&c=2&d==<>"\'');
    expect(unescapeXml('&amp;amp; &amp;#38;')).toBe('&amp; &#38;');
    expect(unescapeXml('&#x10FFFF;&#1114111;')).toBe('\u{10ffff}\u{10ffff}');
    // None of these is a reference that a document can have.
    for (const other of ['&', '&AMP;', '&nbsp;', '&#x110000;', '&#99999999999;', '&#x;', '&#X26;', '&amp'])
      expect(unescapeXml(other)).toBe(other);
    const storable = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(storable, (value) => {
        expect(unescapeXml(escapeXml(value))).toBe(value);
      }),
    );
  });

  it('is text, and never markup, whatever it says', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', ']]>', '<b/>', '&amp;', '"\''),
        (value, more) => {
          const read: string[] = [];
          const reader = new SaxesParser();
          reader.on('error', (error) => {
            throw error;
          });
          reader.on('text', (text) => read.push(text));
          const tags: string[] = [];
          reader.on('opentag', ({ name }) => tags.push(name));
          reader.write(`<text>${escapeXml(value + more)}</text>`).close();
          expect(tags).toEqual(['text']);
          const kept = (value + more)
            .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '')
            .replace(/\r\n?/g, '\n');
          expect(read.join('')).toBe(kept);
        },
      ),
    );
  });
});
