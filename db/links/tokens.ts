import { randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A random token of letters and digits, for public links: about 6 bits a character. */
export function randomToken(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** Whether a text has the form of such a token; what has not need not be looked for. */
export function isToken(text: string, length: number): boolean {
  return text.length === length && /^[0-9A-Za-z]+$/.test(text);
}
