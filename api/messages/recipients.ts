import { parseMsisdn } from '../../domain/msisdn.ts';
import { invalidRequest, notFound } from '../errors.ts';

const GROUP = 'group:';
const RECIPIENTS_MAX = 500;

/** A recipient, E.164 with plus, and where the caller named it first; null when `to` was a single number. */
export interface Recipient {
  msisdn: string;
  index: number | null;
}

/**
 * Reads `to` (v2.3.0, Send): every number in one of the three formats, duplicates removed, at most 500 left.
 * @throws ApiError 400 for a malformed number, none at all or too many; 404 for a group
 */
export function readRecipients(to: string | readonly string[]): Recipient[] {
  const named = typeof to === 'string' ? [recipient(to, null)] : to.map(recipient);
  if (named.length === 0) throw invalidRequest({ reason: 'recipients_empty' }, 'to');
  const unique = new Map<string, Recipient>();
  for (const one of named) {
    if (!unique.has(one.msisdn)) unique.set(one.msisdn, one);
  }
  if (unique.size > RECIPIENTS_MAX) {
    throw invalidRequest({ reason: 'recipients_too_many', limit: RECIPIENTS_MAX }, 'to');
  }
  return [...unique.values()];
}

function recipient(input: string, index: number | null): Recipient {
  if (input.startsWith(GROUP)) {
    throw notFound({ reason: 'group_unknown', group: input.slice(GROUP.length) }, 'groups');
  }
  const msisdn = parseMsisdn(input);
  if (msisdn === null) throw invalidRequest({ reason: 'recipient_malformed', index }, 'to');
  return { msisdn, index };
}
