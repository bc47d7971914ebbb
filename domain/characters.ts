/** Whether a text has more than so many characters: code points, so that an emoji counts once. */
export function hasMoreCharacters(text: string, limit: number): boolean {
  // A character is one unit or two, so the length alone answers for nearly every text.
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  let characters = 0;
  for (let at = 0; at < text.length; characters += 1) {
    if (characters === limit) return true;
    at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  }
  return false;
}
