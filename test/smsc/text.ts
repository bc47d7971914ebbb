import { type ShortMessage, TAG } from './wire.ts';

// 3GPP TS 23.038, 6.2.1: the default alphabet in the order of its table, column after column; 0x1B is the escape.
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
// 6.2.1.1: the extension table, after an escape.
const EXTENSION: Record<number, string> = {
  0x0a: '\f',
  0x14: '^',
  0x28: '{',
  0x29: '}',
  0x2f: '\\',
  0x3c: '[',
  0x3d: '~',
  0x3e: ']',
  0x40: '|',
  0x65: '€',
};
const ESCAPE = 0x1b;

/** Every character of the default alphabet, and every one of its extension table. */
export const ALL_OF_GSM7 = {
  basic: BASIC.replace('\u001b', ''),
  extension: Object.values(EXTENSION).join(''),
};

/** A message as a phone would show it. */
interface ShownMessage {
  source: string;
  destination: string;
  text: string;
  parts: number;
}

interface Segment {
  reference: number;
  total: number;
  number: number;
}

/** GSM 7-bit, one septet in each octet; strict: what a phone could not show throws. */
export function decodeGsm7(octets: Buffer): string {
  let text = '';
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at]!;
    if (octet > 0x7f) throw new Error(`octet ${octet} in a text of septets`);
    const char = octet === ESCAPE ? EXTENSION[octets[++at] ?? -1] : BASIC[octet];
    if (char === undefined) throw new Error('an escape that leads nowhere');
    text += char;
  }
  return text;
}

/** @throws on a character outside the alphabet */
export function encodeGsm7(text: string): Buffer {
  const octets = [...text].flatMap((char) => {
    const basic = BASIC.indexOf(char);
    if (basic >= 0) return [basic];
    const extended = Object.entries(EXTENSION).find(([, one]) => one === char);
    if (extended === undefined) throw new Error(`not in the alphabet: ${char}`);
    return [ESCAPE, Number(extended[0])];
  });
  return Buffer.from(octets);
}

/** UCS-2, big-endian; strict: an odd octet or half a surrogate pair throws. */
export function decodeUcs2(octets: Buffer): string {
  if (octets.length % 2 !== 0) throw new Error('half a UCS-2 character');
  const text = Buffer.from(octets).swap16().toString('utf16le');
  if (/\p{Surrogate}/u.test(text)) throw new Error('half a surrogate pair');
  return text;
}

export const encodeUcs2 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

/** The text of one part without its header; reads data_coding 0, 3 and 8, and 0x10 and 0x18 of flash messages. */
export function textOf(message: ShortMessage): string {
  const { content } = split(message);
  if (message.dataCoding === 0 || message.dataCoding === 0x10) return decodeGsm7(content);
  if (message.dataCoding === 3) return content.toString('latin1');
  if (message.dataCoding === 8 || message.dataCoding === 0x18) return decodeUcs2(content);
  throw new Error(`data_coding ${message.dataCoding}`);
}

/** Which part of what: from the user data header (8 or 16-bit reference) or the SAR TLVs; null where it is alone. */
export function partOf(message: ShortMessage): Segment | null {
  const sar = message.tlvs.get(TAG.sarMsgRefNum);
  if (sar) {
    return {
      reference: sar.readUInt16BE(0),
      total: message.tlvs.get(TAG.sarTotalSegments)!.readUInt8(0),
      number: message.tlvs.get(TAG.sarSegmentSeqnum)!.readUInt8(0),
    };
  }
  const { header } = split(message);
  for (let at = 1; at + 1 < header.length; at += 2 + header[at + 1]!) {
    const value = header.subarray(at + 2, at + 2 + header[at + 1]!);
    if (header[at] === 0x00) return { reference: value[0]!, total: value[1]!, number: value[2]! };
    if (header[at] === 0x08) return { reference: value.readUInt16BE(0), total: value[2]!, number: value[3]! };
  }
  return null;
}

/** What phones show of parts in any order; throws where parts contradict one another or one is missing or twice there. */
export function shown(parts: ShortMessage[]): ShownMessage[] {
  const groups = new Map<string, ShortMessage[]>();
  for (const [index, part] of parts.entries()) {
    const segment = partOf(part);
    const own = segment ? `${segment.reference}/${segment.total}` : `alone ${index}`;
    const key = `${part.source} ${part.destination} ${own}`;
    groups.set(key, [...(groups.get(key) ?? []), part]);
  }
  return [...groups.values()].map(join);
}

function join(parts: ShortMessage[]): ShownMessage {
  const { source, destination } = parts[0]!;
  const numbered = parts.map((part) => ({ part, segment: partOf(part) }));
  const total = numbered[0]!.segment?.total ?? 1;
  const inOrder = numbered.sort((a, b) => (a.segment?.number ?? 1) - (b.segment?.number ?? 1));
  const numbers = inOrder.map(({ segment }) => segment?.number ?? 1);
  if (numbers.length !== total || numbers.some((number, index) => number !== index + 1)) {
    throw new Error(`parts ${numbers.join(', ')} of ${total}`);
  }
  return { source, destination, text: inOrder.map(({ part }) => textOf(part)).join(''), parts: total };
}

function split(message: ShortMessage): { header: Buffer; content: Buffer } {
  const data = message.tlvs.get(TAG.messagePayload) ?? message.shortMessage;
  if ((message.esmClass & 0x40) === 0) return { header: Buffer.alloc(0), content: data };
  const end = 1 + (data[0] ?? 0);
  if (end > data.length) throw new Error('a user data header longer than its part');
  return { header: data.subarray(0, end), content: data.subarray(end) };
}
