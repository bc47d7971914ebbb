import { parseMsisdn } from '../../domain/msisdn.ts';
import { type ApiError, invalidRequest, notFound } from '../errors.ts';

const GROUP = 'group:';
const RECIPIENTS_MAX = 500;
// Before duplicates are removed; far more than anybody means.
const NAMED_MAX = 10_000;

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
  if (typeof to === 'string') return [{ msisdn: readNumber(to, null), index: null }];
  if (to.length === 0) throw invalidRequest({ reason: 'recipients_empty' }, 'to');
  if (to.length > NAMED_MAX) throw tooMany();
  const unique = new Map<string, Recipient>();
  // The same text is the same number: reading one costs much more than comparing two.
  for (const input of new Set(to)) {
    const index = to.indexOf(input);
    const msisdn = readNumber(input, index);
    if (!unique.has(msisdn)) unique.set(msisdn, { msisdn, index });
    if (unique.size > RECIPIENTS_MAX) throw tooMany();
  }
  return [...unique.values()];
}

function readNumber(input: string, index: number | null): string {
  if (input.startsWith(GROUP)) {
    throw notFound({ reason: 'group_unknown', group: input.slice(GROUP.length) }, 'groups');
  }
  const msisdn = parseMsisdn(input);
  if (msisdn === null) throw invalidRequest({ reason: 'recipient_malformed', index }, 'to');
  return msisdn;
}

function tooMany(): ApiError {
  return invalidRequest({ reason: 'recipients_too_many', limit: RECIPIENTS_MAX }, 'to');
}
