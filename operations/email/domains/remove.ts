import {
  deleteDomain,
  type DomainRoute,
  giveDefault,
  listDomains,
  readAllDomainRoutes,
} from '../../../db/emails/domains.ts';
import { closeFindings } from '../../../db/maintenance/findings.ts';
import { recorded, type StaffOperation } from '../../staff.ts';
import { holdDomain, type NamedDomain } from './find.ts';
import { removeAtProviders } from './look.ts';

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
export const removeDomain: StaffOperation<NamedDomain, RemovedDomain> = async (asked) => {
  const { rows, ...removed } = await free(asked);
  return { ...removed, leftAt: await removeAtProviders(asked.services, rows) };
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
