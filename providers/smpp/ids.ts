import { storable } from '../../domain/inbound.ts';
import type { SmppSettings } from './settings.ts';

type IdRule = SmppSettings['ids'];

/** How a report names the part it speaks of. */
export interface ReportedIds {
  /** Read by the route's rule. */
  id: string;
  /** Read as if the report wrote ids as the answers do; null where that is the same or cannot be. */
  alternative: string | null;
}

// SMPP 3.4: a message id has at most 64 characters (5.2.23), as a TLV 65 with its NUL (5.3.2.12).
const LONGEST = 65;
const DECIMAL = /^[0-9]+$/;
const HEXADECIMAL = /^(0x)?[0-9a-f]+$/i;

/**
 * The form of a message id under which it is kept, from a submit's answer: as it came (`exact`), in lower case without
 * leading zeros (`insensitive`), or as a decimal number. An id that is no number in the base the rule says is kept as
 * `insensitive` has it.
 */
export function acceptedId(rule: IdRule, idInAnswer: string): string {
  const id = tidy(idInAnswer);
  switch (rule) {
    case 'exact':
      return id;
    case 'insensitive':
      return insensitive(id);
    case 'hex-answer':
      return fromHexadecimal(id) ?? insensitive(id);
    case 'decimal-answer':
      return fromDecimal(id) ?? insensitive(id);
  }
}

/** The ids under which the part of a report may be kept, to be tried in this order. */
export function reportedIds(rule: IdRule, idInReport: string): ReportedIds {
  const likeAnswer = acceptedId(rule, idInReport);
  const byRule = readByRule(rule, tidy(idInReport)) ?? likeAnswer;
  return { id: byRule, alternative: likeAnswer === byRule ? null : likeAnswer };
}

function readByRule(rule: IdRule, id: string): string | null {
  if (rule === 'hex-answer') return fromDecimal(id);
  if (rule === 'decimal-answer') return fromHexadecimal(id);
  return null;
}

function fromDecimal(id: string): string | null {
  return DECIMAL.test(id) ? withoutZeros(id) : null;
}

function fromHexadecimal(id: string): string | null {
  return HEXADECIMAL.test(id) ? BigInt(`0x${id.replace(/^0x/i, '')}`).toString() : null;
}

function insensitive(id: string): string {
  return withoutZeros(id.toLowerCase());
}

function withoutZeros(id: string): string {
  return id.replace(/^0+(?=.)/, '');
}

function tidy(id: string): string {
  return storable(id.slice(0, LONGEST)).trim();
}
