import {
  changedContact,
  type ContactChange,
  type ContactContent,
  isMeantAsGroupId,
  NAMELESS,
} from '../../domain/contacts.ts';
import type { Sql } from '../connection.ts';
import { readUsage, type Usage } from '../accounts/quotas.ts';
import { findGroups, type NamedGroup } from './groups.ts';
import { newId } from '../ids.ts';

/** What is said of the contact of a number. */
export interface NumberedChange {
  /** E.164 with plus. */
  msisdn: string;
  change: ContactChange;
}

/** Why a contact is not written. */
export type ContactRefusal =
  | { reason: 'fields_too_many' | 'number_taken' }
  | { reason: 'quota_reached'; quota: 'contacts' | 'groups'; limit: number }
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
  /** What the account kept before. */
  before: Usage;
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
  const groups = await readNamed(tx, accountId, elements);
  const before = await readUsage(tx, accountId);
  const room = (kind: 'contacts' | 'groups'): number => before.limits[kind] - before.used[kind];
  const full = (quota: 'contacts' | 'groups'): ContactRefusal => ({
    ...{ reason: 'quota_reached', quota, limit: before.limits[quota] },
  });
  let created = 0;
  const newGroups = new Map<string, string>();
  const outcomes = elements.map(({ msisdn, change }): Imported => {
    const stored = contacts.get(msisdn);
    const named = (change.groups ?? []).map((name) => ({ name, group: groups.get(name)! }));
    const unknown = named.find(({ name, group }) => group.isNew && isMeantAsGroupId(name));
    if (unknown !== undefined) return { reason: 'group_unknown', group: unknown.name };
    // The first spelling of a new name is the group's.
    const added = new Map<string, string>();
    for (const { name, group } of named) if (group.isNew && !added.has(group.id)) added.set(group.id, name);
    const grown = [...added.keys()].filter((id) => !newGroups.has(id)).length;
    if (grown > 0 && newGroups.size + grown > room('groups')) return full('groups');
    const content = changedContact(stored?.content ?? NAMELESS, change);
    if (content === null) return { reason: 'fields_too_many' };
    if (stored === undefined && created >= room('contacts')) return full('contacts');
    if (stored === undefined) created += 1;
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
  return { outcomes, contacts, newGroups, before };
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

/** The groups that elements name, with an id for those to come. */
async function readNamed(
  tx: Sql,
  accountId: string,
  elements: readonly NumberedChange[],
): Promise<Map<string, NamedGroup>> {
  const names = [...new Set(elements.flatMap(({ change }) => change.groups ?? []))];
  return names.length === 0 ? new Map() : await findGroups(tx, accountId, names);
}
