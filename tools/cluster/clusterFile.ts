import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeJson } from '../../bin/runfile.ts';

const shape = z.object({
  /** Of the one command that keeps all of them. */
  pid: z.number(),
  databaseUrl: z.string(),
  /** The balancers' addresses: what TEMPORAL_ADDRESS and the customers' programs are given. */
  temporalAddress: z.string(),
  /** Null where only Temporal was asked for. */
  apiUrl: z.string().nullable(),
  processes: z.array(
    z.object({
      name: z.string(),
      pid: z.number(),
      /** Null for what listens nowhere. */
      address: z.string().nullable(),
    }),
  ),
});

/** What runs, for other programs on this machine: which process to look at, where to connect to. */
export type ClusterFile = z.infer<typeof shape>;

const pathOf = (dataDir: string): string => join(dataDir, 'cluster.json');

/** Null where no cluster has been started in this folder, or it was stopped. */
export function readClusterFile(dataDir: string): ClusterFile | null {
  const parsed = shape.safeParse(readJson(pathOf(dataDir)));
  return parsed.success ? parsed.data : null;
}

/** The database's password is in it. */
export function writeClusterFile(dataDir: string, content: ClusterFile): void {
  writeJson(pathOf(dataDir), content);
}

/** Removes the file at a clean stop. */
export function removeClusterFile(dataDir: string): void {
  rmSync(pathOf(dataDir), { force: true });
}
