import type { Declaration } from '../channelDeclaration.ts';

/** Text-to-speech voices (v1.2.0, POST /v1/vms, `tts_lector`). */
export const VOICES = ['ewa', 'jacek', 'jan', 'maja'] as const;
export type Voice = (typeof VOICES)[number];
/** Call attempts (v1.2.0, Limits). */
export const TRIES_MAX = 6;

/** In characters: about two and a half minutes when read aloud. v1.2.0 sets no limit. */
export const VOICE_TEXT_MAX = 2_000;

interface VoiceContent {
  voice: Voice;
  /** Call attempts in total, 1 to 6. */
  tries: number;
}

export function voiceContentOf(content: object | null): VoiceContent {
  return { voice: 'ewa', tries: 1, ...content };
}

const WHOLE = { encoding: 'ucs2', cut: 'whole' } as const;

/** A call that reads a text aloud: one part, whatever its length (v1.2.0, POST /v1/vms; v2.3.0, Send). */
export const vms: Declaration<VoiceContent & { text: string }> = {
  channel: 'vms',
  maxParts: 1,
  longest: VOICE_TEXT_MAX,
  priority: false,
  foreignAtTwice: false,
  links: false,
  senderIsNumber: true,
  domesticPrice: (prices) => prices.pricePerVmsGrosze,
  escapeText: (value) => value,
  unescapeText: (written) => written,
  faultOf: () => null,
  read: ({ text, content }) => ({ text, ...voiceContentOf(content) }),
  measure: () => ({ ...WHOLE, parts: 1 }),
  cutAs: ({ text }) => ({ encoding: WHOLE.encoding, parts: [text] }),
  show: ({ text }) => ({ text, subject: null }),
};
