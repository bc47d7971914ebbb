import { SaxesParser, type SaxesTagPlain } from 'saxes';
import type { Refusal, SmilFault } from './refusals.ts';
import { faultOfAddress } from './addresses.ts';

/** In characters: it is markup that refers to its media by URL. */
export const SMIL_MAX = 10_000;

const DEPTH_MAX = 8;
const ELEMENTS_MAX = 200;
const MEDIA_MAX = 50;
const ADDRESS_MAX = 2_000;

const SIZE = ['width', 'height'];
const PLACE = ['left', 'top', 'right', 'bottom', 'z-index', 'fit'];
const COLOUR = ['backgroundColor', 'background-color'];
const TIME = ['begin', 'end', 'dur', 'repeatCount', 'fill'];
const EVERYWHERE = ['id', 'title', 'xml:lang'];
const MEDIA = ['img', 'audio', 'video', 'text'];
const MEDIA_ATTRIBUTES = ['src', 'region', 'alt', 'type', ...TIME];

// The accepted subset of SMIL, which MMS clients support (OMA MMS Conformance, 8; SMIL 2.0 Basic): parents (null: root) and attributes.
const SUBSET: Readonly<Record<string, { within: (string | null)[]; attributes: string[] }>> = {
  smil: { within: [null], attributes: ['xmlns'] },
  head: { within: ['smil'], attributes: [] },
  meta: { within: ['head'], attributes: ['name', 'content'] },
  layout: { within: ['head'], attributes: ['type'] },
  'root-layout': { within: ['layout'], attributes: [...SIZE, ...COLOUR] },
  region: { within: ['layout'], attributes: [...SIZE, ...PLACE, ...COLOUR] },
  body: { within: ['smil'], attributes: [] },
  par: { within: ['body', 'par', 'seq'], attributes: TIME },
  seq: { within: ['body', 'par', 'seq'], attributes: TIME },
  ...Object.fromEntries(
    MEDIA.map((name) => [name, { within: ['body', 'par', 'seq'], attributes: MEDIA_ATTRIBUTES }]),
  ),
};
// At most one of each.
const ONCE = ['head', 'layout', 'root-layout', 'body'];

/**
 * Validates a SMIL document, placeholders included: well-formed XML of the subset above, without DOCTYPE, entities of its own, processing
 * instructions, comments and CDATA; media by public https URLs (we fetch none); text and placeholders only within `text`, so that no value
 * changes the markup.
 * @param literal it has no placeholders, and braces are text everywhere
 * @returns the first fault with its line, from 1; null where there is none
 */
export function faultOfSmil(smil: string, literal = false): Refusal | null {
  // The parser throws on half a surrogate pair at the end of a comment within a DOCTYPE.
  const half = smil.search(/\p{Surrogate}/u);
  if (half !== -1) {
    const line = smil.slice(0, half).split('\n').length;
    return { reason: 'smil_malformed', what: 'not_xml', line, name: null };
  }
  const reader = new SaxesParser();
  const open: string[] = [];
  const seen = new Map<string, number>();
  let found: Refusal | null = null;
  const fault = (what: SmilFault, name: string | null = null): void => {
    found ??= { reason: 'smil_malformed', what, line: reader.line, name };
  };

  reader.on('error', () => fault('not_xml'));
  for (const construct of ['doctype', 'processinginstruction', 'comment', 'cdata'] as const) {
    reader.on(construct, () => fault('construct'));
  }
  reader.on('text', (text) => {
    if (text.trim() !== '' && open.at(-1) !== 'text') fault('text_misplaced');
  });
  reader.on('opentag', (tag) => {
    const wrong = faultOfTag(tag, open.at(-1) ?? null, seen, literal);
    if (wrong !== null) fault(wrong.what, wrong.name);
    seen.set(tag.name, (seen.get(tag.name) ?? 0) + 1);
    open.push(tag.name);
    if (open.length > DEPTH_MAX) fault('too_deep');
    if (sum(seen.values()) > ELEMENTS_MAX || mediaOf(seen) > MEDIA_MAX) fault('too_large');
  });
  reader.on('closetag', () => void open.pop());
  // In slices, up to the first fault, so that a hostile document is not parsed to its end.
  for (let at = 0; at < smil.length && found === null; at += SLICE) reader.write(smil.slice(at, at + SLICE));
  if (found === null) reader.close();
  if (!seen.has('body')) fault('body_missing');
  if (mediaOf(seen) === 0) fault('media_missing');
  return found;
}

const SLICE = 1_024;

function faultOfTag(
  { name, attributes }: SaxesTagPlain,
  parent: string | null,
  seen: ReadonlyMap<string, number>,
  literal: boolean,
): { what: SmilFault; name: string } | null {
  const rules = Object.hasOwn(SUBSET, name) ? SUBSET[name] : undefined;
  if (!rules?.within.includes(parent) || (ONCE.includes(name) && seen.has(name))) {
    return { what: 'element', name };
  }
  for (const [attribute, value] of Object.entries(attributes)) {
    if (!rules.attributes.includes(attribute) && !EVERYWHERE.includes(attribute)) {
      return { what: 'attribute', name: attribute };
    }
    if (!literal && value.includes('{{')) return { what: 'placeholder', name: attribute };
  }
  if (!MEDIA.includes(name)) return null;
  const source = attributes['src'];
  if (source === undefined) return name === 'text' ? null : { what: 'source_missing', name };
  const reachable = source.length <= ADDRESS_MAX && faultOfAddress(source, false) === null;
  return reachable ? null : { what: 'source_address', name };
}

function mediaOf(seen: ReadonlyMap<string, number>): number {
  return sum(MEDIA.map((name) => seen.get(name) ?? 0));
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}

// Not allowed in XML in any form (XML 1.0, 2.2).
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Escapes a value as XML text. */
export function escapeXml(value: string): string {
  return value.replace(NOT_IN_XML, '').replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

const REFERENCE = /&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|(?:amp|lt|gt|quot|apos));/g;
const MEANT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ESCAPES).map(([character, escape]) => [escape, character]),
);

/** The reverse of {@link escapeXml}: resolves references (XML 1.0, 4.1 and 4.6); those to no character stay. */
export function unescapeXml(written: string): string {
  return written.replace(REFERENCE, (reference, hex?: string, decimal?: string) => {
    if (hex === undefined && decimal === undefined) return MEANT[reference]!;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= LAST_CHARACTER ? String.fromCodePoint(code) : reference;
  });
}

const LAST_CHARACTER = 0x10ffff;
