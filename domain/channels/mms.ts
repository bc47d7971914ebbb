import type { Declaration } from '../channelDeclaration.ts';
import { faultOfSmil, escapeXml, unescapeXml, SMIL_MAX } from '../smil.ts';

/** In characters: the limit of SMSAPI.pl (its error 26). */
export const SUBJECT_MAX = 30;

interface MmsContent {
  /** Empty after erasure. */
  subject: string;
}

export function mmsContentOf(content: object | null): MmsContent {
  return { subject: '', ...content };
}

// Never split. The encoding does not matter: the provider gets the markup as it is.
const WHOLE = { encoding: 'ucs2', cut: 'whole' } as const;

/** An MMS is one part: SMIL and a subject (v1.2.0, POST /v1/mms; v2.3.0, Send). */
export const mms: Declaration<MmsContent & { smil: string }> = {
  channel: 'mms',
  maxParts: 1,
  longest: SMIL_MAX,
  priority: false,
  foreignAtTwice: false,
  links: true,
  senderIsNumber: false,
  domesticPrice: (prices) => prices.pricePerMmsGrosze,
  escapeText: escapeXml,
  unescapeText: unescapeXml,
  faultOf: faultOfSmil,
  read: ({ text, content }) => ({ smil: text, ...mmsContentOf(content) }),
  measure: () => ({ ...WHOLE, parts: 1 }),
  cutAs: ({ smil }) => ({ encoding: WHOLE.encoding, parts: [smil] }),
  show: ({ smil, subject }) => ({ text: smil, subject: subject === '' ? null : subject }),
};
