import { mapInChunks } from '../../concurrency/tasks.ts';
import type { Sql } from '../../db/connection.ts';
import { expandGroups } from '../../db/contacts/groups.ts';
import { isOverlongPolish, parseMsisdn } from '../../domain/msisdn.ts';
import { Refused } from '../../domain/refusals.ts';
import { canonicalText } from '../../domain/text.ts';

const GROUP = 'group:';

const RECIPIENTS_MAX = 500;
// Entries before duplicates are removed.
const NAMED_MAX = 10_000;
const GROUPS_MAX = 100;

/** A recipient in E.164, and the index in `to` of it or its first group; null when `to` was a single string. */
export interface Recipient {
  msisdn: string;
  index: number | null;
}

type Named = ({ msisdn: string } | { group: string }) & { index: number | null };

/** Parsed `to`: numbers are validated, groups not yet looked up. */
interface ReadRecipients {
  named: Named[];
  /** The response is a BatchResult: `to` was an array or a group (v2.3.0, Send, Responses). */
  batched: boolean;
}

/**
 * Parses `to` (v2.3.0, Send), yielding to the event loop: thousands of foreign numbers take a large part of a second.
 * @throws Refused for a malformed number, an empty list or too many recipients
 */
export async function readRecipients(
  to: string | readonly string[],
  limit = RECIPIENTS_MAX,
): Promise<ReadRecipients> {
  if (typeof to === 'string') return { named: [readOne(to, null)], batched: to.startsWith(GROUP) };
  if (to.length === 0) throw new Refused({ reason: 'recipients_empty' }, 'to');
  if (to.length > NAMED_MAX) throw tooMany(limit);
  const seen = new Set<string>();
  const numbers = new Set<string>();
  const named: Named[] = [];
  await mapInChunks(to, (input, index) => {
    // Skip repeated strings before parsing, which costs much more than a comparison.
    if (seen.has(input)) return;
    seen.add(input);
    const one = readOne(input, index);
    named.push(one);
    if ('msisdn' in one) numbers.add(one.msisdn);
    if (numbers.size > limit) throw tooMany(limit);
  });
  return { named, batched: true };
}

/** Expands groups and removes duplicates. @throws Refused for an unknown or empty group and too many recipients */
export async function expandRecipients(
  sql: Sql,
  accountId: string,
  { named }: ReadRecipients,
  limit = RECIPIENTS_MAX,
): Promise<Recipient[]> {
  const members = await membersOf(sql, accountId, named, limit);
  const unique = new Map<string, Recipient>();
  for (const one of named) {
    const msisdns = 'msisdn' in one ? [one.msisdn] : members.get(one.group)!;
    for (const msisdn of msisdns) {
      if (!unique.has(msisdn)) unique.set(msisdn, { msisdn, index: one.index });
      if (unique.size > limit) throw tooMany(limit);
    }
  }
  return [...unique.values()];
}

async function membersOf(sql: Sql, accountId: string, named: ReadRecipients['named'], limit: number) {
  const groups = named.flatMap((one) => ('group' in one ? [one.group] : []));
  if (groups.length > GROUPS_MAX) throw new Refused({ reason: 'groups_too_many', limit: GROUPS_MAX }, 'to');
  const found = groups.length === 0 ? [] : await expandGroups(sql, accountId, groups, limit + 1);
  for (const { name, id, msisdns } of found) {
    if (id === null) throw new Refused({ reason: 'group_unknown', group: name }, 'groups');
    if (msisdns.length === 0) throw new Refused({ reason: 'group_empty', group: name }, 'groups');
  }
  return new Map(found.map(({ name, msisdns }) => [name, msisdns]));
}

function readOne(input: string, index: number | null): Named {
  if (input.startsWith(GROUP)) return { group: canonicalText(input.slice(GROUP.length)).trim(), index };
  const msisdn = parseMsisdn(input);
  if (msisdn === null) {
    const reason = isOverlongPolish(input) ? 'recipient_too_long' : 'recipient_malformed';
    throw new Refused({ reason, index, given: input }, 'to');
  }
  return { msisdn, index };
}

function tooMany(limit: number): Refused {
  return new Refused({ reason: 'recipients_too_many', limit }, 'to');
}
