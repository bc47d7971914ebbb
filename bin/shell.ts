const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** A text as one word of a POSIX shell command, quoted if needed. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
