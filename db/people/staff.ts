import type { StaffRole } from '../../domain/staff.ts';
import { type Database, type Sql, transaction } from '../connection.ts';
import { TOTP_GUESSES, type Passkey, TOTP_PAUSE, type ShownPasskey } from './factors.ts';
import { type SessionRow, shownAccount } from './sessions.ts';

const IDLE = '30 minutes';
const LONGEST = '12 hours';
const FRESH = '10 minutes';

/** Whom an encrypted secret belongs to. */
export const staffTotpOwner = (id: string): string => `staff totp:${id}`;

export interface StaffRow {
  id: string;
  address: string;
  name: string;
  role: StaffRole;
}

interface ListedStaff extends StaffRow {
  passkeys: number;
  addedBy: string;
  createdAt: Date;
  lastSeenAt: Date | null;
}

/** @returns false where the address or the name is taken */
export async function addStaff(
  tx: Sql,
  { id, address, name, role }: StaffRow,
  by: { totpSecret: Buffer; addedBy: string },
): Promise<boolean> {
  const added = await tx`
    insert into staff (id, address, name, role, totp_secret, added_by)
    values (${id}, ${address}, ${name}, ${role}, ${by.totpSecret}, ${by.addedBy}) on conflict do nothing`;
  return added.count > 0;
}

export async function staffWith(sql: Sql, address: string): Promise<StaffRow | undefined> {
  const [row] = await sql<StaffRow[]>`select id, address, name, role from staff where address = ${address}`;
  return row;
}

/** By the name of who asked for something; undefined: not of staff any more. */
export async function roleOfStaff(sql: Sql, name: string): Promise<StaffRole | undefined> {
  const [row] = await sql<{ role: StaffRole }[]>`select role from staff where name = ${name}`;
  return row?.role;
}

export async function changeStaffRole(tx: Sql, id: string, role: StaffRole): Promise<void> {
  await tx`update staff set role = ${role} where id = ${id}`;
}

/** Gives one of staff another authenticator app, and no passkey; the sessions end. */
export async function replaceStaffFactors(tx: Sql, id: string, totpSecret: Buffer): Promise<void> {
  await tx`update staff set totp_secret = ${totpSecret}, totp_step = 0, totp_guesses = 0 where id = ${id}`;
  await tx`delete from staff_passkeys where staff_id = ${id}`;
  await tx`delete from staff_sessions where staff_id = ${id}`;
}

/** Removes one of staff, with sessions and factors. */
export async function removeStaff(tx: Sql, id: string): Promise<void> {
  await tx`delete from staff where id = ${id}`;
}

export async function listStaff(sql: Sql): Promise<ListedStaff[]> {
  return await sql<ListedStaff[]>`
    select t.id, t.address, t.name, t.role, t.added_by, t.created_at,
           (select count(*)::int from staff_passkeys where staff_id = t.id) as passkeys,
           (select max(last_seen_at) from staff_sessions where staff_id = t.id) as last_seen_at
      from staff t order by t.name`;
}

/** Counts a guess at a code, before it is compared; exact under concurrency. @returns undefined where it may not be compared */
export async function countStaffGuess(sql: Sql, id: string): Promise<{ totpSecret: Buffer } | undefined> {
  const [row] = await sql<{ totpSecret: Buffer }[]>`
    update staff set totp_guesses = least(totp_guesses + 1, ${TOTP_GUESSES}), totp_guessed_at = now()
     where id = ${id} and (totp_guesses < ${TOTP_GUESSES} or totp_guessed_at < now() - ${TOTP_PAUSE}::interval)
    returning totp_secret`;
  return row;
}

/** Takes a code's step, once. @returns false where it, or a later one, has been taken */
export async function takeStaffStep(tx: Sql, id: string, step: number): Promise<boolean> {
  const taken = await tx`
    update staff set totp_step = ${step}, totp_guesses = 0 where id = ${id} and totp_step < ${step}`;
  return taken.count > 0;
}

/** @returns false for one that is known, of whomever */
export async function addStaffPasskey(
  tx: Sql,
  staff: string,
  label: string,
  { id, publicKey, counter }: Passkey,
): Promise<boolean> {
  const added = await tx`
    insert into staff_passkeys (id, staff_id, label, public_key, counter)
    values (${id}, ${staff}, ${label}, ${publicKey}, ${counter}) on conflict (id) do nothing`;
  return added.count > 0;
}

export async function staffPasskeys(sql: Sql, staff: string): Promise<ShownPasskey[]> {
  return await sql<ShownPasskey[]>`
    select id, label, created_at, last_used_at from staff_passkeys where staff_id = ${staff} order by created_at, id`;
}

export async function removeStaffPasskey(tx: Sql, staff: string, id: string): Promise<boolean> {
  const removed = await tx`delete from staff_passkeys where staff_id = ${staff} and id = ${id}`;
  return removed.count > 0;
}

interface StaffPasskey extends Passkey {
  staffId: string;
  name: string;
}

/** A passkey, with whom it belongs to. */
export async function staffPasskey(sql: Sql, id: string): Promise<StaffPasskey | undefined> {
  const [row] = await sql<StaffPasskey[]>`
    select k.id, k.public_key, k.counter, k.staff_id, t.name
      from staff_passkeys k join staff t on t.id = k.staff_id where k.id = ${id}`;
  return row;
}

export async function noteStaffPasskeyUse(tx: Sql, id: string, counter: number): Promise<void> {
  await tx`update staff_passkeys set counter = ${counter}, last_used_at = now() where id = ${id}`;
}

/** Takes the answer to a challenge, or a form, once in a session. @returns false where it was taken before */
export async function takeOnce(tx: Sql, challenge: string): Promise<boolean> {
  await tx`delete from answered_challenges where at < now() - ${LONGEST}::interval`;
  const taken = await tx`
    insert into answered_challenges (challenge) values (${challenge}) on conflict do nothing`;
  return taken.count > 0;
}

const MOVED_WITHIN = '24 hours';

/** What one of staff has moved alone in 24 hours, in grosze. */
export async function movedLately(sql: Sql, staff: string): Promise<number> {
  const [row] = await sql<{ grosze: number }[]>`
    select coalesce(sum(grosze), 0)::bigint as grosze from moved_by_staff
     where staff_id = ${staff} and at > now() - ${MOVED_WITHIN}::interval`;
  return row!.grosze;
}

/**
 * Notes that one of staff is about to move money alone; what comes to nothing afterwards counts, too. Exact under concurrency.
 * @returns false where it would be more than the limit in 24 hours
 */
export async function noteMoved(
  sql: Database,
  staff: string,
  grosze: number,
  limitGrosze: number,
): Promise<boolean> {
  return await transaction(sql, async (tx) => {
    await tx`select from staff where id = ${staff} for no key update`;
    if ((await movedLately(tx, staff)) + grosze > limitGrosze) return false;
    await tx`delete from moved_by_staff where at < now() - ${MOVED_WITHIN}::interval`;
    await tx`insert into moved_by_staff (staff_id, grosze) values (${staff}, ${grosze})`;
    return true;
  });
}

/** A session of the console. */
export interface StaffSession extends StaffRow {
  sessionId: string;
  /** Otherwise it opens nothing but the question for the code. */
  isProved: boolean;
  /** Begun lately. */
  isFresh: boolean;
  /** The account that is shown as its customer sees it, an owner. */
  visited: SessionRow['account'];
}

interface NewSession {
  id: string;
  tokenHash: Buffer;
  staffId: string;
  isProved: boolean;
  address: string;
  device: string | null;
}

export async function addStaffSession(tx: Sql, session: NewSession): Promise<void> {
  const { id, tokenHash, staffId, isProved, address, device } = session;
  await tx`delete from staff_sessions where staff_id = ${staffId} and created_at < now() - ${LONGEST}::interval`;
  await tx`
    insert into staff_sessions (id, token_hash, staff_id, is_proved, address, device)
    values (${id}, ${tokenHash}, ${staffId}, ${isProved}, ${address}::inet, ${device})`;
}

/**
 * The session of a token; undefined where it has ended. The role is as it is now.
 * @param isSeen whether somebody is there, for whom it lasts longer
 */
export async function useStaffSession(
  sql: Sql,
  tokenHash: Buffer,
  isSeen: boolean,
): Promise<StaffSession | undefined> {
  const [row] = await sql<StaffSession[]>`
    with found as (
      select s.id as session_id, s.last_seen_at, s.is_proved, s.created_at > now() - ${FRESH}::interval as is_fresh, s.visited_account_id, t.id, t.address, t.name, t.role
        from staff_sessions s join staff t on t.id = s.staff_id
       where s.token_hash = ${tokenHash}
         and s.last_seen_at > now() - ${IDLE}::interval and s.created_at > now() - ${LONGEST}::interval
    ), seen as (
      update staff_sessions set last_seen_at = now()
       where ${isSeen} and id = (select session_id from found where last_seen_at < now() - interval '1 minute')
    )
    select f.session_id, f.is_proved, f.is_fresh, f.id, f.address, f.name, f.role,
           ${shownAccount(sql, sql`'owner'`)} as visited
      from found f left join accounts a on a.id = f.visited_account_id`;
  return row;
}

/** Makes a session anew that is proved: the former token is dead. */
export async function renewStaffSession(tx: Sql, id: string, tokenHash: Buffer): Promise<void> {
  await tx`update staff_sessions set token_hash = ${tokenHash}, is_proved = true where id = ${id}`;
}

export async function endStaffSession(sql: Sql, id: string): Promise<void> {
  await sql`delete from staff_sessions where id = ${id}`;
}

/** Shows an account as its customer sees it from now on; null ends that. */
export async function visitAccount(tx: Sql, session: string, account: string | null): Promise<void> {
  await tx`update staff_sessions set visited_account_id = ${account} where id = ${session}`;
}
