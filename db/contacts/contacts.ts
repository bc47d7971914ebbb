import { type Database, lockNames, type Sql, withNamedLock } from '../connection.ts';
import type { ContactContent, SearchTerm } from '../../domain/contacts.ts';

/** Changes an address book in one transaction. Changes of an account are serialized, so they cannot deadlock; reads never wait. */
export async function changeAddressBook<T>(
  sql: Database,
  accountId: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await withNamedLock(sql, lockOf(accountId), work);
}

export async function lockAddressBooks(tx: Sql, accountIds: readonly string[]): Promise<void> {
  await lockNames(tx, accountIds.map(lockOf));
}

function lockOf(accountId: string): string {
  return `address book of ${accountId}`;
}

export type ContactValues = ContactContent;

export interface ContactRow extends ContactContent {
  id: string;
  /** E.164 with plus. */
  msisdn: string;
  /** By name, in Polish alphabetical order. */
  groups: { id: string; name: string }[];
  createdAt: Date;
  updatedAt: Date;
}

export interface ContactFilter {
  /** A contact must match every term, in number, names or email, ignoring case and diacritics; no terms match all contacts. */
  terms: readonly SearchTerm[];
  groupId: string | null;
  after: string | null;
}

// As one jsonb value: the driver parses arrays character by character, which is far slower.
const COLUMNS = `c.id, c.msisdn, c.first_name, c.last_name, c.email, c.fields, c.created_at, c.updated_at,
  (
    select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name) order by g.name collate "pl-x-icu", g.id), '[]')
      from group_members m join contact_groups g on g.account_id = m.account_id and g.id = m.group_id
     where m.account_id = c.account_id and m.contact_id = c.id
  ) as groups`;

// Shorter fragments have no trigram, so the index cannot find them.
const TRIGRAM = 3;
const FIRST_SPELLING = 5;

export async function readContact(sql: Sql, accountId: string, id: string): Promise<ContactRow | null> {
  const [contact] = await sql<ContactRow[]>`
    select ${sql.unsafe(COLUMNS)} from contacts c where c.account_id = ${accountId} and c.id = ${id}`;
  return contact ?? null;
}

/**
 * A page of the account's contacts by id (v2.3.0, Contacts). Unprepared, because a generic plan would be slow either for rare fragments
 * (found by trigrams) or for frequent and short ones (found by scanning in order until the page is full).
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
     order by c.id limit $4`;
  return await sql.unsafe<ContactRow[]>(page, parameters(accountId, filter, limit));
}

/** Looks up contacts by number (E.164 with plus), in one statement. @returns values by MSISDN; unknown numbers are absent */
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
     order by key limit $4`;
  const rows = await sql.unsafe<{ key: string }[]>(keys, parameters(accountId, filter, limit));
  return rows.map(({ key }) => key);
}

function conditions({ terms }: ContactFilter): string {
  const members = 'select f.contact_id from group_members f where f.account_id = $1 and f.group_id = $3';
  // Where no index finds a term, scan the group's members instead of the whole address book.
  const indexed = terms.some(({ spellings }) => spellings.every(({ length }) => length >= TRIGRAM));
  const inGroup =
    terms.length > 0 && !indexed
      ? `c.id = any(array(${members}))`
      : `exists (${members} and f.contact_id = c.id)`;
  let next = FIRST_SPELLING;
  const found = terms.map(({ spellings }) => {
    const any = spellings.map(() => `c.search like fragment_pattern($${next++})`);
    return `and (${any.join(' or ')})`;
  });
  return `c.account_id = $1
    and ($2::text is null or c.id > $2)
    and ($3::text is null or ${inGroup})
    ${found.join(' ')}`;
}

function parameters(
  accountId: string,
  { terms, groupId, after }: ContactFilter,
  limit: number,
): (string | number | null)[] {
  return [accountId, after, groupId, limit, ...terms.flatMap(({ spellings }) => spellings)];
}
