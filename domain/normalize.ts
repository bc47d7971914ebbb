import anyAscii from 'any-ascii';
import { composed } from './composed.ts';
import { septetsOf } from './gsm7.ts';

// What ASCII has and GSM-7 has not; its other control characters, which no phone shows, are left out.
const FROM_ASCII = new Map([
  ['`', "'"],
  ['\t', ' '],
]);

/**
 * Brings a whole text into GSM-7 (v1.2.0, POST /v1/sms, `normalize`): Polish letters lose their diacritics, typographic marks
 * become plain ones, other scripts are transliterated, emoji named. What GSM-7 has stays as it is, é and € among it. A letter
 * written as a base and a combining mark counts as one.
 */
export function normalize(text: string): string {
  let normalized = '';
  for (const char of composed(text)) {
    if (septetsOf(char) > 0) normalized += char;
    else for (const plain of anyAscii(char)) normalized += inGsm7(plain);
  }
  return normalized;
}

function inGsm7(ascii: string): string {
  return septetsOf(ascii) > 0 ? ascii : (FROM_ASCII.get(ascii) ?? '');
}
