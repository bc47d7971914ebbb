import {
  changedContact,
  type ContactChange,
  type ContactContent,
  isMeantAsGroupId,
  NAMELESS,
} from '../../domain/contacts.ts';
import type { Sql } from '../connection.ts';
import { findGroups, GROUPS_MAX, type NamedGroup } from './groups.ts';
import { newId } from '../ids.ts';

/** What is said of the contact of a number. */
export interface NumberedChange {
  /** E.164 with plus. */
  msisdn: string;
  change: ContactChange;
}

/** Why a contact is not written. */
export type ContactRefusal =
  | { reason: 'fields_too_many' | 'groups_full' | 'number_taken' }
  /** An id of no group of the account. */
  | { reason: 'group_unknown'; group: string };

/** What became of one element of an import. */
export type Imported = 'created' | 'updated' | ContactRefusal;

/** A contact as it is to be. */
export interface PlannedContact {
  id: string;
  content: ContactContent;
  /** Ids of the groups it is to be in; null leaves them. */
  groups: ReadonlySet<string> | null;
  /** Whether there is anything to write. */
  changed: boolean;
}

/** What a change of contacts comes to. */
export interface ContactPlan {
  /** Of each element, in their order. */
  outcomes: Imported[];
  /** By MSISDN; those that were there before and are not changed too. */
  contacts: Map<string, PlannedContact>;
  /** To be created; by id. */
  newGroups: Map<string, string>;
}

/**
 * Decides what elements come to, one after the other; nothing is written yet. Whoever calls it holds the address book,
 * so that what was read here is still so when it is written.
 */
export async function planContacts(
  tx: Sql,
  accountId: string,
  elements: readonly NumberedChange[],
): Promise<ContactPlan> {
  const contacts = await readStored(tx, accountId, elements);
  const { groups, room } = await readNamed(tx, accountId, elements);
  const newGroups = new Map<string, string>();
  const outcomes = elements.map(({ msisdn, change }): Imported => {
    const stored = contacts.get(msisdn);
    const named = (change.groups ?? []).map((name) => ({ name, group: groups.get(name)! }));
    const unknown = named.find(({ name, group }) => group.isNew && isMeantAsGroupId(name));
    if (unknown !== undefined) return { reason: 'group_unknown', group: unknown.name };
    // The first spelling of a new name is the group's.
    const added = new Map<string, string>();
    for (const { name, group } of named) if (group.isNew && !added.has(group.id)) added.set(group.id, name);
    if (new Set([...newGroups.keys(), ...added.keys()]).size > room) return { reason: 'groups_full' };
    const content = changedContact(stored?.content ?? NAMELESS, change);
    if (content === null) return { reason: 'fields_too_many' };
    for (const [id, name] of added) if (!newGroups.has(id)) newGroups.set(id, name);
    contacts.set(msisdn, {
      id: stored?.id ?? newId('ct'),
      content,
      groups:
        change.groups === undefined ? (stored?.groups ?? null) : new Set(named.map(({ group }) => group.id)),
      changed:
        stored === undefined || stored.changed || Object.values(change).some((given) => given !== undefined),
    });
    return stored === undefined ? 'created' : 'updated';
  });
  return { outcomes, contacts, newGroups };
}

async function readStored(
  tx: Sql,
  accountId: string,
  elements: readonly NumberedChange[],
): Promise<Map<string, PlannedContact>> {
  const msisdns = elements.map(({ msisdn }) => msisdn);
  const rows = await tx<(ContactContent & { id: string; msisdn: string })[]>`
    select id, msisdn, first_name, last_name, email, fields from contacts
     where account_id = ${accountId} and msisdn = any(${msisdns}::text[])`;
  return new Map(
    rows.map(({ id, msisdn, ...content }) => [msisdn, { id, content, groups: null, changed: false }]),
  );
}

/** The groups that elements name, with an id for those to come, and how many more the account may have. */
async function readNamed(
  tx: Sql,
  accountId: string,
  elements: readonly NumberedChange[],
): Promise<{ groups: Map<string, NamedGroup>; room: number }> {
  const names = [...new Set(elements.flatMap(({ change }) => change.groups ?? []))];
  if (names.length === 0) return { groups: new Map(), room: 0 };
  const { groups, count } = await findGroups(tx, accountId, names);
  return { groups, room: GROUPS_MAX - count };
}
