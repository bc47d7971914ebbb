import {
  changedContact,
  type ContactChange,
  type ContactContent,
  CUSTOM_FIELDS_MAX,
  isMeantAsGroupId,
  NAMELESS,
  rememberedKeys,
} from './contacts.ts';
import { Refused } from './refusals.ts';

/** What is said of the contact of a number. */
export interface NumberedChange {
  /** E.164 with plus. */
  msisdn: string;
  change: ContactChange;
}

/** A group that somebody named. */
export interface NamedGroup {
  /** Null of one that is not there. */
  id: string | null;
  /** Its name as names are compared: the same for all spellings of one. */
  compared: string;
}

/** What an address book holds of that which some changes name, and how full it is. */
export interface BookExcerpt {
  /** By MSISDN. */
  contacts: ReadonlyMap<string, { id: string; content: ContactContent }>;
  /** By the name or id that a change has for it; every one is there. */
  groups: ReadonlyMap<string, NamedGroup>;
  used: Readonly<Record<'contacts' | 'groups', number>>;
  limits: Readonly<Record<'contacts' | 'groups', number>>;
}

/** What becomes of one change. */
type ContactOutcome = 'created' | 'updated' | Refused;

/** A contact as it is to be. */
export interface PlannedContact {
  id: string;
  content: ContactContent;
  /** Ids of the groups it is to be in; null leaves them. */
  groups: ReadonlySet<string> | null;
  /** Whether there is anything to write. */
  changed: boolean;
}

/** What changes of contacts come to. */
export interface ContactPlan {
  /** Of each change, in their order. */
  outcomes: ContactOutcome[];
  /** By MSISDN; those that were there before and are not changed too. */
  contacts: Map<string, PlannedContact>;
  /** To be created; names by id. */
  newGroups: Map<string, string>;
}

/** Makes the ids of what is new. */
interface NewIds {
  contact: () => string;
  group: () => string;
}

/**
 * Decides what changes come to, one after the other (v2.3.0, Contacts): of two with one number the later one updates what the
 * earlier one made. What is refused leaves the others as they are, and no group is made for it alone, nor an id drawn.
 */
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
  const compare = rememberedKeys();
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
    const content = changedContact(before?.content ?? NAMELESS, change, compare);
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

/** The new groups among those named that no change before has made, as they are compared, in their first spelling. */
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
