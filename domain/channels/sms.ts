import type { Declaration } from '../channelDeclaration.ts';
import { applySplit, MAX_PARTS, encodeSplit, optionsOf, type SmsContent, splitIntoParts } from '../sms.ts';

/** An SMS is its text, billed per part (v2.3.0, Send, rules 1 and 2). */
export const sms: Declaration<SmsContent> = {
  channel: 'sms',
  maxParts: MAX_PARTS,
  longest: null,
  priority: true,
  foreignAtTwice: true,
  links: true,
  senderIsNumber: false,
  domesticPrice: (prices) => prices.pricePerPartGrosze,
  escapeText: (value) => value,
  unescapeText: (written) => written,
  faultOf: () => null,
  read: ({ text, content }) => ({ text, ...optionsOf(content) }),
  measure: ({ text, ucs2 }) => {
    const split = splitIntoParts(text, ucs2);
    return { encoding: split.encoding, parts: split.parts.length, cut: encodeSplit(split) };
  },
  cutAs: ({ text }, cut) => applySplit(text, cut),
  show: ({ text }) => ({ text, subject: null }),
};
