import { ID_BODY } from '../../domain/ids.ts';

const REFERENCE = new RegExp(`^msg_(${ID_BODY})/(0|[1-9][0-9]{0,2})$`);
const IDX = new RegExp(`^msg(${ID_BODY})p(0|[1-9][0-9]{0,2})$`);

/**
 * Our reference as the provider's `idx`, which takes letters and digits only and does not tell capitals apart:
 * `msg_01k…/0` becomes `msg01k…p0`. Null for a reference of another form.
 */
export function idxOf(reference: string): string | null {
  const match = REFERENCE.exec(reference);
  return match === null ? null : `msg${match[1]}p${match[2]}`;
}

/** The reference that an `idx` stands for; null when it is none of ours. */
export function referenceOf(idx: string): string | null {
  const match = IDX.exec(idx.trim().toLowerCase());
  return match === null ? null : `msg_${match[1]}/${match[2]}`;
}
