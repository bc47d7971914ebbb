const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u;

// A letter or mark whose form joiners and variation selectors change: none of the alphabets that have no such forms.
const SHAPED =
  '[[\\p{L}\\p{M}]--[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\u0300-\\u036F\\p{Default_Ignorable_Code_Point}]]';
const VISIBLE = '[^\\s\\p{Cc}\\p{Default_Ignorable_Code_Point}]';
const JOINER = '[\\u200C\\u200D]';
const behindJoiner = (next: string): string => `(?=\\p{Default_Ignorable_Code_Point}*${next})`;
const EMOJI = '\\p{Extended_Pictographic}(?:[\\uFE0E\\uFE0F]|\\p{Emoji_Modifier})?';

/** What needs ignorable characters to be shown as it is, before any other run of them (Unicode Technical Standard 51; Standard, 23.4). */
const SHOWN_OR_IGNORABLE = new RegExp(
  `(${[
    // Subdivision flags, such as Wales.
    '\\u{1F3F4}[\\u{E0030}-\\u{E0039}\\u{E0061}-\\u{E007A}]{3,6}\\u{E007F}',
    `${EMOJI}(?:\\u200D${EMOJI})*`,
    '[0-9#*]\\uFE0F\\u20E3',
    `${SHAPED}[\\u180B-\\u180F\\uFE00-\\uFE0D\\u{E0100}-\\u{E01EF}](?:${JOINER}${behindJoiner(VISIBLE)})?`,
    `${SHAPED}${JOINER}${behindJoiner(VISIBLE)}`,
    `${VISIBLE}${JOINER}${behindJoiner(SHAPED)}`,
  ].join('|')})|\\p{Default_Ignorable_Code_Point}+`,
  'gv',
);

// What Polish is written in. Below U+0300 all text is NFC, and only the soft hyphen is never shown.
const CANONICAL = /^[^\r\u00AD\u0300-\uFFFF]*$/;

// Stream-safe text has at most 30 combining marks in a row (Unicode Standard Annex 15); composing more is quadratic in them. Looked for
// from the first of them only, for the same reason.
const ENDLESS_MARKS = /(?<!\p{M})\p{M}{31}/u;

/**
 * The canonical form of text that people type or paste: line ends are LF; characters that are never shown are dropped, except within emoji
 * and between letters whose form they change; NFC, unless there are over 30 marks in a row. Equal texts look equal, and cost the same.
 */
export function canonicalText(text: string): string {
  if (CANONICAL.test(text)) return text;
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  const shown = IGNORABLE.test(lines) ? lines.replace(SHOWN_OR_IGNORABLE, '$1') : lines;
  return ENDLESS_MARKS.test(shown) ? shown : shown.normalize('NFC');
}

const SOMETHING = /[^\s\u2800\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

/** Whether nothing of a text is seen. U+2800 is a braille cell without dots. */
export function isBlank(text: string): boolean {
  return !SOMETHING.test(text);
}

const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
const EVERY_UNSEEN = new RegExp(UNSEEN, 'gu');

/** `U+200B`. */
export function codePointName(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The first character but the space that cannot be seen, as `U+200B`; null for none. */
export function firstUnseen(text: string): string | null {
  const [character] = UNSEEN.exec(text) ?? [];
  return character === undefined ? null : codePointName(character);
}

/** The text with such characters spelt out: `SKLEP` and U+200B as `SKLEPU+200B`. */
export function withUnseen(text: string): string {
  return text.replace(EVERY_UNSEEN, codePointName);
}

// Emoji are made with joiners and selectors.
const INVISIBLE =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200d\ufe0e\ufe0f]|(?![\t\n\r\u200d\ufe0e\ufe0f])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2028\u2029\u2800]/gu;

/** A text in which nothing is hidden: invisible and control characters as `[U+200B]`. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `[${codePointName(character)}]`);
}
