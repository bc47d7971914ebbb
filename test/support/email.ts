import { generateKeyPairSync } from 'node:crypto';
import { expect, inject, onTestFinished } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { sealDomainKey } from '../../db/emails/domains.ts';
import { encrypt } from '../../db/installation.ts';
import { newId } from '../../db/ids.ts';
import type { AccountWish } from './factories.ts';
import { database } from './factories.ts';
import { type EarlierAccount, type EarlierClient, newEarlierAccount } from './earlierClient.ts';
import { decided } from './decided.ts';
import { eventually } from './eventually.ts';
import { startHttpReceiver } from './httpReceiver.ts';

// Made once: a key takes a quarter of a second.
const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const DKIM_PUBLIC_KEY = publicKey.toString('base64');

let domains = 0;

/** A name that no other test has. */
export function newDomainName(): string {
  domains += 1;
  return `d${domains}-${newId('dom').slice(-10)}.example`;
}

interface DomainWish {
  name?: string;
  isDefault?: boolean;
  /** Verified for these alone; absent: staff answer for it, so that every route takes it. */
  routes?: readonly string[];
  /** False: nothing of that. */
  confirmed?: boolean;
}

/** Gives an account a sender domain. @returns its name */
export async function giveDomain(accountId: string, wish: DomainWish = {}): Promise<string> {
  return await insertDomain(database(), Buffer.from(inject('service').secretsKey, 'base64'), accountId, wish);
}

/** The same in any database. */
export async function insertDomain(
  sql: Database,
  secretsKey: Buffer,
  accountId: string,
  { name = newDomainName(), isDefault = true, routes, confirmed = routes === undefined }: DomainWish = {},
): Promise<string> {
  const id = newId('dom');
  const key = sealDomainKey(secretsKey, id, privateKey);
  await sql`
    insert into sender_domains (id, account_id, name, is_default, dkim_selector, dkim_public_key, dkim_private_key, confirmed_at)
    values (${id}, ${accountId}, ${name}, ${isDefault}, 'goniec', ${DKIM_PUBLIC_KEY}, ${key},
            ${confirmed ? new Date() : null})`;
  for (const route of routes ?? ['simulator'])
    await sql`
      insert into sender_domain_routes (domain_id, route, records, verified_at)
      values (${id}, ${route}, '[]', ${routes === undefined ? null : new Date()})`;
  return name;
}

/** An account with a token and a sender domain. */
export interface MailAccount extends EarlierAccount {
  domain: string;
}

/** Makes an account that can send e-mail. */
export async function newMailAccount(wish: AccountWish = {}): Promise<MailAccount> {
  const account = await newEarlierAccount(wish);
  return { ...account, domain: await giveDomain(account.id) };
}

/** An e-mail as `GET /v1/email/{id}` shows it. */
export interface ShownEmail {
  id: string;
  status: string;
  error: string | null;
  cost: number;
  recipients: { kind: string; address: string; state: string }[];
  events: { kind: string; address: string | null; permanent: boolean | null }[];
}

/** Asks for an e-mail until it is as wanted. */
export async function untilEmail(
  { v1 }: { v1: EarlierClient },
  id: string,
  wanted: (email: ShownEmail) => boolean,
): Promise<ShownEmail> {
  return await eventually(
    async () => (await v1.get(`/v1/email/${id}`)).body.data as unknown as ShownEmail,
    wanted,
  );
}

/** An e-mail with what one has to have, to be filled in by a test. */
export const LEAST = { to: 'jan@klient.example', subject: 'Hej', text: 'Hej' };

/** The rows of an account that a send of e-mail may leave anywhere. */
export async function rowsOf(accountId: string): Promise<Record<string, number>> {
  const [row] = await database()<Record<string, number>[]>`
    select (select count(*)::int from emails where account_id = ${accountId}) as emails,
           (select count(*)::int from idempotency_keys where account_id = ${accountId}) as keys,
           (select count(*)::int from unsubscribe_links where account_id = ${accountId}) as links,
           (select count(*)::int from suppressions where account_id = ${accountId}) as suppressions,
           (select count(*)::int from ledger_entries where account_id = ${accountId} and kind <> 'opening') as entries`;
  return row!;
}

/** Asks by either kind of key for what neither gets: each is answered in the form of its interface, names the field, and leaves nothing. */
export async function refusedTo(
  account: MailAccount,
  email: unknown,
  field: string | null,
  status = 400,
): Promise<string> {
  // With an `idx`, as a refusal must not use it up.
  const keyed = typeof email === 'object' && email !== null ? { idx: 'raz', ...email } : email;
  const before = await rowsOf(account.id);
  const byToken = await account.v1.post('/v1/email', keyed);
  const details =
    field === null ? null : { field: expect.stringMatching(new RegExp(`^${field}(\\.|$)`)) as string };
  expect(byToken).toMatchObject({ status: 422, body: { error: { code: 422, details } } });
  const byKey = await account.api.post('/v1/email', keyed);
  expect(byKey.status).toBe(status);
  expect(byKey.body.error.param ?? null).toBe(field);
  expect(await rowsOf(account.id)).toEqual(before);
  return byKey.body.error.message;
}

/** Asks, by a token or a key, until it is decided in time. */
export const postEmail = <A extends { status: number }>(
  client: { post: (path: string, body: unknown) => Promise<A> },
  email: unknown,
): Promise<A> => decided(() => client.post('/v1/email', email));

/** Asks by a token for what is taken. @returns what it was answered */
export async function takenFrom(account: MailAccount, email: object): Promise<SentEmail> {
  const answer = await postEmail(account.v1, { ...LEAST, ...email });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.data as unknown as SentEmail;
}

/** What a send is answered with (v1.2.0, Email response). */
export interface SentEmail {
  id: string;
  to: string;
  status: string;
  cost: number;
  sent_at: string;
}

/** What the simulated provider took of an e-mail; undefined as long as it has not. */
export async function takenMail(id: string): Promise<Record<string, unknown> | undefined> {
  const [row] = await database()<{ mail: Record<string, unknown>; tries: number }[]>`
    select mail, tries from simulator_emails where reference = ${id}`;
  return row === undefined ? undefined : { ...row.mail, tries: row.tries };
}

/** What the account's webhook is signed with. */
export const WEBHOOK_SECRET = 'tajne-haslo-do-webhooka';

/** A call of the account's webhook. */
export interface WebhookCall {
  headers: Record<string, string | string[] | undefined>;
  raw: string;
}

/** Gives the account a webhook of the earlier interface that takes everything, until the test is over. @returns its calls, as they come */
export async function receiverOf(account: { id: string }): Promise<WebhookCall[]> {
  const calls: WebhookCall[] = [];
  const server = await startHttpReceiver((response, raw, { headers }) => {
    calls.push({ headers, raw: raw.toString('utf8') });
    response.writeHead(200).end();
  });
  onTestFinished(() => server.close());
  const key = Buffer.from(inject('service').secretsKey, 'base64');
  await database()`
    update accounts set legacy_webhook_url = ${server.url},
           legacy_webhook_secret = ${encrypt(key, account.id, WEBHOOK_SECRET)}
     where id = ${account.id}`;
  return calls;
}
