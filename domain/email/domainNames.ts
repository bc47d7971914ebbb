import { asciiName } from './asciiName.ts';

// What stands before it in DNS has to have room: `goniec-01234567._domainkey.`
const DKIM_PREFIX_LENGTH = 27;
const NAME_MAX = 253 - DKIM_PREFIX_LENGTH;
// Of what is typed, before it is looked into: in ASCII a name may be longer than in letters, never shorter.
const TYPED_MAX = 1_000;

// Of ASCII only letters, digits, hyphen and dot: all else has a meaning in a URL, or none in a name that is mailed from.
const OTHER_ASCII = /[\0-,/:-@[-`{-\x7f]/;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
// The last one begins with a letter: an IPv4 address is no name.
const NAME = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`);

/**
 * A domain's name as DNS has it: in A-labels (IDNA, as browsers do it) and small letters. Null for what is none: an address, a name of
 * one label, with a dot at the end, an underscore or a wildcard, or too long for the records of a sender domain.
 */
export function readDomainName(typed: string): string | null {
  if (typed.length > TYPED_MAX || OTHER_ASCII.test(typed)) return null;
  const name = asciiName(typed);
  return name !== null && name.length <= NAME_MAX && NAME.test(name) ? name : null;
}

/**
 * Where a domain's DKIM key is found. Each claim of a name has its own, so that a key of an earlier one, which may still be published
 * and needed, is never in the way.
 * @param id the sender domain's
 */
export function selectorOf(id: string): string {
  return `goniec-${id.slice(-8)}`;
}
