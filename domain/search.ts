import { emailAddress } from './email/address.ts';
import { ID_BODY, ID_PREFIXES, storable } from './ids.ts';
import { parseAddress, withoutSeparators } from './msisdn.ts';
import { canonicalText } from './text.ts';

/** What a text that staff were given may mean; all of it at once, as for the digits of a number or of an SMSC's id. */
export interface Sought {
  /** Ours, wherever they are in the text. If there are any, nothing else is sought. */
  ids: string[];
  /** E.164 with plus. */
  msisdn: string | null;
  address: string | null;
  /** A name, a reference, an id of somebody else's. */
  text: string | null;
  /** The text as providers may have written it that use it as an id. */
  providerIds: string[];
  /** Of a short link, or one to opt out. */
  token: string | null;
}

/** Longest text that is read, in UTF-16 code units: a line of a log. */
export const SOUGHT_MAX = 10_000;
const IDS_MAX = 20;
// Longer than whatever is stored of what can be sought.
const TEXT_MAX = 255;
const IDS = new RegExp(`(?:${ID_PREFIXES.join('|')})_${ID_BODY}(?![0-9a-z])`, 'gi');
const SCHEME = /^(?:tel|sms|mailto):/i;
const TRUNK_ZERO = /^(?:\+?48)?0(?=[1-9][0-9]{8}$)/;
// Alone, or at the end of a URL, with what a mail program may have caught behind it.
const TOKEN = /(?:^|\/)([0-9A-Za-z]{8,10})(?![0-9A-Za-z/])[^/]*$/;
const PROVIDER_ID_MAX = 65;
const DECIMAL = /^[0-9]+$/;
const HEXADECIMAL = /^[0-9a-f]+$/;

/** Reads what was typed or pasted: a line of a log, a URL, an id of a workflow, a number in any form. */
export function readSought(pasted: string): Sought {
  const ids = [...new Set((pasted.match(IDS) ?? []).map((id) => id.toLowerCase()))].slice(0, IDS_MAX);
  const nothing = { msisdn: null, address: null, text: null, providerIds: [], token: null };
  const text = canonicalText(storable(pasted)).replace(/\s+/gu, ' ').trim();
  if (ids.length > 0 || text === '' || text.length > TEXT_MAX) return { ids, ...nothing };
  const bare = text.replace(SCHEME, '');
  return {
    ids,
    msisdn: parseAddress(withoutSeparators(bare).replace(TRUNK_ZERO, '')),
    address: emailAddress(bare.replace(/^.*<(.*)>$/, '$1')),
    text,
    providerIds: text.length > PROVIDER_ID_MAX ? [text] : providerIdsOf(text),
    token: TOKEN.exec(text)?.[1] ?? null,
  };
}

/** As quoted, and as an SMSC may have written it elsewhere: in the other base, in another case, without leading zeros. */
function providerIdsOf(id: string): string[] {
  const lower = id.toLowerCase();
  const digits = withoutZeros(lower.replace(/^0x/, ''));
  const number = HEXADECIMAL.test(digits) ? BigInt(`0x${digits}`).toString() : null;
  const hexadecimal = DECIMAL.test(id) ? BigInt(id).toString(16) : null;
  const forms = [
    id,
    id.toUpperCase(),
    withoutZeros(lower),
    digits,
    number,
    hexadecimal,
    hexadecimal?.toUpperCase(),
  ];
  return [...new Set(forms.filter((form) => typeof form === 'string'))];
}

function withoutZeros(id: string): string {
  return id.replace(/^0+(?=.)/, '');
}
