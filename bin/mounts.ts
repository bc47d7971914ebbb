import type { Mount } from '../api/app.ts';
import { assistantTools } from '../mcp/mount.ts';
import { panel } from '../panel/mount.ts';

/** Interfaces besides the two versions of the API. */
export const mounts: readonly Mount[] = [assistantTools(), ...panel()];
