import type { Declaration } from '../channelDeclaration.ts';

/** Who reads the text aloud (v1.2.0, POST /v1/vms, `tts_lector`). */
export const VOICES = ['ewa', 'jacek', 'jan', 'maja'] as const;
export type Voice = (typeof VOICES)[number];
/** Most call attempts (v1.2.0, Limits). */
export const TRIES_MAX = 6;

/** Longest text in characters: some two minutes and a half, read aloud. The document sets no limit. */
export const VOICE_TEXT_MAX = 2_000;

/** What a call has beside its text. */
interface VoiceContent {
  voice: Voice;
  /** Call attempts in all, 1 to 6. */
  tries: number;
}

/** The content of a stored voice message. */
export function voiceContentOf(content: object | null): VoiceContent {
  return { voice: 'ewa', tries: 1, ...content };
}

const WHOLE = { encoding: 'ucs2', cut: 'whole' } as const;

/** A call in which a text is read aloud, one part however long it takes (v1.2.0, POST /v1/vms; v2.3.0, Send). */
export const vms: Declaration<VoiceContent & { text: string }> = {
  channel: 'vms',
  maxParts: 1,
  longest: VOICE_TEXT_MAX,
  priority: false,
  foreignAtTwice: false,
  links: false,
  senderIsNumber: true,
  domesticPrice: (prices) => prices.pricePerVmsGrosze,
  written: (value) => value,
  meant: (written) => written,
  faultOf: () => null,
  read: ({ text, content }) => ({ text, ...voiceContentOf(content) }),
  measure: () => ({ ...WHOLE, parts: 1 }),
  cutAs: ({ text }) => ({ encoding: WHOLE.encoding, parts: [text] }),
  show: ({ text }) => ({ text, subject: null }),
};
