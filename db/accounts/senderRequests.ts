import type { Sql } from '../connection.ts';
import { newId } from '../ids.ts';

export const REQUEST_STATES = ['pending', 'approved', 'rejected'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** What an account says of the sender it asks for. */
export interface Application {
  name: string;
  /** What it is to be used for. */
  purpose: string;
  /** Whose name it is. */
  applicant: string;
}

export interface SenderRequest extends Application {
  id: string;
  accountId: string;
  state: RequestState;
  /** Of the decision. */
  reason: string | null;
  /** The person who asked. */
  requestedBy: string;
  createdAt: Date;
  decidedAt: Date | null;
}

function columns(sql: Sql) {
  return sql`id, account_id, name, purpose, applicant, state, reason, requested_by, created_at, decided_at`;
}

/** @returns its id */
export async function insertSenderRequest(
  sql: Sql,
  { account, by, name, purpose, applicant }: Application & { account: string; by: string },
): Promise<string> {
  const id = newId('snd');
  await sql`
    insert into sender_requests (id, account_id, name, purpose, applicant, requested_by)
    values (${id}, ${account}, ${name}, ${purpose}, ${applicant}, ${by})`;
  return id;
}

/** Requests of an account (null: of all): pending ones the oldest first, others the latest first. @param state null: any */
export async function readSenderRequests(
  sql: Sql,
  account: string | null,
  state: RequestState | null,
  limit: number,
): Promise<SenderRequest[]> {
  return await sql<SenderRequest[]>`
    select ${columns(sql)} from sender_requests
     where ${account === null ? sql`true` : sql`account_id = ${account}`}
       and ${state === null ? sql`true` : sql`state = ${state}`}
     order by ${state === 'pending' ? sql`id` : sql`id desc`} limit ${limit}`;
}

export async function lockSenderRequest(sql: Sql, id: string): Promise<SenderRequest | undefined> {
  const [request] = await sql<SenderRequest[]>`
    select ${columns(sql)} from sender_requests where id = ${id} for update`;
  return request;
}

export async function decideSenderRequest(
  sql: Sql,
  id: string,
  state: Exclude<RequestState, 'pending'>,
  reason: string | null,
): Promise<void> {
  await sql`
    update sender_requests set state = ${state}, reason = ${reason}, decided_at = now() where id = ${id}`;
}
