import { storable } from '../../domain/inbound.ts';

export type ReceiptField = 'id' | 'sub' | 'dlvrd' | 'submit date' | 'done date' | 'stat' | 'err';

// Names stand at the beginning of a word; in between SMSCs write spaces, underscores, commas or semicolons.
const NAME = /(?<![a-z0-9_-])(id|sub|dlvrd|submit[ _]?date|done[ _]?date|stat|err|text)\s*:/gi;
const READ = 1_000;
const LONGEST_VALUE = 65;

/**
 * The fields of a receipt in words (SMPP 3.4, Appendix B): `id:… sub:001 dlvrd:001 submit date:… done date:… stat:DELIVRD
 * err:000 text:…`, with any of them missing, in any case and order; of a name that stands twice, the first. What follows
 * `text:` is the message's own and is not read.
 *
 * @returns values without spaces around them, at most 65 characters each; '' where only the name is there
 */
export function receiptFields(text: string): ReadonlyMap<ReceiptField, string> {
  const fields = new Map<ReceiptField, string>();
  const names = [...text.slice(0, READ).matchAll(NAME)];
  for (const [index, match] of names.entries()) {
    const name = (match[1] ?? '').toLowerCase().replace(/(submit|done).*/, '$1 date');
    if (name === 'text') break;
    const end = names[index + 1]?.index ?? READ;
    const field = name as ReceiptField;
    if (!fields.has(field)) fields.set(field, valueOf(text.slice(match.index + match[0].length, end)));
  }
  return fields;
}

/** The first word: some SMSCs put fields of their own behind one of these. */
function valueOf(said: string): string {
  return storable(/[^\s,;|]+/.exec(said)?.[0] ?? '').slice(0, LONGEST_VALUE);
}
