import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { lockNames, type Sql, transaction } from '../../../db/connection.ts';
import {
  deleteDomain,
  type DomainRoute,
  domainsLock,
  findHolder,
  giveDefault,
  type Holder,
  insertDomain,
  listDomains,
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
import { CLAIM_MS, DOMAINS_MAX, type DomainStatus, statusOf } from '../../../domain/email/domainStates.ts';
import { Refused, StaffRefused } from '../../../domain/refusals.ts';
import { newId } from '../../../db/ids.ts';
import { closeFindings } from '../../../db/maintenance/findings.ts';
import { findAccount, holdOpenAccount } from '../../accounts/accounts.ts';
import { recorded, type StaffOperation, type StaffServices } from '../../staff.ts';
import { applyConfirmation, applyLook } from './apply.ts';
import { type DnsServers, lookAt, removeAtProviders, type RouteLook } from './look.ts';

/** Which domain is asked about. */
export interface NamedDomain {
  account: string;
  /** As typed. */
  name: string;
}

/** A sender domain as it is shown. */
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
    /** Why it could not be checked the last time; in words for staff. */
    problem: string | null;
    checkedAt: Date | null;
    records: SeenRecord[];
  }[];
}

/** A domain's name in A-labels and small letters. @throws Refused domain_malformed */
export function nameOf(typed: string): string {
  const name = readDomainName(typed);
  if (name === null) throw new Refused({ reason: 'domain_malformed' }, 'name');
  return name;
}

/** The account's domain of this name. @throws Refused domain_malformed, domain_unknown */
export async function findDomain(sql: Sql, { account, name }: NamedDomain): Promise<SenderDomain> {
  const domain = await readNamed(sql, account, nameOf(name));
  if (domain === undefined) throw new Refused({ reason: 'domain_unknown' }, 'name');
  return domain;
}

/** The same, with the turn of all changes to the account's domains until the transaction ends. */
export async function holdDomain(tx: Sql, named: NamedDomain): Promise<SenderDomain> {
  await lockNames(tx, [domainsLock(named.account)]);
  return await findDomain(tx, named);
}

/** Domains as they are shown, in their order. */
export async function viewsOf(sql: Sql, domains: readonly SenderDomain[]): Promise<DomainView[]> {
  const rows = await readDomainRoutes(
    sql,
    domains.map(({ id }) => id),
  );
  return domains.map((domain) => {
    const { id, name, isDefault, confirmedAt, lostAt, checkedAt, createdAt } = domain;
    const own = rows.filter(({ domainId }) => domainId === id);
    return {
      ...{ id, name, isDefault, confirmedAt, lostAt, checkedAt, createdAt },
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

/** One domain as it is shown. */
export async function viewOf(sql: Sql, named: NamedDomain): Promise<DomainView> {
  const [view] = await viewsOf(sql, [await findDomain(sql, named)]);
  return view!;
}

const BITS = 2048;
const generate = promisify(generateKeyPair);

/** What a domain's e-mails are signed with (DKIM). */
export interface KeyPair {
  /** Base64 of its DER form, as DNS has it. */
  publicKey: string;
  /** PEM (PKCS #8). */
  privateKey: string;
}

/** Makes a key pair, RSA 2048, beside the event loop: it takes a tenth of a second or more. */
export async function newKeyPair(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('rsa', {
    modulusLength: BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey: publicKey.toString('base64'), privateKey };
}

/**
 * Adds a sender domain to an account, with a key pair of its own, and finds out which records are to be set for it. A name that another
 * account claims for seven days without having proven it, or that a closed account holds, changes hands.
 * @throws Refused domain_malformed, domain_exists, domain_taken, domains_too_many; StaffRefused
 */
export const addDomain: StaffOperation<NamedDomain, DomainView> = async (context) => {
  const { services, input } = context;
  const named = { account: input.account, name: nameOf(input.name) };
  // Before a key is made.
  await findAccount(services.sql, named.account);
  const keys = await newKeyPair();
  const removed = await removeFormer(services, named);
  await claim({ ...context, input: { ...named, keys, removed } });
  await noteNeeds(services, named);
  return await viewOf(services.sql, named);
};

/**
 * Takes the domain of a claim that gives way out of the providers' lists: its former holder knows the records by which whoever comes next
 * would prove it there.
 * @returns what is gone
 * @throws StaffRefused domain_left
 */
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
  /** How the one that gives way stood with the routes, as far as the providers do not have it any more. */
  removed: readonly DomainRoute[];
}

const claim = recorded('domains add', async (tx, { account, name, keys, removed }: Wanted, services) => {
  await holdOpenAccount(tx, account);
  await lockNames(tx, [domainsLock(account)]);
  const own = await listDomains(tx, account);
  if (own.some((domain) => domain.name === name)) throw new Refused({ reason: 'domain_exists' }, 'name');
  if (own.length >= DOMAINS_MAX) throw new Refused({ reason: 'domains_too_many', limit: DOMAINS_MAX });
  const holder = await lockHolder(tx, name, CLAIM_MS);
  if (holder?.givesWay === false) throw new Refused({ reason: 'domain_taken' }, 'name');
  if (holder !== undefined) await giveWay(tx, holder, removed);
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

/** @throws StaffRefused domain_left */
async function giveWay(tx: Sql, { id }: Holder, removed: readonly DomainRoute[]): Promise<void> {
  const gone = new Set(removed.map(({ providerDomainId }) => providerDomainId));
  // A look in between may have added it at a provider anew.
  const left = (await readAllDomainRoutes(tx, id)).filter(
    ({ providerDomainId }) => providerDomainId !== null && !gone.has(providerDomainId),
  );
  if (left.length > 0)
    throw new StaffRefused({ reason: 'domain_left', routes: left.map(({ route }) => route) });
  await deleteDomain(tx, id);
  await closeFindings(tx, ['domain_lost'], [id]);
}

/** Stores what each route needs of a new domain. */
async function noteNeeds(services: StaffServices, named: NamedDomain): Promise<void> {
  const domain = await findDomain(services.sql, named);
  const looks = await lookAt(services, domain);
  await transaction(services.sql, (tx) => applyLook(tx, domain, looks, false));
}

/**
 * Looks now whether all that each route needs of a domain is there. What verifies it verifies it at once; what is gone makes a verified
 * one lost when it is still gone ten minutes later.
 * @throws Refused domain_malformed, domain_unknown
 */
export const checkDomain: StaffOperation<NamedDomain & { dnsServers: DnsServers }, DomainView> = async (
  context,
) => {
  const { services, input } = context;
  const domain = await findDomain(services.sql, input);
  const looks = await lookAt(services, domain, input.dnsServers);
  await noteLooks({ ...context, input: { domain, looks } });
  return await viewOf(services.sql, input);
};

const noteLooks = recorded(
  'domains check',
  async (tx, { domain, looks }: { domain: SenderDomain; looks: RouteLook[] }) => {
    const applied = await applyLook(tx, domain, looks, true);
    if (applied === null) throw new Refused({ reason: 'domain_unknown' }, 'name');
    const { status, event } = applied;
    return {
      ...{ data: undefined, account: domain.accountId, subject: domain.id },
      details: { name: domain.name, status, ...(event === null ? {} : { event }) },
    };
  },
);

/**
 * For staff: answers for a domain, which is verified on every route from then on, whatever DNS says: where no DNS can be asked, as by
 * the simulated network. Only its removal ends it.
 * @throws Refused domain_malformed, domain_unknown
 */
export const confirmDomain: StaffOperation<NamedDomain, DomainView> = async (context) => {
  await confirm(context);
  return await viewOf(context.services.sql, context.input);
};

const confirm = recorded('domains confirm', async (tx, named: NamedDomain) => {
  const domain = await holdDomain(tx, named);
  const applied = await applyConfirmation(tx, domain.id);
  if (applied === null) throw new Refused({ reason: 'domain_unknown' }, 'name');
  return {
    ...{ data: undefined, account: domain.accountId, subject: domain.id, details: { name: domain.name } },
  };
});

/**
 * Makes a verified domain the one that e-mails of its account come from where they name no sender.
 * @throws Refused domain_malformed, domain_unknown, domain_not_verified
 */
export const setDefaultDomain = recorded('domains default', async (tx, named: NamedDomain) => {
  const domain = await holdDomain(tx, named);
  const { status } = await viewOf(tx, named);
  if (status !== 'verified') throw new Refused({ reason: 'domain_not_verified' }, 'name');
  await storeDefault(tx, domain);
  return {
    data: await viewOf(tx, named),
    ...{ account: domain.accountId, subject: domain.id, details: { name: domain.name } },
  };
});

/** What became of a domain that was removed. */
export interface RemovedDomain {
  id: string;
  name: string;
  /** The account's default from now on; null: it has none. */
  defaultName: string | null;
  /** Routes whose provider did not take it out of its list: it is to be removed there by hand. */
  leftAt: string[];
}

/**
 * Removes a sender domain: its name is free at once. E-mails that wait to be handed over fail and are refunded. Where it was the default,
 * the oldest that is verified takes its place.
 * @throws Refused domain_malformed, domain_unknown
 */
export const removeDomain: StaffOperation<NamedDomain, RemovedDomain> = async (context) => {
  const { rows, ...removed } = await free(context);
  return { ...removed, leftAt: await removeAtProviders(context.services, rows) };
};

const free = recorded('domains remove', async (tx, named: NamedDomain) => {
  const { id, name, accountId } = await holdDomain(tx, named);
  const rows: DomainRoute[] = await readAllDomainRoutes(tx, id);
  await deleteDomain(tx, id);
  await closeFindings(tx, ['domain_lost'], [id]);
  await giveDefault(tx, accountId);
  const left = await listDomains(tx, accountId);
  const defaultName = left.find(({ isDefault }) => isDefault)?.name ?? null;
  return {
    ...{ data: { id, name, defaultName, rows }, account: accountId, subject: id },
    details: { name, default: defaultName },
  };
});
