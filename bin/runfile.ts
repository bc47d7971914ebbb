import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeJson } from './jsonFile.ts';
import { identify, identityShape, isRunning } from './processes.ts';

const shape = z.object({
  /** The `npm start` that wrote it. */
  process: identityShape,
  /** Of the database's owner, who changes its schema. */
  databaseUrl: z.string(),
  /** The same database as each part of the service connects to it; absent where it is not ours. */
  partUrls: z.object({ api: z.string(), worker: z.string(), admin: z.string() }).optional(),
  temporal: z.object({ address: z.string(), namespace: z.string(), embedded: z.boolean() }),
  /** Temporal's Web UI; null for a Temporal that is not ours. */
  temporalUiUrl: z.string().nullable(),
  /** Null until the API listens. */
  apiUrl: z.string().nullable(),
});

/** What the other commands learn from a running `npm start` about its servers. */
export type RunFile = z.infer<typeof shape>;

const runFilePath = (dataDir: string): string => join(dataDir, 'run.json');

/** The running service of this data folder; null when there is none, or the one that wrote the file has ended. */
export function readRunFile(dataDir: string): RunFile | null {
  const parsed = shape.safeParse(readJson(runFilePath(dataDir)));
  return parsed.success && isRunning(parsed.data.process) ? parsed.data : null;
}

/** Writes the file (readable by its owner alone: the database's password is in it) in the name of this process. */
export function writeRunFile(dataDir: string, content: Omit<RunFile, 'process'>): void {
  writeJson(runFilePath(dataDir), { process: identify(process.pid), ...content });
}

/** Removes the file at a clean stop. */
export function removeRunFile(dataDir: string): void {
  rmSync(runFilePath(dataDir), { force: true });
}
