import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { prepareNamespace } from '../../tools/cluster/namespace.ts';
import type { Servers } from './servers.ts';

/** Makes a namespace of a test's own in the shared Temporal. */
export async function createTestNamespace(
  { temporalAddress }: Pick<Servers, 'temporalAddress'> = inject('servers'),
): Promise<string> {
  const name = `test-${randomBytes(6).toString('hex')}`;
  await prepareNamespace([temporalAddress], name);
  return name;
}
