const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** A text as one word of a POSIX shell's line, quoted where it has to be. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
