/** Third-party text in one line that cannot steer a terminal or turn the order of its letters. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/gu, '\uFFFD');
}
