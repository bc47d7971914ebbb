import type { SeenRecord } from './dns.ts';

export const DOMAINS_MAX = 100;
/** How many an account may have for its people to add another. */
export const OWN_DOMAINS_MAX = 10;

/** An unverified claim gives way to another account's after this long. */
export const CLAIM_MS = 7 * 24 * 3_600_000;

/** Records missing at one check may be a glitch; still missing after this long, the verification is lost. */
export const LOST_AFTER_MS = 10 * 60_000;

/** `lost`: was verified, but a required record is missing now. */
export type DomainStatus = 'pending' | 'verified' | 'lost';

export interface RouteVerification {
  verifiedAt: Date | null;
  missingSince: Date | null;
  lostAt: Date | null;
}

/** Result of a check for one route; `unknown`: no answer, nothing changes. */
export type RecordCheck = 'verified' | 'missing' | 'unknown';

/** Before the first check. */
export const UNCHECKED: RouteVerification = { verifiedAt: null, missingSince: null, lostAt: null };

/** Verification of a domain on a route after a check. @param confirmed staff vouch for the domain, whatever the check found */
export function afterCheck(
  before: RouteVerification,
  verdict: RecordCheck,
  { confirmed, now }: { confirmed: boolean; now: Date },
): RouteVerification {
  if (confirmed || verdict === 'verified') {
    return { verifiedAt: before.verifiedAt ?? now, missingSince: null, lostAt: null };
  }
  if (verdict === 'unknown' || before.verifiedAt === null) return before;
  if (before.missingSince === null) return { ...before, missingSince: now };
  if (now.getTime() - before.missingSince.getTime() < LOST_AFTER_MS) return before;
  return { verifiedAt: null, missingSince: null, lostAt: now };
}

/** Status of a domain: verified as long as one route may send from it. */
export function statusOf(confirmed: boolean, routes: readonly RouteVerification[]): DomainStatus {
  if (confirmed || routes.some(({ verifiedAt }) => verifiedAt !== null)) return 'verified';
  return routes.some(({ lostAt }) => lostAt !== null) ? 'lost' : 'pending';
}

export function eventBetween(
  before: { status: DomainStatus; routesLost: number },
  after: { status: DomainStatus; routesLost: number },
): 'domain.verified' | 'domain.lost' | null {
  if (after.routesLost > before.routesLost) return 'domain.lost';
  if (after.status !== 'verified') return null;
  return before.status !== 'verified' || (before.routesLost > 0 && after.routesLost === 0)
    ? 'domain.verified'
    : null;
}

export function recordsOf(routes: readonly { records: readonly SeenRecord[] }[]): SeenRecord[] {
  const records = new Map<string, SeenRecord>();
  for (const record of routes.flatMap((route) => route.records)) {
    const key = JSON.stringify([record.type, record.name, record.value]);
    records.set(key, records.get(key) ?? record);
  }
  return [...records.values()];
}
