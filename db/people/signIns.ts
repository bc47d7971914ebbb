import { type Database, type Fragment, lockNames, type Sql, withNamedLock } from '../connection.ts';
import { type CountedEmail, countEmail, type EmailBudget, type EmailLimit } from './emailLimits.ts';
import { isAddressTaken } from './people.ts';

/** Accounts opened from a network in a day. */
const ACCOUNTS_A_DAY = 5;
/** Codes compared with one that was sent. */
const GUESSES = 5;
// Of all e-mails to an address, so that new ones bring no new guesses for ever.
const GUESSES_A_DAY = 25;

interface NewSignIn {
  id: string;
  address: string;
  /** Of who asks; of IPv6 the /64. */
  network: string;
  browserHash: Buffer;
  linkHash: Buffer;
  codeHash: Buffer;
  next: string | null;
}

/** Stores a sign-in unless address, network or the day have had too many; exact under concurrency. */
export async function addSignIn(
  sql: Database,
  signIn: NewSignIn,
  budget: EmailBudget,
): Promise<CountedEmail | EmailLimit> {
  const { id, address, network, browserHash, linkHash, codeHash, next } = signIn;
  return await withNamedLock(sql, `e-mails from ${network}`, async (tx) => {
    const forPerson = await isAddressTaken(tx, address);
    const email = { kind: 'sign_in', address, asker: network, forPerson } as const;
    const counted = await countEmail(tx, email, budget);
    if ('limited' in counted) return counted;
    await tx`
      insert into sign_ins (id, address, network, browser_hash, link_hash, code_hash, next)
      values (${id}, ${address}, ${network}::inet, ${browserHash}, ${linkHash}, ${codeHash}, ${next})`;
    return counted;
  });
}

export interface SignIn {
  id: string;
  address: string;
  state: 'open' | 'used' | 'expired';
  /** Path to open afterwards. */
  next: string | null;
  /** Whether the browser that asks is the one that it began in. */
  here: boolean;
}

/** The sign-in of a link; undefined for one that is not ours, or older than a day. */
export async function readLink(
  sql: Sql,
  linkHash: Buffer,
  browserHash: Buffer | null,
): Promise<SignIn | undefined> {
  const [row] = await sql<SignIn[]>`
    select id, address, next, ${stateOf(sql)}, browser_hash is not distinct from ${browserHash} as here
      from sign_ins where link_hash = ${linkHash}`;
  return row;
}

/** The latest sign-in that began in a browser. */
export async function latestSignIn(sql: Sql, browserHash: Buffer): Promise<SignIn | undefined> {
  const [row] = await sql<SignIn[]>`
    select id, address, next, ${stateOf(sql)}, true as here
      from sign_ins where browser_hash = ${browserHash} order by created_at desc, id desc limit 1`;
  return row;
}

/** Counts a guess at the code of a browser's latest sign-in, before it is compared. @returns undefined where none is left */
export async function countGuess(
  sql: Sql,
  browserHash: Buffer,
): Promise<{ id: string; codeHash: Buffer; left: number } | undefined> {
  const [row] = await sql<{ id: string; codeHash: Buffer; left: number }[]>`
    update sign_ins s set guesses = s.guesses + 1
     where s.id = (select id from sign_ins where browser_hash = ${browserHash} order by created_at desc, id desc limit 1)
       and s.used_at is null and s.expires_at > now() and s.guesses < ${GUESSES}
       and (select sum(o.guesses) from sign_ins o where o.address = s.address and o.used_at is null
               and o.created_at > now() - interval '1 day') < ${GUESSES_A_DAY}
    returning s.id, s.code_hash, ${GUESSES} - s.guesses as left`;
  return row;
}

export interface TakenSignIn {
  id: string;
  address: string;
  network: string;
  next: string | null;
}

/** Uses a sign-in, by its link or its id, once. @returns undefined where it is used, expired or unknown */
export async function takeSignIn(
  tx: Sql,
  by: { linkHash: Buffer } | { id: string },
): Promise<TakenSignIn | undefined> {
  const which = 'id' in by ? tx`id = ${by.id}` : tx`link_hash = ${by.linkHash}`;
  const [row] = await tx<TakenSignIn[]>`
    update sign_ins set used_at = now() where ${which} and used_at is null and expires_at > now()
    returning id, address, network::text, next`;
  return row;
}

/** Notes that a sign-in opens an account; exact under concurrency. @returns false where its network has opened too many */
export async function noteOpening(tx: Sql, { id, network }: TakenSignIn): Promise<boolean> {
  await lockNames(tx, [`accounts from ${network}`]);
  const noted = await tx`
    update sign_ins set opened_account = true
     where id = ${id} and (select count(*) from sign_ins where network = ${network}::inet and opened_account
                              and created_at > now() - interval '1 day') < ${ACCOUNTS_A_DAY}`;
  return noted.count > 0;
}

function stateOf(sql: Sql): Fragment {
  return sql`case when used_at is not null then 'used' when expires_at <= now() then 'expired' else 'open' end as state`;
}
