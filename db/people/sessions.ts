import type { Role } from '../../domain/actor.ts';
import type { AccountRow } from '../accounts/accounts.ts';
import type { Fragment, Sql } from '../connection.ts';

const IDLE = '12 hours';
const LONGEST = '7 days';
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
  } | null;
}

/** The session of a token, which counts as seen; undefined where it has ended. Role and account are as they are now. */
export async function useSession(sql: Sql, tokenHash: Buffer): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    with found as (
      select s.id, s.person_id, s.last_seen_at, p.address,
             case when a.id is not null then jsonb_build_object('id', a.id, 'name', a.name, 'mode', a.mode, 'status', a.status, 'role', m.role)
              end as account
        from sessions s join people p on p.id = s.person_id
        left join memberships m on m.person_id = s.person_id and m.account_id = s.account_id
        left join accounts a on a.id = m.account_id
       where s.token_hash = ${tokenHash} and ${isOpen(sql)}
    ), seen as (
      update sessions set last_seen_at = now()
       where id = (select id from found where last_seen_at < now() - interval '1 minute')
    )
    select id, person_id, address, account from found`;
  return row;
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

/** Ends the session of a token. */
export async function endSessionOf(sql: Sql, tokenHash: Buffer): Promise<void> {
  await sql`delete from sessions where token_hash = ${tokenHash}`;
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
