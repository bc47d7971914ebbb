import { setImmediate } from 'node:timers/promises';

// Characters looked at in one step; four of base64 are three bytes.
const STEP_CHARACTERS = 256 * 1024;
const BACKSLASH = '\\';
const ESCAPE_MOST = '\\u0000'.length;
// How JSON may write a character of base64, and an end of line within it as MIME has it. Some encoders escape + and =.
const ESCAPES = /\\(?:[/nr]|u00[0-7][0-9A-Fa-f])/g;
const CUT_ESCAPE = /\\(?:u[0-9A-Fa-f]{0,3})?$/;

/** A file's bytes, in pieces whose length is a multiple of three, but for the last. */
export interface DecodedFile {
  bytes: number;
  pieces: Buffer[];
}

/** The content of a file in a body: base64, not yet decoded. */
export class EncodedFile {
  readonly #text: Buffer;

  /** @param text what stands between the quotes of the JSON text */
  constructor(text: Buffer) {
    this.#text = text;
  }

  /** Decodes it, and serves others in between. @returns null for what is no base64 (RFC 4648, 4) */
  async decode(): Promise<DecodedFile | null> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let left = '';
    for (let at = 0; at < this.#text.length; at += STEP_CHARACTERS) {
      if (at > 0) await setImmediate();
      const last = at + STEP_CHARACTERS >= this.#text.length;
      const { text, rest } = unescaped(left + this.#text.toString('latin1', at, at + STEP_CHARACTERS), last);
      const piece = decoded(text, last);
      if (piece === null) return null;
      left = rest;
      bytes += piece.length;
      if (piece.length > 0) pieces.push(piece);
    }
    return { bytes, pieces };
  }
}

/** Whole groups of four characters without escapes, and what is left for the next step. */
function unescaped(given: string, last: boolean): { text: string; rest: string } {
  // An escape may go on in the next step.
  const kept = last ? '' : (CUT_ESCAPE.exec(given.slice(-ESCAPE_MOST))?.[0] ?? '');
  const whole = given.slice(0, given.length - kept.length);
  const plain = whole.includes(BACKSLASH) ? whole.replace(ESCAPES, meantBy) : whole;
  const end = last ? plain.length : plain.length - (plain.length % 4);
  return { text: plain.slice(0, end), rest: plain.slice(end) + kept };
}

function meantBy(escape: string): string {
  const meant = JSON.parse(`"${escape}"`) as string;
  return meant === '\n' || meant === '\r' ? '' : meant;
}

/** @returns null for what is no base64, or is padded before its end */
function decoded(text: string, last: boolean): Buffer | null {
  if (text.length % 4 !== 0 || (!last && text.includes('='))) return null;
  // The decoder takes the alphabet of addresses on the web (RFC 4648, 5) as well.
  if (text.includes('-') || text.includes('_')) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  // What is not of the alphabet is left out by the decoder, so that less comes out.
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : null;
}
