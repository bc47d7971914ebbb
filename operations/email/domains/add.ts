import {
  deleteDomain,
  domainsLock,
  type DomainRoute,
  findHolder,
  type Holder,
  insertDomain,
  listDomains,
  lockHolder,
  readAllDomainRoutes,
  sealDomainKey,
} from '../../../db/emails/domains.ts';
import type { Sql } from '../../../db/connection.ts';
import { newId } from '../../../db/ids.ts';
import { closeFindings } from '../../../db/maintenance/findings.ts';
import { transaction } from '../../../db/transaction.ts';
import { lockNames } from '../../../db/namedLocks.ts';
import { selectorOf } from '../../../domain/email/domainNames.ts';
import { CLAIM_MS, DOMAINS_MAX } from '../../../domain/email/domainStates.ts';
import { Refused, StaffRefused } from '../../../domain/refusals.ts';
import { findAccount, holdOpenAccount } from '../../accounts/find.ts';
import { recorded, type StaffOperation, type StaffServices } from '../../staff.ts';
import { applyLook } from './apply.ts';
import { type DomainView, findDomain, nameOf, type NamedDomain, viewOf } from './find.ts';
import { type KeyPair, newKeyPair } from './keys.ts';
import { lookAt, removeAtProviders } from './look.ts';

/**
 * Adds a sender domain to an account, with a key pair of its own, and finds out which records are to be set for it. A name that another
 * account claims for seven days without having proven it, or that a closed account holds, changes hands.
 * @throws Refused domain_malformed, domain_exists, domain_taken, domains_too_many; StaffRefused
 */
export const addDomain: StaffOperation<NamedDomain, DomainView> = async (asked) => {
  const { services, input } = asked;
  const named = { account: input.account, name: nameOf(input.name) };
  // Before a key is made.
  await findAccount(services.sql, named.account);
  const keys = await newKeyPair();
  const removed = await removeFormer(services, named);
  await claim({ ...asked, input: { ...named, keys, removed } });
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
