import type { Pace } from '../../operations/pace.ts';

// So much is encoded at once: a few milliseconds.
const PIECE_CHARACTERS = 256 * 1024;

/**
 * An answer as JSON in UTF-8, in pieces. A long list in it is made element by element, with time for others in between.
 * @param body of JSON's own types
 */
export async function encodeJson(body: unknown, pace: Pace): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let text = '';
  for (const piece of jsonPieces(body)) {
    text += piece;
    if (text.length >= PIECE_CHARACTERS) {
      pieces.push(Buffer.from(text));
      text = '';
    }
    if (pace.due()) await pace.rest();
  }
  return [...pieces, Buffer.from(text)];
}

function* jsonPieces(body: unknown): Generator<string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    yield* valuePieces(body);
    return;
  }
  let sign = '{';
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    yield `${sign}${JSON.stringify(name)}:`;
    yield* valuePieces(value);
    sign = ',';
  }
  yield sign === '{' ? '{}' : '}';
}

function* valuePieces(value: unknown): Generator<string> {
  if (!Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  yield '[';
  for (const [index, element] of value.entries())
    yield `${index === 0 ? '' : ','}${JSON.stringify(element ?? null)}`;
  yield ']';
}
