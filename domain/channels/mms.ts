import type { Declaration } from '../channelDeclaration.ts';
import { faultOfSmil, inSmil, outOfSmil, SMIL_MAX } from '../smil.ts';

/** Longest subject in characters: what SMSAPI.pl takes (its error 26). */
export const SUBJECT_MAX = 30;

/** What an MMS has beside its SMIL. */
interface MmsContent {
  /** Empty once it was erased. */
  subject: string;
}

/** The content of a stored MMS. */
export function mmsContentOf(content: object | null): MmsContent {
  return { subject: '', ...content };
}

// What nobody cuts. The encoding is of no account: markup goes to the provider as it is.
const WHOLE = { encoding: 'ucs2', cut: 'whole' } as const;

/** An MMS says what its SMIL shows, under a subject, and is one part (v1.2.0, POST /v1/mms; v2.3.0, Send). */
export const mms: Declaration<MmsContent & { smil: string }> = {
  channel: 'mms',
  maxParts: 1,
  longest: SMIL_MAX,
  priority: false,
  foreignAtTwice: false,
  links: true,
  senderIsNumber: false,
  domesticPrice: (prices) => prices.pricePerMmsGrosze,
  written: inSmil,
  meant: outOfSmil,
  faultOf: faultOfSmil,
  read: ({ text, content }) => ({ smil: text, ...mmsContentOf(content) }),
  measure: () => ({ ...WHOLE, parts: 1 }),
  cutAs: ({ smil }) => ({ encoding: WHOLE.encoding, parts: [smil] }),
  show: ({ smil, subject }) => ({ text: smil, subject: subject === '' ? null : subject }),
};
