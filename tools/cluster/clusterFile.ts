import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeJson } from '../../bin/runfile.ts';

/** What runs, for other programs on this machine: which process to look at, where to connect to. */
export type ClusterFile = {
  /** Of the one command that keeps all of them. */
  pid: number;
  databaseUrl: string;
  /** The balancers' addresses: what TEMPORAL_ADDRESS and the customers' programs are given. */
  temporalAddress: string;
  /** Null where only Temporal was asked for. */
  apiUrl: string | null;
  processes: Member[];
};

/** A process of the cluster as it is at this moment; `address` is null for what listens nowhere. */
export type Member = { name: string; pid: number; address: string | null };

/** In the cluster's data folder. */
export const clusterFile = (dataDir: string): string => join(dataDir, 'cluster.json');

/** The database's password is in it. */
export function writeClusterFile(dataDir: string, content: ClusterFile): void {
  writeJson(clusterFile(dataDir), content);
}

/** Removes the file at a clean stop. */
export function removeClusterFile(dataDir: string): void {
  rmSync(clusterFile(dataDir), { force: true });
}
