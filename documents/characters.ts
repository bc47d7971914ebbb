const TABLES_AT = 12;
const TABLE_BYTES = 16;
const SUBTABLE_BYTES = 8;
const GROUP_BYTES = 12;
// Unicode, all planes, as groups of code points.
const WINDOWS_FULL = 0x0003_000a;
const GROUPS = 12;

/** The characters that a TrueType face has glyphs for, by its table `cmap` (OpenType, 5.2). @throws Error without such a subtable */
export function charactersOf(face: Buffer): (codePoint: number) => boolean {
  const tables = face.readUInt16BE(4);
  const entries = Array.from({ length: tables }, (_, n) => TABLES_AT + n * TABLE_BYTES);
  const cmap = face.readUInt32BE(entries.find((at) => face.toString('latin1', at, at + 4) === 'cmap')! + 8);
  const subtables = Array.from(
    { length: face.readUInt16BE(cmap + 2) },
    (_, n) => cmap + 4 + n * SUBTABLE_BYTES,
  );
  const full = subtables.find((at) => face.readUInt32BE(at) === WINDOWS_FULL);
  if (full === undefined) throw new Error('the face has no full cmap');
  const groups = cmap + face.readUInt32BE(full + 4);
  if (face.readUInt16BE(groups) !== GROUPS) throw new Error('the full cmap has no groups');
  const known = new Set<number>();
  for (let n = 0; n < face.readUInt32BE(groups + 12); n += 1) {
    const at = groups + 16 + n * GROUP_BYTES;
    for (let point = face.readUInt32BE(at); point <= face.readUInt32BE(at + 4); point += 1) known.add(point);
  }
  return (codePoint) => known.has(codePoint);
}
