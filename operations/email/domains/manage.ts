import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { lockNames, type Sql, transaction } from '../../../db/connection.ts';
import {
  deleteDomain,
  type DomainRoute,
  domainsLock,
  findHolder,
  ensureDefaultDomain,
  type Holder,
  insertDomain,
  listDomains as readDomains,
  lockHolder,
  readAllDomainRoutes,
  readDomainRoutes,
  findDomain as readNamed,
  sealDomainKey,
  type SenderDomain,
  setDefaultDomain as storeDefault,
} from '../../../db/emails/domains.ts';
import { readDomainName, selectorOf } from '../../../domain/email/address.ts';
import type { SeenRecord } from '../../../domain/email/dns.ts';
import {
  CLAIM_MS,
  DOMAINS_MAX,
  type DomainStatus,
  OWN_DOMAINS_MAX,
  statusOf,
} from '../../../domain/email/domainStates.ts';
import { Refused, StaffRefused } from '../../../domain/refusals.ts';
import { newId } from '../../../db/ids.ts';
import { closeFindings } from '../../../db/maintenance/findings.ts';
import { findAccount, findOpenAccountForUpdate } from '../../accounts/accounts.ts';
import { type KeyManager, mayManage } from '../../accounts/keys.ts';
import { recorded, type StaffOperation, type StaffServices } from '../../staff.ts';
import { applyConfirmation, applyLook } from './apply.ts';
import { type DnsServers, lookAt, removeAtProviders, type RouteLook } from './look.ts';

interface NamedDomain {
  account: string;
  name: string;
}

export interface DomainView {
  id: string;
  name: string;
  status: DomainStatus;
  isDefault: boolean;
  confirmedAt: Date | null;
  lostAt: Date | null;
  checkedAt: Date | null;
  createdAt: Date;
  routes: {
    route: string;
    verified: boolean;
    /** Why the last check failed, in words for staff. */
    problem: string | null;
    checkedAt: Date | null;
    records: SeenRecord[];
  }[];
}

/** Who manages domains, as keys. */
interface By {
  actor: KeyManager;
}

/** @throws StaffRefused for people without the right to it */
function requireMayManage({ actor }: By, account: string): void {
  if (!mayManage(actor, account)) throw new StaffRefused({ reason: 'account_missing', account });
}

/** Normalizes a domain name to lower-case A-labels. @throws Refused domain_malformed */
function nameOf(typed: string): string {
  const name = readDomainName(typed);
  if (name === null) throw new Refused({ reason: 'domain_malformed' }, 'name');
  return name;
}

/** The account's domain with this name. @throws Refused domain_malformed, domain_unknown */
async function findDomain(sql: Sql, { account, name }: NamedDomain): Promise<SenderDomain> {
  const domain = await readNamed(sql, account, nameOf(name));
  if (domain === undefined) throw new Refused({ reason: 'domain_unknown' }, 'name');
  return domain;
}

/** Like `findDomain`, locking the account's domains until the transaction ends. */
async function findDomainForUpdate(tx: Sql, named: NamedDomain): Promise<SenderDomain> {
  await lockNames(tx, [domainsLock(named.account)]);
  return await findDomain(tx, named);
}

/** Lists an account's sender domains, oldest first. @throws StaffRefused account_missing */
export const listDomains = recorded('domains list', async (sql, { account }: { account: string }) => {
  await findAccount(sql, account);
  return { data: await viewDomains(sql, account), account };
});

/** An account's sender domains, oldest first. */
export async function viewDomains(sql: Sql, account: string): Promise<DomainView[]> {
  return await viewsOf(sql, await readDomains(sql, account));
}

/** Domains as shown, in the given order. */
async function viewsOf(sql: Sql, domains: readonly SenderDomain[]): Promise<DomainView[]> {
  const rows = await readDomainRoutes(
    sql,
    domains.map(({ id }) => id),
  );
  return domains.map((domain) => {
    const { id, name, isDefault, confirmedAt, lostAt, checkedAt, createdAt } = domain;
    const own = rows.filter(({ domainId }) => domainId === id);
    return {
      id,
      name,
      isDefault,
      confirmedAt,
      lostAt,
      checkedAt,
      createdAt,
      status: statusOf(confirmedAt !== null, own),
      routes: own.map((row) => ({
        route: row.route,
        verified: row.verifiedAt !== null,
        problem: row.problem,
        checkedAt: row.checkedAt,
        records: row.records,
      })),
    };
  });
}

async function viewOf(sql: Sql, named: NamedDomain): Promise<DomainView> {
  const [view] = await viewsOf(sql, [await findDomain(sql, named)]);
  return view!;
}

const BITS = 2048;
const generate = promisify(generateKeyPair);

interface KeyPair {
  /** DER as base64, as in DNS. */
  publicKey: string;
  /** PEM (PKCS #8). */
  privateKey: string;
}

/** Generates an RSA 2048 key pair off the event loop; takes 100 ms or more. */
async function newKeyPair(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('rsa', {
    modulusLength: BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey: publicKey.toString('base64'), privateKey };
}

/**
 * Adds a sender domain with its own DKIM key pair and determines the required records. A name claimed by another account for seven days
 * without verification, or held by a closed account, is transferred.
 * @throws Refused domain_malformed, domain_exists, domain_taken, domains_too_many; StaffRefused
 */
export const addDomain: StaffOperation<NamedDomain, DomainView, KeyManager> = async (context) => {
  const { services, input } = context;
  const named = { account: input.account, name: nameOf(input.name) };
  requireMayManage(context, named.account);
  // Fail before the expensive key generation.
  await findAccount(services.sql, named.account);
  await requireMayAdd(services.sql, named, context);
  const keys = await newKeyPair();
  const removed = await removeFormer(services, named);
  await claim({ ...context, input: { ...named, keys, removed } });
  await noteNeeds(services, named);
  return await viewOf(services.sql, named);
};

/** Removes the domain of an expired claim from the providers: left there, records known to the former holder would verify it. */
async function removeFormer(services: StaffServices, { account, name }: NamedDomain): Promise<DomainRoute[]> {
  const holder = await findHolder(services.sql, name, CLAIM_MS);
  if (holder?.givesWay !== true || holder.accountId === account) return [];
  const former = await readAllDomainRoutes(services.sql, holder.id);
  const routes = await removeAtProviders(services, former);
  if (routes.length > 0) throw new StaffRefused({ reason: 'domain_left', routes });
  return former;
}

interface Wanted {
  account: string;
  name: string;
  keys: KeyPair;
  /** The former holder's rows, already removed from the providers. */
  removed: readonly DomainRoute[];
}

/** @throws Refused where the account has the domain, or as many as it may have */
async function requireMayAdd(sql: Sql, { account, name }: NamedDomain, { actor }: By): Promise<void> {
  const own = await readDomains(sql, account);
  if (own.some((domain) => domain.name === name)) throw new Refused({ reason: 'domain_exists' }, 'name');
  const limit = actor.kind === 'person' ? OWN_DOMAINS_MAX : DOMAINS_MAX;
  if (own.length >= limit) throw new Refused({ reason: 'domains_too_many', limit });
}

type ClaimContext = By & { services: StaffServices };

const claim = recorded('domains add', async (tx, wanted: Wanted, { services, actor }: ClaimContext) => {
  const { account, name, keys, removed } = wanted;
  await findOpenAccountForUpdate(tx, account);
  await lockNames(tx, [domainsLock(account)]);
  await requireMayAdd(tx, wanted, { actor });
  const holder = await lockHolder(tx, name, CLAIM_MS);
  if (holder?.givesWay === false) throw new Refused({ reason: 'domain_taken' }, 'name');
  if (holder !== undefined) await deleteFormer(tx, holder, removed);
  const id = newId('dom');
  const domain = {
    id,
    accountId: account,
    name,
    dkimSelector: selectorOf(id),
    dkimPublicKey: keys.publicKey,
  };
  const sealed = sealDomainKey(await services.secretsKey(), id, keys.privateKey);
  if (!(await insertDomain(tx, domain, sealed))) throw new Refused({ reason: 'domain_taken' }, 'name');
  const added = { account, subject: id, details: { name } };
  const lost =
    holder === undefined
      ? []
      : [{ account: holder.accountId, subject: holder.id, details: { name, gave_way: true } }];
  return { data: undefined, records: [added, ...lost] };
});

async function deleteFormer(tx: Sql, { id }: Holder, removed: readonly DomainRoute[]): Promise<void> {
  const gone = new Set(removed.map(({ providerDomainId }) => providerDomainId));
  // A concurrent check may have added it to a provider again.
  const left = (await readAllDomainRoutes(tx, id)).filter(
    ({ providerDomainId }) => providerDomainId !== null && !gone.has(providerDomainId),
  );
  if (left.length > 0)
    throw new StaffRefused({ reason: 'domain_left', routes: left.map(({ route }) => route) });
  await deleteDomain(tx, id);
  await closeFindings(tx, ['domain_lost'], [id]);
}

async function noteNeeds(services: StaffServices, named: NamedDomain): Promise<void> {
  const domain = await findDomain(services.sql, named);
  const looks = await lookAt(services, domain);
  await transaction(services.sql, (tx) => applyLook(tx, domain, looks, false));
}

/**
 * Checks a domain's records now. Success verifies it immediately; it is lost only if records are still missing ten minutes later.
 * @throws Refused domain_malformed, domain_unknown
 */
export const checkDomain: StaffOperation<
  NamedDomain & { dnsServers: DnsServers },
  DomainView,
  KeyManager
> = async (context) => {
  const { services, input } = context;
  requireMayManage(context, input.account);
  const domain = await findDomain(services.sql, input);
  const looks = await lookAt(services, domain, input.dnsServers);
  await noteLooks({ ...context, input: { domain, looks } });
  return await viewOf(services.sql, input);
};

const noteLooks = recorded(
  'domains check',
  async (tx, { domain, looks }: { domain: SenderDomain; looks: RouteLook[] }, _: By) => {
    const applied = await applyLook(tx, domain, looks, true);
    if (applied === null) throw new Refused({ reason: 'domain_unknown' }, 'name');
    const { status, event } = applied;
    return {
      data: undefined,
      account: domain.accountId,
      subject: domain.id,
      details: { name: domain.name, status, ...(event === null ? {} : { event }) },
    };
  },
);

/**
 * Confirms a domain for staff, where DNS cannot be queried (simulated network): verified on every route until removed.
 * @throws Refused domain_malformed, domain_unknown
 */
export const confirmDomain: StaffOperation<NamedDomain, DomainView> = async (context) => {
  await confirm(context);
  return await viewOf(context.services.sql, context.input);
};

const confirm = recorded('domains confirm', async (tx, named: NamedDomain) => {
  const domain = await findDomainForUpdate(tx, named);
  const applied = await applyConfirmation(tx, domain.id);
  if (applied === null) throw new Refused({ reason: 'domain_unknown' }, 'name');
  return { data: undefined, account: domain.accountId, subject: domain.id, details: { name: domain.name } };
});

/** Makes a verified domain the account's default sender domain. @throws Refused domain_malformed, domain_unknown, domain_not_verified */
export const setDefaultDomain = recorded('domains default', async (tx, named: NamedDomain, by: By) => {
  requireMayManage(by, named.account);
  const domain = await findDomainForUpdate(tx, named);
  const { status } = await viewOf(tx, named);
  if (status !== 'verified') throw new Refused({ reason: 'domain_not_verified' }, 'name');
  await storeDefault(tx, domain);
  return {
    data: await viewOf(tx, named),
    account: domain.accountId,
    subject: domain.id,
    details: { name: domain.name },
  };
});

interface RemovedDomain {
  id: string;
  name: string;
  defaultName: string | null;
  /** Routes whose provider still has the domain: staff have to remove it there. */
  leftAt: string[];
}

/**
 * Removes a sender domain and frees its name. Pending e-mails fail and are refunded. The oldest verified domain replaces a removed default.
 * @throws Refused domain_malformed, domain_unknown
 */
export const removeDomain: StaffOperation<NamedDomain, RemovedDomain, KeyManager> = async (context) => {
  const { rows, ...removed } = await free(context);
  return { ...removed, leftAt: await removeAtProviders(context.services, rows) };
};

const free = recorded('domains remove', async (tx, named: NamedDomain, by: By) => {
  requireMayManage(by, named.account);
  const { id, name, accountId } = await findDomainForUpdate(tx, named);
  const rows: DomainRoute[] = await readAllDomainRoutes(tx, id);
  await deleteDomain(tx, id);
  await closeFindings(tx, ['domain_lost'], [id]);
  await ensureDefaultDomain(tx, accountId);
  const left = await readDomains(tx, accountId);
  const defaultName = left.find(({ isDefault }) => isDefault)?.name ?? null;
  return {
    data: { id, name, defaultName, rows },
    account: accountId,
    subject: id,
    details: { name, default: defaultName },
  };
});
