import { describe, expect, test } from 'vitest';
import { faultOfSmil } from '../../domain/smil.ts';

const ADDRESS = 'https://cdn.example.com/a';
const IMAGE = `<img src="${ADDRESS}"/>`;
const inHead = (inside: string) => `<smil><head>${inside}</head><body>${IMAGE}</body></smil>`;
const inBody = (inside: string) => `<smil><body>${IMAGE}${inside}</body></smil>`;

const TIMING = ['begin', 'end', 'dur', 'repeatCount', 'fill'];
const OF_MEDIA = ['region', 'alt', 'type', ...TIMING];
const BACKGROUND = ['backgroundColor', 'background-color'];

/** Each element where it may stand, and the attributes of SMIL 2.0 Basic that it may have there. */
const ELEMENTS: readonly [name: string, document: (attributes: string) => string, attributes: string[]][] = [
  ['smil', (given) => `<smil ${given}><body>${IMAGE}</body></smil>`, ['xmlns']],
  ['head', (given) => `<smil><head ${given}/><body>${IMAGE}</body></smil>`, []],
  ['meta', (given) => inHead(`<meta ${given}/>`), ['name', 'content']],
  ['layout', (given) => inHead(`<layout ${given}/>`), ['type']],
  [
    'root-layout',
    (given) => inHead(`<layout><root-layout ${given}/></layout>`),
    ['width', 'height', ...BACKGROUND],
  ],
  [
    'region',
    (given) => inHead(`<layout><region ${given}/></layout>`),
    ['width', 'height', 'left', 'top', 'right', 'bottom', 'z-index', 'fit', ...BACKGROUND],
  ],
  ['body', (given) => `<smil><body ${given}>${IMAGE}</body></smil>`, []],
  ['par', (given) => inBody(`<par ${given}/>`), TIMING],
  ['seq', (given) => inBody(`<seq ${given}/>`), TIMING],
  ['img', (given) => inBody(`<img src="${ADDRESS}" ${given}/>`), OF_MEDIA],
  ['audio', (given) => inBody(`<audio src="${ADDRESS}" ${given}/>`), OF_MEDIA],
  ['video', (given) => inBody(`<video src="${ADDRESS}" ${given}/>`), OF_MEDIA],
  ['text', (given) => inBody(`<text src="${ADDRESS}" ${given}/>`), OF_MEDIA],
];
const OF_ALL = ['id', 'title', 'xml:lang'];
const ATTRIBUTES = new Set(ELEMENTS.flatMap(([, , attributes]) => attributes));

describe('the subset of SMIL', () => {
  test.each(ELEMENTS)('%s has its attributes, those of all elements, and no other’s', (_, document, own) => {
    for (const attribute of [...own, ...OF_ALL]) {
      expect([attribute, faultOfSmil(document(`${attribute}="1"`))]).toEqual([attribute, null]);
    }
    for (const attribute of [...ATTRIBUTES].filter((name) => !own.includes(name))) {
      expect(faultOfSmil(document(`${attribute}="1"`))).toEqual({
        ...{ reason: 'smil_malformed', what: 'attribute', line: 1, name: attribute },
      });
    }
  });

  const PLAYED = ['par', 'seq', 'img', 'audio', 'video', 'text'];
  test.each([
    ['smil', ['head', 'body'], (inside: string) => `<smil>${inside}</smil>`],
    ['head', ['meta', 'layout'], inHead],
    ['layout', ['root-layout', 'region'], (inside: string) => inHead(`<layout>${inside}</layout>`)],
    ['region', [], (inside: string) => inHead(`<layout><region>${inside}</region></layout>`)],
    ['body', PLAYED, inBody],
    ['par', PLAYED, (inside: string) => inBody(`<par>${inside}</par>`)],
    ['img', [], (inside: string) => inBody(`<img src="${ADDRESS}">${inside}</img>`)],
    ['text', [], (inside: string) => inBody(`<text>${inside}</text>`)],
  ])('within %s stand %j alone', (_, within, document) => {
    const standing = ELEMENTS.map(([name]) => name).filter((name) => {
      const fault = faultOfSmil(document(`<${name}/>`));
      return fault?.reason !== 'smil_malformed' || fault.what !== 'element';
    });
    expect(standing).toEqual(ELEMENTS.map(([name]) => name).filter((name) => within.includes(name)));
  });

  test.each([
    ['head', `<smil><head/><head/><body>${IMAGE}</body></smil>`],
    ['layout', inHead('<layout/><layout/>')],
    ['root-layout', inHead('<layout><root-layout/><root-layout/></layout>')],
    ['body', `<smil><body>${IMAGE}</body><body/></smil>`],
  ])('%s stands once', (name, smil) => {
    expect(faultOfSmil(smil)).toMatchObject({ what: 'element', name });
  });

  test.each([
    ['meta', inHead('<meta name="a"/><meta name="b"/>')],
    ['region', inHead('<layout><region id="a"/><region id="b"/></layout>')],
    ['par', inBody('<par/><par/>')],
  ])('%s stands as often as one likes', (_, smil) => {
    expect(faultOfSmil(smil)).toBeNull();
  });

  test('an address has 2,000 characters at most', () => {
    const long = (length: number) => `<img src="${`${ADDRESS}/`.padEnd(length, 'a')}"/>`;
    expect(faultOfSmil(inBody(long(2_000)))).toBeNull();
    expect(faultOfSmil(inBody(long(2_001)))).toMatchObject({ what: 'source_address', name: 'img' });
  });

  test('half a character is no XML, on the line where it stands', () => {
    expect(faultOfSmil(`<smil>\n<body>\n<text>\ud83d</text>\n${IMAGE}\n</body></smil>`)).toEqual({
      ...{ reason: 'smil_malformed', what: 'not_xml', line: 3, name: null },
    });
  });
});
