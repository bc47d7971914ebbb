import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of a file of SQLite with its journal. */
export function sqliteSize(file: string): number {
  return sizeOf(file) + sizeOf(`${file}-wal`);
}

/** Bytes of all files below a folder. */
export function folderSize(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + sizeOf(join(folder, name)),
    0,
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
