import { z } from 'zod';
import { providerKinds } from '../../../providers/registry.ts';

const KIND_NAMES = providerKinds.all.map(({ name }) => name);

/** All of them, for the help. */
export const KIND_PLACEHOLDER = KIND_NAMES.join('|');

/** The name of a kind. */
export const kindName = z
  .string()
  .refine((name) => KIND_NAMES.includes(name), `one of ${KIND_NAMES.join(', ')} is needed`);
