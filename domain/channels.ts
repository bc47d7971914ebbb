import { cutAsNoted, type Encoding, MAX_PARTS, noteOfCut, splitIntoParts } from './parts.ts';
import { optionsOf, type SmsContent } from './smsOptions.ts';

/** What a message is sent as (v2.3.0, Message, `type`). */
export type Channel = 'sms' | 'mms' | 'vms';

/** All that the interface knows; which of them are served, {@link rulesOf} knows. */
export const CHANNELS: readonly Channel[] = ['sms', 'mms', 'vms'];

/** What a message is sent as unless its request names a channel. */
export const DEFAULT_CHANNEL: Channel = 'sms';

/** What a message says, as it is stored: its text, and what its channel has beside that. */
export interface StoredContent {
  text: string;
  content: object | null;
}

/** A content as it is counted when its message is accepted. */
export interface Measure {
  /** As which the text goes to the provider. */
  encoding: Encoding;
  /** What is billed. */
  parts: number;
  /** How it was cut, as the channel reads it again; stored with the message. */
  cut: string;
}

/** A content as it is submitted: the text of each part. */
export interface CutContent {
  encoding: Encoding;
  parts: string[];
}

/** An account's prices of a part in Poland, grosze net. */
export interface DomesticPrices {
  pricePerPartGrosze: number;
  pricePerMmsGrosze: number;
  pricePerVmsGrosze: number;
}

/** What a channel declares; `Content` is what its messages say. */
interface Declaration<Content> {
  channel: Channel;
  /** The most parts one message may have. */
  maxParts: number;
  domesticPrice: (prices: DomesticPrices) => number;
  read: (stored: StoredContent) => Content;
  measure: (content: Content) => Measure;
  /** Cuts a content as it was measured, even if it would be cut in another way now. */
  cutAs: (content: Content, cut: string) => CutContent;
  /** The fields of its record. */
  show: (content: Content) => { text: string; subject: string | null };
}

/** What the rest asks a channel, of contents as they are stored. */
export interface ChannelRules {
  channel: Channel;
  maxParts: number;
  domesticPrice: (prices: DomesticPrices) => number;
  measure: (stored: StoredContent) => Measure;
  /** @param cut of the {@link Measure}; null, as nobody has stored one, cuts as it would be now */
  cutAs: (stored: StoredContent, cut: string | null) => CutContent;
  show: (stored: StoredContent) => { text: string; subject: string | null };
}

const served = new Map<Channel, ChannelRules>();

/** Makes a channel known; one that is known already is replaced. */
export function declareChannel<Content>(declared: Declaration<Content>): void {
  const { channel, maxParts, domesticPrice, read, measure, cutAs, show } = declared;
  served.set(channel, {
    ...{ channel, maxParts, domesticPrice },
    measure: (stored) => measure(read(stored)),
    cutAs: (stored, cut) => cutAs(read(stored), cut ?? measure(read(stored)).cut),
    show: (stored) => show(read(stored)),
  });
}

/** @throws Error when nobody serves the channel */
export function rulesOf(channel: Channel): ChannelRules {
  const rules = served.get(channel);
  if (rules === undefined) throw new Error(`the channel ${channel} is not served`);
  return rules;
}

// An SMS says its text, and costs what it has parts (v2.3.0, Send, rules 1 and 2).
declareChannel<SmsContent>({
  channel: 'sms',
  maxParts: MAX_PARTS,
  domesticPrice: (prices) => prices.pricePerPartGrosze,
  read: ({ text, content }) => ({ text, ...optionsOf(content) }),
  measure: ({ text, ucs2 }) => {
    const split = splitIntoParts(text, ucs2);
    return { encoding: split.encoding, parts: split.parts.length, cut: noteOfCut(split) };
  },
  cutAs: ({ text }, cut) => cutAsNoted(text, cut),
  show: ({ text }) => ({ text, subject: null }),
});
