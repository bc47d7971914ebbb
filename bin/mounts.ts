import type { Mount } from '../api/app.ts';
import { assistantTools } from '../mcp/mount.ts';

/** The doors beside the two interfaces. */
export const mounts: readonly Mount[] = [assistantTools()];
