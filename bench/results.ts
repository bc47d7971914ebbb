import type { Accepting } from './accept.ts';
import type { Compared } from './compare.ts';
import type { FloodResult } from './flood.ts';
import type { GrowthStep } from './growth.ts';
import type { Part } from './options.ts';
import type { WindowResult } from './window.ts';

/** Where and when a run was made. */
export interface Setting {
  at: string;
  quick: boolean;
  /** The command that was run. */
  command: string;
  machine: { cpus: number; model: string; memoryGb: number; loadBefore: number };
  versions: Record<string, string>;
  options: { messages: number; inFlight: number; rounds: number };
  /** Temporal was there already: not the development server that the benchmark starts. */
  ownTemporal: boolean;
  /** What could not be had, and why. */
  missing: string[];
}

/** Where a part comes from that was measured in another run. */
export type Elsewhere = Pick<Setting, 'at' | 'command'> & Pick<Setting['machine'], 'loadBefore'>;

/** Everything that a run found; parts that were not asked for are absent. */
export interface Results {
  setting: Setting;
  /** By part. */
  elsewhere?: Partial<Record<Part, Elsewhere>>;
  compared?: Compared[];
  accepting?: Accepting;
  window?: WindowResult;
  flood?: FloodResult;
  growth?: GrowthStep[];
}
