import type { Sql } from '../../db/connection.ts';
import * as stored from '../../db/contacts/contactChanges.ts';
import { type ContactRow, readContact } from '../../db/contacts/contacts.ts';
import type { NumberedChange } from '../../domain/contactPlan.ts';
import type { ContactChange } from '../../domain/contacts.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Asked } from '../asked.ts';
import { applyChanges, changeBook } from './changeBook.ts';

/** A change of a contact that exists. */
export interface ContactPatch {
  /** `ct_…`. */
  id: string;
  /** E.164 with plus; undefined leaves it. */
  msisdn?: string | undefined;
  change: ContactChange;
}

/**
 * Creates the contact of a number, or updates it where there is one (v2.3.0, Contacts). Groups named for the first time are
 * created.
 * @throws Refused and nothing is written
 */
export async function saveContact({
  services: { sql },
  caller: { accountId },
  input,
}: Asked<NumberedChange>): Promise<{ created: boolean; contact: ContactRow }> {
  return await changeBook(sql, accountId, async (tx) => {
    const { id, created } = await saveOne(tx, accountId, input);
    return { created, contact: (await readContact(tx, accountId, id))! };
  });
}

/**
 * Changes one contact (v2.3.0, PATCH /v1/contacts/{id}): its number, what it says, its groups.
 * @throws Refused where there is none, also where the number is another contact's; nothing is changed then
 */
export async function changeContact({
  services: { sql },
  caller: { accountId },
  input: { id, msisdn, change },
}: Asked<ContactPatch>): Promise<ContactRow> {
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

/** Removes a contact and its memberships; its number is not blacklisted. @throws Refused where there is none */
export async function deleteContact({
  services: { sql },
  caller: { accountId },
  input: { id },
}: Asked<{ id: string }>): Promise<void> {
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
