import type { Mount } from '../api/app.ts';
import { assistantTools } from '../mcp/mount.ts';
import { panel } from '../panel/mount.ts';
import { simulatorPages } from '../simulator/mount.ts';

/** Interfaces besides the two versions of the API and its pages. */
export const mounts: readonly Mount[] = [assistantTools(), ...panel(), ...simulatorPages()];
