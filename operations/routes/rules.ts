import { removeRule as deleteRule, type StoredRule, addRule as storeRule } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import {
  orderRoutes,
  type RouteTraffic,
  type Routing,
  type SimulatedUse,
  type Traffic,
} from '../../domain/routing.ts';
import { DEFAULT_WEIGHT } from '../../domain/money.ts';
import { findAccount } from '../accounts/accounts.ts';
import { type ActRecord, recorded, recordedAfter } from '../staff.ts';
import {
  checkedSettings,
  findRoute,
  holdRoute,
  kindOf,
  routingNow,
  simulatedUseNow,
  storedSettings,
} from './routes.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import type { Sql } from '../../db/connection.ts';
import { readOverview } from '../../db/routes/routeOverview.ts';
import { openCredentials } from './credentials.ts';

/** What is absent admits everything. */
interface AddInput {
  route: string;
  /** The first digits of numbers, without plus; '' for all. */
  prefix?: string;
  account?: string;
  type?: RouteTraffic;
  priority?: boolean;
  /** The share among equal rules; 100 unless it says otherwise. */
  weight?: number;
}

/** A rule just added or removed. */
interface ChangedRule {
  rule: StoredRule;
  simulated: SimulatedUse | null;
}

/**
 * Gives a route work; the same conditions again change the weight.
 * @throws StaffRefused also for a type that the route's kind does not carry
 */
export const addRule = recorded('routes rules add', async (sql, input: AddInput) => {
  const { route, prefix = '', account = null, type = null, priority = null, weight = DEFAULT_WEIGHT } = input;
  const { name: kind, traits } = kindOf(await holdRoute(sql, route));
  if (type !== null && !traits.carries.includes(type)) {
    throw new StaffRefused({ reason: 'type_not_carried', kind, type });
  }
  if (account !== null) await findAccount(sql, account);
  const rule = { route, prefix, accountId: account, type, priority, weight };
  const added = { ...rule, id: await storeRule(sql, rule) };
  const data: ChangedRule = { rule: added, simulated: await simulatedUseNow(sql) };
  return { data, ...recordOf(added) };
});

/** Removes a rule; messages already given to its route stay there. @throws StaffRefused rule_missing */
export const removeRule = recorded('routes rules remove', async (sql, { rule: id }: { rule: number }) => {
  const rule = await deleteRule(sql, id);
  if (rule === undefined) throw new StaffRefused({ reason: 'rule_missing', rule: id });
  const data: ChangedRule = { rule, simulated: await simulatedUseNow(sql) };
  return { data, ...recordOf(rule) };
});

function recordOf({ id, route, prefix, accountId, type, priority, weight }: StoredRule): ActRecord {
  return {
    subject: route,
    account: accountId,
    details: {
      ...{ id, route, prefix: prefix === '' ? 'all' : prefix, account_id: accountId },
      ...{ type, priority, weight },
    },
  };
}

// So many messages are imagined to see how they would be shared out.
const SAMPLES = 1_000;

interface Input {
  /** The recipient, E.164. */
  to: string;
  /** One without rules of its own unless it says otherwise. */
  account?: string;
  /** `sms` unless it says otherwise. */
  type?: Traffic['type'];
  priority?: boolean;
}

/** A route that a message would take. */
interface Choice {
  route: string;
  /** Of all such messages, the share that would take it first; 0 to 1. */
  firstShare: number;
  working: boolean;
}

/** Lists the routes that a message would take now, the first choice first. @throws StaffRefused account_missing */
export const whichRoutes = recorded('routes which', async (sql, input: Input) => {
  const { to: msisdn, account, type = 'sms', priority = false } = input;
  if (account !== undefined) await findAccount(sql, account);
  const data = choices(await routingNow(sql), { msisdn, accountId: account ?? '', type, priority });
  return { data, subject: maskMsisdn(msisdn), account };
});

function choices(routing: Routing, traffic: Omit<Traffic, 'key'>): Choice[] {
  const placed = new Map<string, { first: number; places: number }>();
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    for (const [place, name] of orderRoutes(routing, { ...traffic, key: `sample ${sample}` }).entries()) {
      const { first, places } = placed.get(name) ?? { first: 0, places: 0 };
      placed.set(name, { first: first + Number(place === 0), places: places + place });
    }
  }
  return [...placed]
    .sort(([, a], [, b]) => a.places - b.places)
    .map(([name, { first }]) => ({
      route: name,
      firstShare: first / SAMPLES,
      working: routing.routes.find((route) => route.name === name)?.working === true,
    }));
}

/** The sign of life of a provider. */
interface Trial {
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
