import { lockNames, type Sql } from '../../../db/connection.ts';
import {
  confirmDomain,
  type DomainRoute,
  domainsLock,
  ensureDefaultDomain,
  lockDomain,
  recordDomainCheck,
  noteLost,
  readAllDomainRoutes,
  readDomainRoutes,
  saveDomainRoute,
  type SenderDomain,
  writeDomainEvent,
} from '../../../db/emails/domains.ts';
import { closeFindings, reportFinding } from '../../../db/maintenance/findings.ts';
import { databaseNow } from '../../../db/maintenance/regularWork.ts';
import {
  afterCheck,
  type DomainStatus,
  eventBetween,
  recordsOf,
  statusOf,
  UNCHECKED,
} from '../../../domain/email/domainStates.ts';
import type { RouteLook } from './look.ts';

export interface Applied {
  status: DomainStatus;
  /** Routes on which the domain is currently lost. */
  lost: string[];
  event: 'domain.verified' | 'domain.lost' | null;
}

/**
 * Stores a check of a domain with its consequences (default domain, finding, event), locking the account's domains until the commit.
 * @param asked false: neither DNS nor a provider was queried; only the required records are known
 * @returns null if the domain was deleted
 */
export async function applyLook(
  tx: Sql,
  { id, accountId }: Pick<SenderDomain, 'id' | 'accountId'>,
  looks: readonly RouteLook[],
  asked: boolean,
): Promise<Applied | null> {
  await lockNames(tx, [domainsLock(accountId)]);
  const domain = await lockDomain(tx, id);
  if (domain === undefined) return null;
  const before = await readAllDomainRoutes(tx, id);
  const now = new Date(await databaseNow(tx));
  const after = looks.map((look) => afterwards(domain, look, before, { now, asked }));
  const names = looks.map(({ route }) => route);
  if (asked) await recordDomainCheck(tx, id);
  // Disabled routes are not checked and keep their state until they are enabled again.
  const looked = before.filter(({ route }) => names.includes(route));
  return await store(tx, domain, { before: standingOf(domain, looked), after });
}

/** Stores staff's confirmation: the domain counts as verified on every route. The caller has locked the account's domains. */
export async function applyConfirmation(tx: Sql, domainId: string): Promise<Applied | null> {
  const domain = await lockDomain(tx, domainId);
  if (domain === undefined) return null;
  await confirmDomain(tx, domainId);
  const before = await readDomainRoutes(tx, [domainId]);
  const now = new Date(await databaseNow(tx));
  const confirmed = { ...domain, confirmedAt: domain.confirmedAt ?? now };
  const after = before.map((row) => ({ ...row, ...afterCheck(row, 'unknown', { confirmed: true, now }) }));
  return await store(tx, confirmed, { before: standingOf(domain, before), after });
}

function afterwards(
  domain: SenderDomain,
  { route, providerDomainId, records, verdict, problem }: RouteLook,
  rows: readonly DomainRoute[],
  { now, asked }: { now: Date; asked: boolean },
): DomainRoute {
  const before = rows.find((row) => row.route === route);
  return {
    ...afterCheck(before ?? UNCHECKED, verdict, { confirmed: domain.confirmedAt !== null, now }),
    domainId: domain.id,
    route,
    providerDomainId,
    records,
    problem,
    checkedAt: asked ? now : (before?.checkedAt ?? null),
  };
}

async function store(
  tx: Sql,
  domain: SenderDomain,
  { before, after }: { before: Standing; after: readonly DomainRoute[] },
): Promise<Applied> {
  for (const row of after) await saveDomainRoute(tx, row);
  const lost = after.filter(({ lostAt }) => lostAt !== null);
  const since = lost.map(({ lostAt }) => lostAt!.getTime());
  await noteLost(tx, domain.id, since.length === 0 ? null : new Date(Math.min(...since)));
  const madeDefault = (await ensureDefaultDomain(tx, domain.accountId)) === domain.id;
  await find(tx, domain, lost);
  const standing = standingOf(domain, after);
  const event = eventBetween(before, standing);
  const { status } = standing;
  const { id, name } = domain;
  const isDefault = domain.isDefault || madeDefault;
  const snapshot = { domain: { id, name, status, is_default: isDefault, records: recordsOf(after) } };
  if (event !== null) await writeDomainEvent(tx, domain, event, snapshot);
  return { status, lost: lost.map(({ route }) => route), event };
}

interface Standing {
  status: DomainStatus;
  routesLost: number;
}

function standingOf(domain: Pick<SenderDomain, 'confirmedAt'>, rows: readonly DomainRoute[]): Standing {
  return {
    status: statusOf(domain.confirmedAt !== null, rows),
    routesLost: rows.filter(({ lostAt }) => lostAt !== null).length,
  };
}

/** Keeps a `domain_lost` finding open for staff until the domain is back or deleted. */
async function find(tx: Sql, { id, accountId }: SenderDomain, lost: readonly DomainRoute[]): Promise<void> {
  if (lost.length === 0) return closeFindings(tx, ['domain_lost'], [id]);
  const details = { routes: lost.map(({ route }) => route) };
  await reportFinding(tx, { kind: 'domain_lost', subject: id, accountId, details });
}
