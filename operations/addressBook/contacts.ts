import { readUsage, enforceQuotas } from '../../db/accounts/quotas.ts';
import type { Database, Sql } from '../../db/connection.ts';
import { changeAddressBook, type ContactRow, readContact } from '../../db/contacts/contacts.ts';
import * as stored from '../../db/contacts/contactChanges.ts';
import { newId } from '../../db/ids.ts';
import { type ContactPlan, type NumberedChange, planContacts } from '../../domain/contactPlan.ts';
import { withinQuota } from '../quotas.ts';
import { type ContactChange, IMPORT_MAX } from '../../domain/contacts.ts';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import type { OperationContext } from '../context.ts';

// The request field to blame for each quota.
const BLAMED = {
  contacts: 'msisdn',
  groups: 'groups',
  memberships: 'groups',
  contact_bytes: 'fields',
} as const;

/** Changes the address book in one transaction, after those that began before. @throws Refused above the account's quotas */
export async function changeBook<T>(
  sql: Database,
  accountId: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await withinQuota(BLAMED, changeAddressBook(sql, accountId, work));
}

const NEW_IDS = { contact: () => newId('ct'), group: () => newId('gr') };

/** Creates and updates contacts by number in a transaction; refused ones are not written. @throws QuotaReachedError */
async function applyChanges(
  tx: Sql,
  accountId: string,
  changes: readonly NumberedChange[],
): Promise<ContactPlan> {
  const usage = await readUsage(tx, accountId);
  const groupNames = [...new Set(changes.flatMap(({ change }) => change.groups ?? []))];
  const named = await stored.readNamed(tx, accountId, changes, groupNames);
  const plan = planContacts({ ...named, ...usage }, changes, NEW_IDS);
  await stored.writeContacts(tx, accountId, plan);
  await enforceQuotas(tx, accountId, usage);
  return plan;
}

interface ContactPatch {
  id: string;
  /** E.164; undefined leaves it. */
  msisdn?: string | undefined;
  change: ContactChange;
}

/** Creates or updates the contact of a number (v2.3.0, Contacts), creating groups that do not exist. @throws Refused and writes nothing */
export async function saveContact({
  services: { sql },
  caller: { accountId },
  input,
}: OperationContext<NumberedChange>): Promise<{ created: boolean; contact: ContactRow }> {
  return await changeBook(sql, accountId, async (tx) => {
    const { id, created } = await saveOne(tx, accountId, input);
    return { created, contact: (await readContact(tx, accountId, id))! };
  });
}

/**
 * Changes a contact's number, data or groups (v2.3.0, PATCH /v1/contacts/{id}).
 * @throws Refused for an unknown contact or a number of another contact; nothing is changed then
 */
export async function changeContact({
  services: { sql },
  caller: { accountId },
  input: { id, msisdn, change },
}: OperationContext<ContactPatch>): Promise<ContactRow> {
  return await changeBook(sql, accountId, async (tx) => {
    const before = await readContact(tx, accountId, id);
    if (before === null) throw unknown();
    if (msisdn !== undefined && msisdn !== before.msisdn) {
      const renumbered = await stored.renumberContact(tx, accountId, id, msisdn);
      if (!renumbered) throw new Refused({ reason: 'contact_number_taken' }, 'msisdn');
    }
    await saveOne(tx, accountId, { msisdn: msisdn ?? before.msisdn, change });
    return (await readContact(tx, accountId, id))!;
  });
}

/** Deletes a contact and its memberships; its number is not blacklisted. @throws Refused if it does not exist */
export async function deleteContact({
  services: { sql },
  caller: { accountId },
  input: { id },
}: OperationContext<{ id: string }>): Promise<void> {
  if (!(await stored.deleteContact(sql, accountId, id))) throw unknown();
}

async function saveOne(
  tx: Sql,
  accountId: string,
  numbered: NumberedChange,
): Promise<{ id: string; created: boolean }> {
  const { outcomes, contacts } = await applyChanges(tx, accountId, [numbered]);
  const outcome = outcomes[0]!;
  if (outcome instanceof Refused) throw outcome;
  return { id: contacts.get(numbered.msisdn)!.id, created: outcome === 'created' };
}

function unknown(): Refused {
  return new Refused({ reason: 'contact_unknown' });
}

interface ImportedContacts {
  created: number;
  updated: number;
  invalid: { index: number; refusal: Refusal; param: string | null }[];
}

/**
 * Creates and updates up to 500 contacts by number (v2.3.0, Contacts), in order, skipping those that `read` refuses.
 * @throws Refused for too many elements, and above the account's quotas
 */
export async function importContacts<Element>(
  { services: { sql }, caller: { accountId }, input: elements }: OperationContext<readonly Element[]>,
  read: (element: Element) => NumberedChange,
): Promise<ImportedContacts> {
  if (elements.length > IMPORT_MAX) throw new Refused({ reason: 'contacts_too_many', limit: IMPORT_MAX });
  const contacts = elements.map((element) => readOne(element, read));
  return await changeBook(sql, accountId, (tx) => importInto(tx, accountId, contacts));
}

/** Creates and updates contacts within a change of the address book. @param contacts those that could be read, or why not */
export async function importInto(
  tx: Sql,
  accountId: string,
  contacts: readonly (NumberedChange | Refused)[],
): Promise<ImportedContacts> {
  const changes = contacts.filter((contact): contact is NumberedChange => !(contact instanceof Refused));
  const applied = changes.length === 0 ? [] : (await applyChanges(tx, accountId, changes)).outcomes;
  const outcomes = contacts.map((contact) => (contact instanceof Refused ? contact : applied.shift()!));
  return {
    created: outcomes.filter((outcome) => outcome === 'created').length,
    updated: outcomes.filter((outcome) => outcome === 'updated').length,
    invalid: outcomes.flatMap((outcome, index) =>
      outcome instanceof Refused ? [{ index, refusal: outcome.refusal, param: outcome.param }] : [],
    ),
  };
}

/** Reads one element of an import. @returns why it cannot be read, otherwise */
export function readOne<Element>(
  element: Element,
  read: (element: Element) => NumberedChange,
): NumberedChange | Refused {
  try {
    return read(element);
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}
