import type { ContactContent } from '../../domain/contacts.ts';
import type { Sql } from '../connection.ts';

/** What a contact says of a person: the values of placeholders (v2.3.0, Contact). */
export type ContactValues = ContactContent;

/** A contact as it is shown; names as the columns. */
export interface ContactRow extends ContactContent {
  id: string;
  /** E.164 with plus. */
  msisdn: string;
  /** By name in the order of the Polish alphabet. */
  groups: { id: string; name: string }[];
  created_at: Date;
  updated_at: Date;
}

/** Which contacts of an account a page shows; null means any. */
export interface ContactFilter {
  /** A part of the number, first name, last name or email; case and diacritics do not count. */
  fragment: string | null;
  groupId: string | null;
  /** Only contacts after the one with this id. */
  after: string | null;
}

const NUMBER_FRAGMENT = /^[+\d\s().-]*\d[+\d\s().-]*$/;

const COLUMNS = `c.id, c.msisdn, c.first_name, c.last_name, c.email, c.fields, c.created_at, c.updated_at,
  array(
    select jsonb_build_object('id', g.id, 'name', g.name)
      from group_members m join contact_groups g on g.account_id = m.account_id and g.id = m.group_id
     where m.account_id = c.account_id and m.contact_id = c.id
     order by g.name collate "pl-x-icu", g.id
  ) as groups`;

// Shorter fragments have no trigram: no index knows where they are.
const TRIGRAM = 3;

/** One contact of the account; null when it has none of this id. */
export async function readContact(sql: Sql, accountId: string, id: string): Promise<ContactRow | null> {
  const [contact] = await sql<ContactRow[]>`
    select ${sql.unsafe(COLUMNS)} from contacts c where c.account_id = ${accountId} and c.id = ${id}`;
  return contact ?? null;
}

/**
 * A page of the account's contacts by id (v2.3.0, Contacts).
 *
 * Sent unprepared, so that it is planned for its very values: a rare fragment is found by its trigrams, a frequent
 * or short one by reading contacts in order until the page is full. One plan for both would be slow for one of them.
 */
export async function readContacts(
  sql: Sql,
  accountId: string,
  filter: ContactFilter,
  limit: number,
): Promise<ContactRow[]> {
  const page = `
    select ${COLUMNS} from contacts c
     where ${conditions(filter)}
     order by c.id limit $6`;
  return await sql.unsafe<ContactRow[]>(page, [...matching(accountId, filter), limit]);
}

/**
 * The contacts of an account among some numbers, in one statement.
 * @param msisdns in E.164 with plus
 * @returns the values by MSISDN; a number that is not in the book is not there
 */
export async function contactsOf(
  sql: Sql,
  accountId: string,
  msisdns: readonly string[],
): Promise<Map<string, ContactValues>> {
  const rows = await sql<(ContactValues & { msisdn: string })[]>`
    select msisdn, first_name, last_name, email, fields from contacts
     where account_id = ${accountId} and msisdn = any(${msisdns as string[]}::text[])`;
  return new Map(rows.map(({ msisdn, ...values }) => [msisdn, values]));
}

/** The keys of all custom fields that the filter's contacts have, as they are spelt, sorted. */
export async function readFieldKeys(
  sql: Sql,
  accountId: string,
  filter: ContactFilter,
  limit: number,
): Promise<string[]> {
  const keys = `
    select distinct k.key collate "C" as key
      from contacts c cross join lateral jsonb_object_keys(c.fields) as k (key)
     where ${conditions(filter)}
     order by key limit $6`;
  const rows = await sql.unsafe<{ key: string }[]>(keys, [...matching(accountId, filter), limit]);
  return rows.map(({ key }) => key);
}

/** What the filter asks for, of the parameters that `matching` gives. */
function conditions({ fragment }: ContactFilter): string {
  const members = 'select f.contact_id from group_members f where f.account_id = $1 and f.group_id = $5';
  // Where no index finds the fragment, only the group's members are read instead of the whole book.
  const inGroup =
    fragment !== null && fragment.length < TRIGRAM
      ? `c.id = any(array(${members}))`
      : `exists (${members} and f.contact_id = c.id)`;
  return `c.account_id = $1
    and ($2::text is null or c.id > $2)
    and ($3::text is null or c.search like fragment_pattern($3) or c.search like fragment_pattern($4))
    and ($5::text is null or ${inGroup})`;
}

function matching(accountId: string, { fragment, groupId, after }: ContactFilter): (string | null)[] {
  return [accountId, after, fragment, digitsOf(fragment), groupId];
}

// Numbers are written with spaces and hyphens, and stored without.
function digitsOf(fragment: string | null): string | null {
  return fragment !== null && NUMBER_FRAGMENT.test(fragment) ? fragment.replace(/[^+\d]/g, '') : null;
}
