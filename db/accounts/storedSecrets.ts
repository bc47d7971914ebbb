import type { Sql } from '../connection.ts';
import { emailSecretOwner } from '../emails/accept.ts';
import { domainSecretOwner } from '../emails/domains.ts';
import { decrypt, encrypt } from '../installation.ts';
import { totpSecretOwner } from '../people/factors.ts';
import { staffTotpOwner } from '../people/staff.ts';
import { routeSecretOwner } from '../routes/routes.ts';

interface Stored {
  id: string;
  now: Buffer | null;
  before: Buffer | null;
  legacy: Buffer | null;
}

/** Re-encrypts all stored secrets, in one transaction with `changeKeyFingerprint`; returns their numbers. @throws DecryptionError */
export async function reencryptSecrets(
  sql: Sql,
  from: Buffer,
  to: Buffer,
): Promise<{ webhooks: number; routes: number; domains: number; totp: number; staff: number }> {
  const again = (owner: string, stored: Buffer): Buffer => encrypt(to, owner, decrypt(from, owner, stored));
  const accounts = await sql<Stored[]>`
    select id, webhook_secret as now, webhook_secret_before as before, legacy_webhook_secret as legacy from accounts
     where webhook_secret is not null or webhook_secret_before is not null or legacy_webhook_secret is not null
     order by id for update`;
  for (const { id, now, before, legacy } of accounts) {
    await sql`
      update accounts
         set webhook_secret = ${now && again(id, now)}, webhook_secret_before = ${before && again(id, before)},
             legacy_webhook_secret = ${legacy && again(id, legacy)}
       where id = ${id}`;
  }
  const routes = await sql<{ name: string; credentials: Buffer }[]>`
    select name, credentials from routes where credentials is not null order by name for update`;
  for (const { name, credentials } of routes) {
    await sql`update routes set credentials = ${again(routeSecretOwner(name), credentials)} where name = ${name}`;
  }
  const domains = await sql<{ id: string; key: Buffer }[]>`
    select id, dkim_private_key as key from sender_domains order by id for update`;
  for (const { id, key } of domains) {
    await sql`update sender_domains set dkim_private_key = ${again(domainSecretOwner(id), key)} where id = ${id}`;
  }
  const emails = await sql<{ id: string; sealed: Buffer }[]>`
    select c.email_id as id, c.sealed from emails e join email_contents c on c.email_id = e.id
     where e.status = 'queued' and c.sealed is not null order by c.email_id for update of c`;
  for (const { id, sealed } of emails) {
    await sql`update email_contents set sealed = ${again(emailSecretOwner(id), sealed)} where email_id = ${id}`;
  }
  const totp = await sql<{ person: string; secret: Buffer }[]>`
    select person_id as person, secret from totp order by person_id for update`;
  for (const { person, secret } of totp) {
    await sql`update totp set secret = ${again(totpSecretOwner(person), secret)} where person_id = ${person}`;
  }
  const staff = await sql<{ id: string; secret: Buffer }[]>`
    select id, totp_secret as secret from staff order by id for update`;
  for (const { id, secret } of staff) {
    await sql`update staff set totp_secret = ${again(staffTotpOwner(id), secret)} where id = ${id}`;
  }
  return {
    webhooks: accounts.length,
    routes: routes.length,
    domains: domains.length,
    totp: totp.length,
    staff: staff.length,
  };
}

export async function changeKeyFingerprint(sql: Sql, fingerprint: string): Promise<void> {
  await sql`update installation set value = ${fingerprint} where name = 'secrets_key'`;
}
