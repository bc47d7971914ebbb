import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableMemory } from 'node:process';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const GIB = 1024 ** 3;
// Of files, what the servers of a run's workers were seen to have at a time is below 1 GiB; processes need the rest.
const SPACE = 3 * GIB;
const FREE_MEMORY = 6 * GIB;

/**
 * Makes a folder whose files are in memory, for the data of the servers that tests start: copying a PostgreSQL cluster costs a
 * sixth there of what it costs on a disk, and no commit waits for one.
 * @returns null where this machine has none, none from which programs may be run, or too little memory
 */
export function memoryFolder(): string | null {
  let folder: string | undefined;
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < SPACE || availableMemory() < FREE_MEMORY) return null;
    folder = mkdtempSync(join(MEMORY, 'goniec-tests-'));
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    rmSync(program);
    return folder;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return null;
  }
}
