import { firstMalformed, type Piece } from '../../domain/placeholders.ts';
import { Refused } from '../../domain/refusals.ts';

/**
 * Refuses a text in which a `{{` begins no placeholder, wherever it comes from.
 * @param field the field of the request that is to blame
 * @throws Refused with what was written and where
 */
export function refuseMalformed(pieces: readonly Piece[], field: string): void {
  const malformed = firstMalformed(pieces);
  if (malformed === null) return;
  const { what, source, position } = malformed;
  throw new Refused({ reason: `${what}_malformed`, source, position }, field);
}
