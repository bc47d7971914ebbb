import type { Sql } from '../../../db/connection.ts';
import {
  domainsLock,
  findDomain as readNamed,
  readDomainRoutes,
  type SenderDomain,
} from '../../../db/emails/domains.ts';
import { lockNames } from '../../../db/namedLocks.ts';
import { readDomainName } from '../../../domain/email/domainNames.ts';
import type { SeenRecord } from '../../../domain/email/dnsRecords.ts';
import { type DomainStatus, statusOf } from '../../../domain/email/domainStates.ts';
import { Refused } from '../../../domain/refusals.ts';

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
