import type postgres from 'postgres';
import type { SeenRecord } from '../../domain/email/dns.ts';
import type { DomainStatus, RouteVerification } from '../../domain/email/domainStates.ts';
import type { Fragment, Sql } from '../connection.ts';
import { encrypt } from '../installation.ts';
import { newId } from '../ids.ts';
import { reserved } from '../money/reservations.ts';

export interface SenderDomain {
  id: string;
  accountId: string;
  /** In A-labels and lower case. */
  name: string;
  isDefault: boolean;
  dkimSelector: string;
  /** RSA, base64 of its DER form. */
  dkimPublicKey: string;
  /** When staff confirmed it, whatever DNS says. */
  confirmedAt: Date | null;
  lostAt: Date | null;
  checkedAt: Date | null;
  createdAt: Date;
}

export interface DomainRoute extends RouteVerification {
  domainId: string;
  route: string;
  providerDomainId: string | null;
  records: SeenRecord[];
  problem: string | null;
  checkedAt: Date | null;
}

export interface Holder extends Pick<SenderDomain, 'id' | 'accountId'> {
  givesWay: boolean;
}

interface NamedSnapshot {
  id: string;
  name: string;
  status: DomainStatus;
  is_default: boolean;
  records: SeenRecord[];
}

interface DomainSnapshot {
  domain: NamedSnapshot;
}

export const domainsLock = (accountId: string): string => `sender domains of ${accountId}`;

export const domainSecretOwner = (id: string): string => `domain:${id}`;

/** Encrypts the private key of a domain. @param privateKey PEM */
export function sealDomainKey(secretsKey: Buffer, id: string, privateKey: string): Buffer {
  return encrypt(secretsKey, domainSecretOwner(id), privateKey);
}

/** Claims a domain name. @returns false when another claim holds it */
export async function insertDomain(
  sql: Sql,
  domain: Pick<SenderDomain, 'id' | 'accountId' | 'name' | 'dkimSelector' | 'dkimPublicKey'>,
  sealedKey: Buffer,
): Promise<boolean> {
  const inserted = await sql`
    insert into sender_domains (id, account_id, name, dkim_selector, dkim_public_key, dkim_private_key)
    values (${domain.id}, ${domain.accountId}, ${domain.name}, ${domain.dkimSelector}, ${domain.dkimPublicKey}, ${sealedKey})
    on conflict (name) do nothing`;
  return inserted.count > 0;
}

/** Locks the claim of a name until the transaction ends. @param claimMs how long an unverified claim is kept */
export async function lockHolder(sql: Sql, name: string, claimMs: number): Promise<Holder | undefined> {
  const [held] = await sql`select from sender_domains where name = ${name} for update`;
  // Read again: the domain may have been verified while this waited for the lock.
  return held === undefined ? undefined : await findHolder(sql, name, claimMs);
}

export async function findHolder(sql: Sql, name: string, claimMs: number): Promise<Holder | undefined> {
  const [holder] = await sql<Holder[]>`
    select d.id, d.account_id,
           a.status = 'closed'
             or d.confirmed_at is null
            and not exists (select from sender_domain_routes r where r.domain_id = d.id and r.verified_at is not null)
            and greatest(d.created_at, d.lost_at) < now() - make_interval(secs => ${claimMs / 1000}) as gives_way
      from sender_domains d join accounts a on a.id = d.account_id where d.name = ${name}`;
  return holder;
}

export async function listDomains(sql: Sql, account: string): Promise<SenderDomain[]> {
  return await sql<SenderDomain[]>`
    select ${domainColumns(sql)} from sender_domains where account_id = ${account} order by id`;
}

export async function findDomain(sql: Sql, account: string, name: string): Promise<SenderDomain | undefined> {
  const [domain] = await sql<SenderDomain[]>`
    select ${domainColumns(sql)} from sender_domains where account_id = ${account} and name = ${name}`;
  return domain;
}

export async function readDomain(sql: Sql, id: string): Promise<SenderDomain | undefined> {
  const [domain] = await sql<SenderDomain[]>`
    select ${domainColumns(sql)} from sender_domains where id = ${id}`;
  return domain;
}

export async function lockDomain(sql: Sql, id: string): Promise<SenderDomain | undefined> {
  const [domain] = await sql<SenderDomain[]>`
    select ${domainColumns(sql)} from sender_domains where id = ${id} for update`;
  return domain;
}

export async function deleteDomain(sql: Sql, id: string): Promise<void> {
  await sql`delete from sender_domains where id = ${id}`;
}

export async function readDomainRoutes(sql: Sql, ids: readonly string[]): Promise<DomainRoute[]> {
  return await sql<DomainRoute[]>`
    select ${routeColumns(sql)} from sender_domain_routes d join routes r on r.name = d.route
     where d.domain_id = any(${ids as string[]}) and r.state <> 'disabled' order by d.domain_id, d.route`;
}

/** Verification of one domain for all routes, including disabled ones, whose providers still have the domain's id. */
export async function readAllDomainRoutes(sql: Sql, id: string): Promise<DomainRoute[]> {
  return await sql<DomainRoute[]>`
    select ${routeColumns(sql)} from sender_domain_routes d where d.domain_id = ${id} order by d.route`;
}

export async function saveDomainRoute(sql: Sql, row: DomainRoute): Promise<void> {
  const { domainId, route, providerDomainId, records, problem } = row;
  const columns = {
    domain_id: domainId,
    route,
    provider_domain_id: providerDomainId,
    records: sql.json(records as unknown as postgres.JSONValue),
    verified_at: row.verifiedAt,
    missing_since: row.missingSince,
    lost_at: row.lostAt,
    problem,
    checked_at: row.checkedAt,
  };
  await sql`
    insert into sender_domain_routes ${sql(columns)}
    on conflict (domain_id, route) do update set ${sql(columns)}`;
}

export async function recordDomainCheck(sql: Sql, id: string): Promise<void> {
  await sql`update sender_domains set checked_at = clock_timestamp() where id = ${id}`;
}

/** Sets when the first route lost the domain; null: none has. */
export async function noteLost(sql: Sql, id: string, lostAt: Date | null): Promise<void> {
  await sql`update sender_domains set lost_at = ${lostAt} where id = ${id}`;
}

export async function confirmDomain(sql: Sql, id: string): Promise<void> {
  await sql`update sender_domains set confirmed_at = now() where id = ${id} and confirmed_at is null`;
}

export async function setDefaultDomain(sql: Sql, { id, accountId }: SenderDomain): Promise<void> {
  await sql`
    update sender_domains set is_default = false
     where account_id = ${accountId} and is_default and id <> ${id}`;
  await sql`update sender_domains set is_default = true where id = ${id} and not is_default`;
}

/** Makes an account's oldest verified domain its default if it has none. @returns the domain's id; null when nothing changed */
export async function ensureDefaultDomain(sql: Sql, account: string): Promise<string | null> {
  const [chosen] = await sql<{ id: string }[]>`
    update sender_domains set is_default = true
     where id = (select d.id from sender_domains d
                  where d.account_id = ${account} and ${isUsable(sql)} order by d.id limit 1)
       and not exists (select from sender_domains d where d.account_id = ${account} and d.is_default)
    returning id`;
  return chosen?.id ?? null;
}

/** Ids of domains due for a DNS check: verified and recently lost ones about hourly, others the less often the longer unverified. */
export async function dueDomains(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select d.id from sender_domains d join accounts a on a.id = d.account_id
     where a.status <> 'closed'
       and (d.checked_at is null
            or d.checked_at < now() - case when ${isUsable(sql)} then interval '50 minutes' else
                 least(greatest((now() - greatest(d.created_at, d.lost_at)) / 10, interval '50 minutes'), interval '1 day') end)
     order by d.checked_at nulls first, d.id limit ${limit}`;
  return rows.map(({ id }) => id);
}

export async function writeDomainEvent(
  sql: Sql,
  domain: Pick<SenderDomain, 'id' | 'accountId'>,
  type: 'domain.verified' | 'domain.lost',
  snapshot: DomainSnapshot,
): Promise<void> {
  await sql`
    with written as (
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      select ${newId('evt')}, id, 'domain', ${domain.id}, ${type}, ${sql.json(snapshot as unknown as postgres.JSONValue)}
        from accounts where id = ${domain.accountId} and webhook_url is not null
      returning id, account_id
    )
    ${reserved(sql, 'event', sql`select id, account_id from written`)}`;
}

/** As SQL, for a domain `d`: names of the routes it is verified for; all routes when staff have confirmed it. */
export function verifiedRouteNames(sql: Sql): Fragment {
  return sql`
    select r.name from routes r
     where d.confirmed_at is not null
        or exists (select from sender_domain_routes v where v.domain_id = d.id and v.route = r.name and v.verified_at is not null)`;
}

function isUsable(sql: Sql): Fragment {
  return sql`(d.confirmed_at is not null or exists (
    select from sender_domain_routes v where v.domain_id = d.id and v.verified_at is not null))`;
}

function domainColumns(sql: Sql): Fragment {
  return sql`id, account_id, name, is_default, dkim_selector, dkim_public_key, confirmed_at, lost_at, checked_at, created_at`;
}

function routeColumns(sql: Sql): Fragment {
  return sql`d.domain_id, d.route, d.provider_domain_id, d.records, d.verified_at, d.missing_since, d.lost_at, d.problem, d.checked_at`;
}
