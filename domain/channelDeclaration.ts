import type { Encoding } from './sms.ts';
import type { Refusal } from './refusals.ts';

/** What a message is sent as (v2.3.0, Message, `type`). */
export type Channel = 'sms' | 'mms' | 'vms';

/** All that the interface knows. */
export const CHANNELS: readonly Channel[] = ['sms', 'mms', 'vms'];

/** What a message is sent as unless its request names a channel. */
export const DEFAULT_CHANNEL: Channel = 'sms';

/** What a message says, as it is stored: its text, and what its channel has beside that. */
interface StoredContent {
  text: string;
  content: object | null;
}

/** A content as it is counted when its message is accepted. */
export interface Measure {
  /** As which the text goes to the provider; says nothing of channels that are not SMS. */
  encoding: Encoding;
  /** What is billed. */
  parts: number;
  /** How it was cut, as the channel reads it again; stored with the message. */
  cut: string;
}

/** A content as it is submitted: the text of each part. */
interface CutContent {
  encoding: Encoding;
  parts: string[];
}

/** An account's prices of a part in Poland, grosze net. */
export interface DomesticPrices {
  pricePerPartGrosze: number;
  pricePerMmsGrosze: number;
  pricePerVmsGrosze: number;
}

/** What holds for all contents of a channel. */
interface ChannelTraits {
  channel: Channel;
  /** The most parts one message may have. */
  maxParts: number;
  /** The most characters of a text once it is written out; null: its parts bound it. */
  longest: number | null;
  /** Whether a message can go before others, at twice the price (v2.3.0, Send, rule 3). */
  priority: boolean;
  /** Whether a foreign part without a price of its own costs twice the domestic one; otherwise it is not sent (rule 4). */
  foreignAtTwice: boolean;
  /** Whether a text can hold links: one that is heard cannot. */
  links: boolean;
  /** Whether the sender is a number that is called from, and never a name. */
  senderIsNumber: boolean;
  domesticPrice: (prices: DomesticPrices) => number;
  /** A value as it stands in a text in place of its placeholder. */
  written: (value: string) => string;
  /** The reverse: what a stretch of a text says. */
  meant: (written: string) => string;
  /**
   * What is wrong with a text before its placeholders are filled; null: nothing.
   * @param literal whether it has none, and braces are text
   */
  faultOf: (text: string, literal: boolean) => Refusal | null;
}

/** What a channel declares; `Content` is what its messages say. */
export interface Declaration<Content> extends ChannelTraits {
  read: (stored: StoredContent) => Content;
  measure: (content: Content) => Measure;
  /** Cuts a content as it was measured, even if it would be cut in another way now. */
  cutAs: (content: Content, cut: string) => CutContent;
  /** The fields of its record. */
  show: (content: Content) => { text: string; subject: string | null };
}

/** What the rest asks a channel, of contents as they are stored. */
export interface ChannelRules extends ChannelTraits {
  measure: (stored: StoredContent) => Measure;
  /** @param cut of the {@link Measure}; null, as nobody has stored one, cuts as it would be now */
  cutAs: (stored: StoredContent, cut: string | null) => CutContent;
  show: (stored: StoredContent) => { text: string; subject: string | null };
}
