import { randomInt } from 'node:crypto';

/** What every chance of a run depends on. */
export const SEED = Number(process.env['CRASH_SEED'] ?? randomInt(1_000_000));
