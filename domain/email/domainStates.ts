import type { SeenRecord } from './dns.ts';

/** How many sender domains an account has at most. */
export const DOMAINS_MAX = 100;

/** A claim that nobody has proven gives way to another account's after so long. */
export const CLAIM_MS = 7 * 24 * 3_600_000;

/** What is gone at one look may be a glitch; gone again after so long it is lost. */
export const LOST_AFTER_MS = 10 * 60_000;

/** `lost`: it was verified, and something that it needs is not there any more. */
export type DomainStatus = 'pending' | 'verified' | 'lost';

/** How a domain stands with one route. */
export interface RouteStanding {
  verifiedAt: Date | null;
  missingSince: Date | null;
  lostAt: Date | null;
}

/** What a look at a domain came to for one route; `unknown`: there was no answer, and nothing is concluded. */
export type RecordCheck = 'verified' | 'missing' | 'unknown';

/** How a domain stands with a route before anybody looked. */
export const UNSEEN: RouteStanding = { verifiedAt: null, missingSince: null, lostAt: null };

/**
 * How a domain stands with a route after a look.
 * @param confirmed staff answer for it, whatever was seen
 */
export function afterLook(
  before: RouteStanding,
  verdict: RecordCheck,
  { confirmed, now }: { confirmed: boolean; now: Date },
): RouteStanding {
  if (confirmed || verdict === 'verified') {
    return { verifiedAt: before.verifiedAt ?? now, missingSince: null, lostAt: null };
  }
  if (verdict === 'unknown' || before.verifiedAt === null) return before;
  if (before.missingSince === null) return { ...before, missingSince: now };
  if (now.getTime() - before.missingSince.getTime() < LOST_AFTER_MS) return before;
  return { verifiedAt: null, missingSince: null, lostAt: now };
}

/** How a domain stands altogether: e-mails go from it as long as one route may take them. */
export function statusOf(confirmed: boolean, routes: readonly RouteStanding[]): DomainStatus {
  if (confirmed || routes.some(({ verifiedAt }) => verifiedAt !== null)) return 'verified';
  return routes.some(({ lostAt }) => lostAt !== null) ? 'lost' : 'pending';
}

/** What the account is notified of, if anything, when its domain stands otherwise than before. */
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

/** All records that any of the routes needs, each once. */
export function recordsOf(routes: readonly { records: readonly SeenRecord[] }[]): SeenRecord[] {
  const records = new Map<string, SeenRecord>();
  for (const record of routes.flatMap((route) => route.records)) {
    const key = JSON.stringify([record.type, record.name, record.value]);
    records.set(key, records.get(key) ?? record);
  }
  return [...records.values()];
}
