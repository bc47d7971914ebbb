import type { Encoding } from './sms.ts';
import type { Refusal } from './refusals.ts';

/** v2.3.0, Message, `type`. */
export type Channel = 'sms' | 'mms' | 'vms';

export const CHANNELS: readonly Channel[] = ['sms', 'mms', 'vms'];

export const DEFAULT_CHANNEL: Channel = 'sms';

interface StoredContent {
  text: string;
  content: object | null;
}

export interface Measure {
  /** Encoding for the provider; of no meaning except for SMS. */
  encoding: Encoding;
  /** Billed. */
  parts: number;
  /** How the content was split, in the channel's notation; stored with the message. */
  cut: string;
}

interface CutContent {
  encoding: Encoding;
  parts: string[];
}

/** Per part, grosze net. */
export interface DomesticPrices {
  pricePerPartGrosze: number;
  pricePerMmsGrosze: number;
  pricePerVmsGrosze: number;
}

interface ChannelTraits {
  channel: Channel;
  maxParts: number;
  /** Maximum characters of a rendered text; null: limited by its parts. */
  longest: number | null;
  /** Whether messages can have priority, at twice the price (v2.3.0, Send, rule 3). */
  priority: boolean;
  /** Whether a foreign part without a price of its own costs twice the domestic one; otherwise it is not sent (rule 4). */
  foreignAtTwice: boolean;
  /** Whether a text can have links: one that is read aloud cannot. */
  links: boolean;
  /** Whether the sender is the calling number, never a name. */
  senderIsNumber: boolean;
  domesticPrice: (prices: DomesticPrices) => number;
  /** Escapes a placeholder's value for the text. */
  escapeText: (value: string) => string;
  unescapeText: (written: string) => string;
  /** Validates a text before its placeholders are filled. @param literal it has none, and braces are text */
  faultOf: (text: string, literal: boolean) => Refusal | null;
}

export interface Declaration<Content> extends ChannelTraits {
  read: (stored: StoredContent) => Content;
  measure: (content: Content) => Measure;
  /** Splits a content as it was measured, even if it would be split differently now. */
  cutAs: (content: Content, cut: string) => CutContent;
  show: (content: Content) => { text: string; subject: string | null };
}

export interface ChannelRules extends ChannelTraits {
  measure: (stored: StoredContent) => Measure;
  /** @param cut of the {@link Measure}; null, where none is stored, splits by today's rules */
  cutAs: (stored: StoredContent, cut: string | null) => CutContent;
  show: (stored: StoredContent) => { text: string; subject: string | null };
}
