import type { Sql } from '../../db/connection.ts';
import { readOverview } from '../../db/routes/routeOverview.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recordedAfter } from '../staff.ts';
import { openCredentials } from './credentials.ts';
import { findRoute, kindOf } from './find.ts';
import { checkedSettings, storedSettings } from './settings.ts';

/** The sign of life of a provider. */
export interface Trial {
  /** What it said, in third-party text. */
  answer: string;
  tookMs: number;
}

/**
 * Binds to the SMSC of a route, or asks its provider, now and from this process; nothing is sent. The route may be disabled.
 * @throws StaffRefused also when it does not work
 */
export const tryRoute = recordedAfter('routes test', async (services, { route: name }: { route: string }) => {
  const { sql } = services;
  const route = await findRoute(sql, name);
  const kind = kindOf(route);
  const settings = checkedSettings(kind, storedSettings(route));
  const credentials = await openCredentials(services, kind, route);
  const started = Date.now();
  const tested = await kind.test(settings, credentials);
  if (!tested.ok) {
    const sessions = await openSessions(sql, name);
    throw new StaffRefused({ reason: 'route_not_working', route: name, fault: tested.problem, sessions });
  }
  const data: Trial = { answer: tested.answer, tookMs: Date.now() - started };
  return { data, subject: name };
});

// Network operators count binds: a test comes on top of what the workers have open, and is what they refuse then.
async function openSessions(sql: Sql, name: string): Promise<number> {
  const [seen] = await readOverview(sql, name);
  return (seen?.workers ?? []).reduce((sum, worker) => sum + worker.sessions, 0);
}
