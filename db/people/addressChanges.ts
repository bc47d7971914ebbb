import type { Fragment, Sql } from '../connection.ts';
import { removeFactorsSince } from './factors.ts';
import { lockPerson } from './people.ts';

interface NewChange {
  personId: string;
  address: string;
  linkHash: Buffer;
}

/** Notes a change that waits for an hour for its new address, in place of the one that waited before. The caller has locked the person. */
export async function insertAddressChange(
  tx: Sql,
  { personId, address, linkHash }: NewChange,
): Promise<void> {
  await tx`delete from address_changes where person_id = ${personId} and confirmed_at is null`;
  await tx`
    insert into address_changes (link_hash, person_id, address, expires_at)
    values (${linkHash}, ${personId}, ${address}, now() + interval '1 hour')`;
}

/** The new address that a person's change waits for. */
export async function waitingAddress(sql: Sql, personId: string): Promise<string | undefined> {
  const [row] = await sql<{ address: string }[]>`
    select address from address_changes where person_id = ${personId} and confirmed_at is null and ${isOpen(sql)}`;
  return row?.address;
}

/** What a link does: to the new address it confirms the change, to the former one it undoes it. */
export interface AddressChange {
  personId: string;
  /** The one that the person would have. */
  address: string;
  confirmedAt: Date | null;
}

/** The change of a link; undefined for one that is used, old, or not ours. */
export async function readAddressChange(sql: Sql, linkHash: Buffer): Promise<AddressChange | undefined> {
  const [row] = await sql<AddressChange[]>`
    select person_id, address, confirmed_at from address_changes where link_hash = ${linkHash} and ${isOpen(sql)}`;
  return row;
}

/** Gives a person the address of a change that waits, once. @returns the former address, for the undo link; undefined: the link is over */
export async function confirmAddressChange(
  tx: Sql,
  personId: string,
  linkHash: Buffer,
  undoHash: Buffer,
): Promise<{ former: string; address: string } | undefined> {
  await lockPerson(tx, personId);
  const [row] = await tx<{ former: string; address: string }[]>`
    with taken as (
      delete from address_changes
       where link_hash = ${linkHash} and person_id = ${personId} and confirmed_at is null and ${isOpen(tx)}
      returning person_id, address
    ), before as (
      select p.id, p.address as former, t.address from people p join taken t on t.person_id = p.id
    ), regained as (
      delete from address_changes c using before b
       where c.person_id = b.id and c.address = b.address and c.confirmed_at is not null
    ), noted as (
      insert into address_changes (link_hash, person_id, address, confirmed_at, expires_at)
      select ${undoHash}, id, former, now(), now() + interval '7 days' from before
    )
    update people p set address = b.address from before b where p.id = b.id returning b.former, b.address`;
  return row;
}

/** Lets another link undo the change by which an address was given up. @returns false where none can be undone */
export async function addUndoLink(tx: Sql, address: string, undoHash: Buffer): Promise<boolean> {
  await lockPersonOf(tx, tx`address = ${address} and confirmed_at is not null`);
  const added = await tx`
    insert into address_changes (link_hash, person_id, address, confirmed_at, expires_at)
    select ${undoHash}, person_id, address, confirmed_at, expires_at from address_changes
     where address = ${address} and confirmed_at is not null and ${isOpen(tx)} limit 1`;
  return added.count > 0;
}

/**
 * Gives a person the address back that a confirmed change took, once, and ends all sessions, the second factors and recovery codes since;
 * later changes can no longer be undone.
 * @returns with the address that it replaces; undefined: the link is over
 */
export async function undoAddressChange(
  tx: Sql,
  undoHash: Buffer,
): Promise<{ personId: string; address: string; replaced: string } | undefined> {
  await lockPersonOf(tx, tx`link_hash = ${undoHash}`);
  const [undone] = await tx<{ personId: string; address: string; confirmedAt: Date }[]>`
    delete from address_changes where link_hash = ${undoHash} and confirmed_at is not null and ${isOpen(tx)}
    returning person_id, address, confirmed_at`;
  if (undone === undefined) return undefined;
  const { personId, address, confirmedAt } = undone;
  await tx`
    delete from address_changes
     where person_id = ${personId} and (confirmed_at is null or confirmed_at >= ${confirmedAt})`;
  await tx`delete from sessions where person_id = ${personId}`;
  // Factors of whoever took the address would keep the person out.
  await removeFactorsSince(tx, personId, confirmedAt);
  const [person] = await tx<{ replaced: string }[]>`
    update people set address = ${address} where id = ${personId} returning old.address as replaced`;
  return { personId, address, replaced: person!.replaced };
}

/** Locks whose changes these are, before the changes and sessions. */
async function lockPersonOf(tx: Sql, changes: Fragment): Promise<void> {
  await tx`
    select from people where id in (select person_id from address_changes where ${changes}) for no key update`;
}

function isOpen(sql: Sql): Fragment {
  return sql`expires_at > now()`;
}
