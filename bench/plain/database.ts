import type { Sql } from '../../db/connection.ts';

const ACCOUNT = 'bench';
const PRICE_GROSZE = 7;
const BALANCE_GROSZE = 1_000_000_000;

/** A message as the plain pipeline takes it. */
export interface NewMessage {
  id: string;
  recipient: string;
  text: string;
}

/** The tables that the life cycle needs, and the one account. */
export const TABLES = `
  create table accounts (id text primary key, balance_grosze bigint not null check (balance_grosze >= 0));
  insert into accounts values ('${ACCOUNT}', ${BALANCE_GROSZE});
  create table messages (
    id text primary key, account_id text not null references accounts, recipient text not null, text text not null,
    status text not null default 'queued', carrier_id text unique,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now());
  create table ledger (
    id bigint generated always as identity primary key, account_id text not null references accounts,
    message_id text not null unique references messages, amount_grosze bigint not null,
    created_at timestamptz not null default now());
  create table reports (carrier_id text primary key, status text not null, at timestamptz not null default now());`;

/** Writes a message and its charge, inside a transaction of the caller's; nothing when it is there already. */
export async function charge(sql: Sql, { id, recipient, text }: NewMessage): Promise<void> {
  const written = await sql`
    insert into messages (id, account_id, recipient, text) values (${id}, ${ACCOUNT}, ${recipient}, ${text})
        on conflict do nothing`;
  if (written.count === 0) return;
  const paid = await sql`
    update accounts set balance_grosze = balance_grosze - ${PRICE_GROSZE}
     where id = ${ACCOUNT} and balance_grosze >= ${PRICE_GROSZE}`;
  if (paid.count === 0) throw new Error('insufficient funds');
  await sql`
    insert into ledger (account_id, message_id, amount_grosze) values (${ACCOUNT}, ${id}, ${-PRICE_GROSZE})`;
}

/** Notes that the provider has the message. */
export async function storeAnswer(sql: Sql, id: string, providerId: string): Promise<void> {
  await sql`
    update messages set status = 'sent', carrier_id = ${providerId}, updated_at = now()
     where id = ${id} and status = 'queued'`;
}

/** Keeps what a delivery report says; its message may not be known yet. */
export async function storeReport(sql: Sql, providerId: string, status: string): Promise<void> {
  await sql`insert into reports (carrier_id, status) values (${providerId}, ${status}) on conflict do nothing`;
}

/**
 * Brings answer and report of a message together, whichever came last: each is stored before this is asked.
 * @returns the message that has just ended, or null while one of them is missing or when it had ended before
 */
export async function conclude(sql: Sql, providerId: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    update messages m set status = r.status, updated_at = now() from reports r
     where m.carrier_id = ${providerId} and r.carrier_id = m.carrier_id and m.status = 'sent'
    returning m.id`;
  return row?.id ?? null;
}

/** Reads one message as webhooks show it. */
export async function readMessage(sql: Sql, id: string): Promise<NewMessage & { status: string }> {
  const [row] = await sql<(NewMessage & { status: string })[]>`
    select id, recipient, text, status from messages where id = ${id}`;
  return row!;
}
