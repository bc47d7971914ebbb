import type { Mount } from '../api/app.ts';
import { assistantTools } from '../mcp/door.ts';

/** The doors beside the two interfaces. */
export const doors: readonly Mount[] = [assistantTools()];
