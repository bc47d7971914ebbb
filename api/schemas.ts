import { z } from 'zod';
import { documented, EXAMPLE_INSTANT } from './documented.ts';

/** An instant of an answer. */
export const timestamp = z.iso.datetime({ precision: 3 });
/** Money. */
export const grosze = z.int();

export const createdAt = documented(timestamp, 'When it came to be.', EXAMPLE_INSTANT);
export const updatedAt = documented(timestamp, 'When it last changed.', EXAMPLE_INSTANT);

/** What the removal of a resource is answered with. */
export const deletedSchema = z.strictObject({ deleted: z.string().describe('The id of what was removed.') });
