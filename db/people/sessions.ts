import type { Role } from '../../domain/actor.ts';
import type { AccountRow } from '../accounts/accounts.ts';
import type { Fragment, Sql } from '../connection.ts';

const IDLE = '12 hours';
const LONGEST = '7 days';
const FRESH = '15 minutes';
const CHALLENGE = '5 minutes';
// Of a person: the ones seen longest ago end.
const SESSIONS_MAX = 20;

interface NewSession {
  id: string;
  tokenHash: Buffer;
  personId: string;
  accountId: string | null;
  address: string;
  device: string | null;
}

/** Begins a session. */
export async function addSession(tx: Sql, session: NewSession): Promise<void> {
  const { id, tokenHash, personId, accountId, address, device } = session;
  await tx`
    insert into sessions (id, token_hash, person_id, account_id, assurance, address, device)
    values (${id}, ${tokenHash}, ${personId}, ${accountId}, 'address', ${address}::inet, ${device})`;
  await tx`
    delete from sessions where id in (
      select id from sessions where person_id = ${personId} order by last_seen_at desc, id desc offset ${SESSIONS_MAX})`;
}

/** A session, with the person and the account that it shows. */
export interface SessionRow {
  id: string;
  personId: string;
  address: string;
  /** Null: the person has no account. */
  account: {
    id: string;
    name: string;
    mode: AccountRow['mode'];
    status: AccountRow['status'];
    role: Role;
    /** The statement due first of those that a postpaid account has not paid; null: none. */
    unpaid: { month: string; grosze: number; due: string; overdue: boolean } | null;
  } | null;
  /** Whether the person has a second factor. */
  hasFactor: boolean;
  /** It is still to be proved: until then the session opens nothing. */
  owesFactor: boolean;
  /** The person has signed in, or proved a factor, within 15 minutes. */
  isFresh: boolean;
}

/** The session of a token, which counts as seen; undefined where it has ended. Role and account are as they are now. */
export async function useSession(sql: Sql, tokenHash: Buffer): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    with found as (
      select s.id, s.person_id, s.last_seen_at, p.address, s.assurance,
             s.confirmed_at > now() - ${FRESH}::interval as is_fresh,
             exists (select from totp where person_id = p.id)
               or exists (select from passkeys where person_id = p.id) as has_factor,
             ${shownAccount(sql, sql`m.role`)} as account
        from sessions s join people p on p.id = s.person_id
        left join memberships m on m.person_id = s.person_id and m.account_id = s.account_id
        left join accounts a on a.id = m.account_id
       where s.token_hash = ${tokenHash} and ${isOpen(sql)}
    ), seen as (
      update sessions set last_seen_at = now()
       where id = (select id from found where last_seen_at < now() - interval '1 minute')
    )
    select id, person_id, address, account, has_factor, has_factor and assurance = 'address' as owes_factor, is_fresh
      from found`;
  return row;
}

/** As SQL: an account `a` as a session shows it; null without one. */
export function shownAccount(sql: Sql, role: Fragment): Fragment {
  return sql`
    case when a.id is not null then
      jsonb_build_object('id', a.id, 'name', a.name, 'mode', a.mode, 'status', a.status, 'role', ${role}, 'unpaid', ${unpaid(sql)})
     end`;
}

// As SQL, for an account `a`.
function unpaid(sql: Sql): Fragment {
  return sql`
    case when a.billing_mode = 'postpaid' then (
      select jsonb_build_object('month', to_char(t.month, 'YYYY-MM'), 'grosze', t.amount_grosze, 'due', t.due_at, 'overdue', t.due_at < now())
        from statements t where t.account_id = a.id and t.paid_at is null order by t.due_at limit 1)
     end`;
}

/** A session as its person sees it. */
export interface ShownSession {
  id: string;
  address: string;
  device: string | null;
  createdAt: Date;
  lastSeenAt: Date;
}

/** The open sessions of a person, the one seen last first. */
export async function sessionsOf(sql: Sql, person: string): Promise<ShownSession[]> {
  return await sql<ShownSession[]>`
    select s.id, host(s.address) as address, s.device, s.created_at, s.last_seen_at
      from sessions s where s.person_id = ${person} and ${isOpen(sql)} order by s.last_seen_at desc, s.id desc`;
}

/** Ends sessions of a person: one, or all but one. */
export async function endSessions(
  sql: Sql,
  person: string,
  which: { only: string } | { except: string },
): Promise<void> {
  const chosen = 'only' in which ? sql`id = ${which.only}` : sql`id <> ${which.except}`;
  await sql`delete from sessions where person_id = ${person} and ${chosen}`;
}

/** Ends the session of a token. @returns whose it was, and the account that it showed */
export async function endSessionOf(
  sql: Sql,
  tokenHash: Buffer,
): Promise<{ personId: string; accountId: string | null } | undefined> {
  const [ended] = await sql<{ personId: string; accountId: string | null }[]>`
    delete from sessions where token_hash = ${tokenHash} returning person_id, account_id`;
  return ended;
}

/** Makes a session anew, whose person has proved a second factor: the former token is dead. */
export async function renewSession(tx: Sql, id: string, tokenHash: Buffer): Promise<void> {
  await tx`
    update sessions set token_hash = ${tokenHash}, assurance = 'two_factors', confirmed_at = now(), challenge = null
     where id = ${id}`;
}

/** What a passkey has to sign in this session, within five minutes: the challenge that is open, as other pages show it, else this one. */
export async function openChallenge(sql: Sql, id: string, challenge: string): Promise<string> {
  const [row] = await sql<{ challenge: string }[]>`
    update sessions
       set challenge = case when challenge_expires_at > now() then coalesce(challenge, ${challenge}) else ${challenge} end,
           challenge_expires_at = now() + ${CHALLENGE}::interval
     where id = ${id} returning challenge`;
  // Without the session nothing is proved.
  return row?.challenge ?? challenge;
}

/** Takes the challenge of a session, once. @returns undefined where there is none */
export async function takeChallenge(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ challenge: string }[]>`
    update sessions s set challenge = null
      from (select id, challenge from sessions
             where id = ${id} and challenge is not null and challenge_expires_at > now() for update) found
     where s.id = found.id returning found.challenge`;
  return row?.challenge;
}

/** Shows another account of the person. @returns false where the person has none of this id */
export async function showAccount(sql: Sql, session: SessionRow, account: string): Promise<boolean> {
  const shown = await sql`
    update sessions s set account_id = m.account_id from memberships m
     where s.id = ${session.id} and m.person_id = s.person_id and m.account_id = ${account}`;
  return shown.count > 0;
}

function isOpen(sql: Sql): Fragment {
  return sql`(s.last_seen_at > now() - ${IDLE}::interval and s.created_at > now() - ${LONGEST}::interval)`;
}
