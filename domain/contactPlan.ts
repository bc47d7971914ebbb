import {
  changedContact,
  type ContactChange,
  type ContactContent,
  CUSTOM_FIELDS_MAX,
  isMeantAsGroupId,
  EMPTY_CONTACT,
  memoizedKeys,
} from './contacts.ts';
import { Refused } from './refusals.ts';

export interface NumberedChange {
  /** E.164 with plus. */
  msisdn: string;
  change: ContactChange;
}

export interface NamedGroup {
  /** Null if it does not exist. */
  id: string | null;
  /** Its name for comparison: the same for all spellings. */
  compared: string;
}

/** The part of an address book that changes refer to, with its usage and limits. */
export interface BookExcerpt {
  /** By MSISDN. */
  contacts: ReadonlyMap<string, { id: string; content: ContactContent }>;
  /** By the name or id in a change; complete. */
  groups: ReadonlyMap<string, NamedGroup>;
  used: Readonly<Record<'contacts' | 'groups', number>>;
  limits: Readonly<Record<'contacts' | 'groups', number>>;
}

type ContactOutcome = 'created' | 'updated' | Refused;

export interface PlannedContact {
  id: string;
  content: ContactContent;
  /** Ids of its groups; null leaves them. */
  groups: ReadonlySet<string> | null;
  changed: boolean;
}

export interface ContactPlan {
  /** One per change, in their order. */
  outcomes: ContactOutcome[];
  /** By MSISDN; includes existing contacts without changes. */
  contacts: Map<string, PlannedContact>;
  /** Groups to create: name by id. */
  newGroups: Map<string, string>;
}

interface NewIds {
  contact: () => string;
  group: () => string;
}

/** Plans changes in order (v2.3.0, Contacts). A refused change affects no other, creates no group and uses no id. */
export function planContacts(
  { contacts: stored, groups, used, limits }: BookExcerpt,
  changes: readonly NumberedChange[],
  newIds: NewIds,
): ContactPlan {
  const contacts = new Map(
    [...stored].map(([msisdn, known]): [string, PlannedContact] => [
      msisdn,
      { ...known, groups: null, changed: false },
    ]),
  );
  const madeGroups = new Map<string, MadeGroup>();
  const compare = memoizedKeys();
  let created = 0;
  const outcomes: ContactOutcome[] = [];
  for (const { msisdn, change } of changes) outcomes.push(planOne(msisdn, change));
  const newGroups = new Map([...madeGroups.values()].map(({ id, name }) => [id, name]));
  return { outcomes, contacts, newGroups };

  function planOne(msisdn: string, change: ContactChange): ContactOutcome {
    const before = contacts.get(msisdn);
    const named = (change.groups ?? []).map((name) => ({ name, group: groups.get(name)! }));
    const unknown = named.find(({ name, group }) => group.id === null && isMeantAsGroupId(name));
    if (unknown !== undefined) return new Refused({ reason: 'group_unknown', group: unknown.name }, 'groups');
    const added = newNames(named, madeGroups);
    if (added.size > 0 && used.groups + madeGroups.size + added.size > limits.groups) {
      return new Refused({ reason: 'quota_reached', quota: 'groups', limit: limits.groups }, 'groups');
    }
    const content = changedContact(before?.content ?? EMPTY_CONTACT, change, compare);
    if (content === null)
      return new Refused({ reason: 'fields_too_many', limit: CUSTOM_FIELDS_MAX }, 'fields');
    if (before === undefined && used.contacts + created >= limits.contacts) {
      return new Refused({ reason: 'quota_reached', quota: 'contacts', limit: limits.contacts }, 'msisdn');
    }
    if (before === undefined) created += 1;
    for (const [compared, name] of added) madeGroups.set(compared, { id: newIds.group(), name });
    const idOf = ({ id, compared }: NamedGroup): string => id ?? madeGroups.get(compared)!.id;
    contacts.set(msisdn, {
      id: before?.id ?? newIds.contact(),
      content,
      groups:
        change.groups === undefined
          ? (before?.groups ?? null)
          : new Set(named.map(({ group }) => idOf(group))),
      changed:
        before === undefined || before.changed || Object.values(change).some((given) => given !== undefined),
    });
    return before === undefined ? 'created' : 'updated';
  }
}

interface MadeGroup {
  id: string;
  /** In the first spelling. */
  name: string;
}

// Groups that neither exist nor were made by an earlier change: compared name → first spelling.
function newNames(
  named: readonly { name: string; group: NamedGroup }[],
  made: ReadonlyMap<string, MadeGroup>,
): Map<string, string> {
  const names = new Map<string, string>();
  for (const { name, group } of named)
    if (group.id === null && !made.has(group.compared) && !names.has(group.compared))
      names.set(group.compared, name);
  return names;
}
