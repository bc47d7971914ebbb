import {
  addRule as storeRule,
  readRouteRules,
  removeRule as deleteRule,
  type StoredRule,
} from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { orderRules, type RouteOption, type RouteTraffic, type Traffic } from '../../domain/routing.ts';
import { DEFAULT_WEIGHT } from '../../domain/money.ts';
import { findAccount } from '../accounts/accounts.ts';
import { type ActRecord, recorded, recordedAfter } from '../staff.ts';
import {
  checkedSettings,
  findRoute,
  findRouteForUpdate,
  kindOf,
  routingNow,
  simulatedUseNow,
  storedSettings,
} from './routes.ts';
import type { Sql } from '../../db/connection.ts';
import { readWatched } from '../../db/routes/routeOverview.ts';
import { openCredentials } from './credentials.ts';

/** Absent conditions match everything. */
interface AddInput {
  route: string;
  /** Leading digits of numbers, without plus; '' matches all. */
  prefix?: string;
  account?: string;
  type?: RouteTraffic;
  priority?: boolean;
  /** Relative share among equal rules; 100 by default. */
  weight?: number;
}

/**
 * Adds a routing rule; with the conditions of an existing one, changes its weight.
 * @throws StaffRefused also for a type that the route's kind does not support
 */
export const addRule = recorded('routes rules add', async (sql, input: AddInput) => {
  const { route, prefix = '', account = null, type = null, priority = null, weight = DEFAULT_WEIGHT } = input;
  const { name: kind, traits } = kindOf(await findRouteForUpdate(sql, route));
  if (type !== null && !traits.carries.includes(type)) {
    throw new StaffRefused({ reason: 'type_not_carried', kind, type });
  }
  if (account !== null) await findAccount(sql, account);
  const rule = { route, prefix, accountId: account, type, priority, weight };
  const added = { ...rule, id: await storeRule(sql, rule) };
  return { data: { rule: added, simulated: await simulatedUseNow(sql) }, ...recordOf(added) };
});

/** Removes a rule; messages already assigned to its route stay there. @throws StaffRefused rule_missing */
export const removeRule = recorded('routes rules remove', async (sql, { rule: id }: { rule: number }) => {
  const rule = await deleteRule(sql, id);
  if (rule === undefined) throw new StaffRefused({ reason: 'rule_missing', rule: id });
  return { data: { rule, simulated: await simulatedUseNow(sql) }, ...recordOf(rule) };
});

function recordOf({ id, route, prefix, accountId, type, priority, weight }: StoredRule): ActRecord {
  return {
    subject: route,
    account: accountId,
    details: {
      id,
      route,
      prefix: prefix === '' ? 'all' : prefix,
      account_id: accountId,
      type,
      priority,
      weight,
    },
  };
}

// Hypothetical messages to estimate the shares.
const SAMPLES = 1_000;

interface Input {
  to: string;
  account?: string;
  type?: Traffic['type'];
  priority?: boolean;
}

/**
 * Lists the rules by whose routes a message could go now, by preference; `firstShare` of such messages, 0 to 1, would take it first.
 */
export async function whichRoutes(sql: Sql, input: Input) {
  const { to: msisdn, account: accountId = '', type = 'sms', priority = false } = input;
  const { routes } = await routingNow(sql);
  const rules = await readRouteRules(sql);
  return choices({ routes, rules }, { msisdn, accountId, type, priority });
}

function choices(routing: { routes: RouteOption[]; rules: StoredRule[] }, traffic: Omit<Traffic, 'key'>) {
  const placed = new Map<StoredRule, { first: number; places: number }>();
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    for (const [place, rule] of orderRules(routing, { ...traffic, key: `sample ${sample}` }).entries()) {
      const { first, places } = placed.get(rule) ?? { first: 0, places: 0 };
      placed.set(rule, { first: first + Number(place === 0), places: places + place });
    }
  }
  return [...placed]
    .sort(([, a], [, b]) => a.places - b.places)
    .map(([rule, { first }]) => ({
      rule,
      firstShare: first / SAMPLES,
      working: routing.routes.some(({ name, working }) => name === rule.route && working),
    }));
}

/**
 * Tests a route from this process by binding to its SMSC or querying its provider; nothing is sent. Works for a disabled route too.
 * @returns the provider's answer, third-party text
 * @throws StaffRefused also if the test fails
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
    // Carriers limit the number of binds: a test comes on top of the workers' sessions and may be refused for that.
    const [seen] = await readWatched(sql, name);
    const sessions = (seen?.workers ?? []).reduce((sum, worker) => sum + worker.sessions, 0);
    throw new StaffRefused({ reason: 'route_not_working', route: name, fault: tested.problem, sessions });
  }
  return { data: { answer: tested.answer, tookMs: Date.now() - started }, subject: name };
});
