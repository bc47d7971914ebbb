import type { CallingHours } from './sendWindow.ts';
import { type Channel, CHANNELS } from './channelDeclaration.ts';

export type RouteTraffic = Channel | 'email' | 'hlr';

// Traffic that queues for its route.
const SENT = [...CHANNELS, 'email'] as const;

export interface RouteTraits {
  carries: readonly RouteTraffic[];
  /** Reaches no phone. */
  simulated: boolean;
  /** Parts of a message that it takes; absent: as many as there may be. */
  maxParts?: number;
  /** When it makes calls; absent or null: at any time. */
  callingHours?: CallingHours | null;
}

/** Traffic that a route takes; null, and '' for the prefix, match everything. */
export interface RouteRule {
  route: string;
  /** Digits of the number in E.164, without plus. */
  prefix: string;
  accountId: string | null;
  type: RouteTraffic | null;
  priority: boolean | null;
  /** Share among equally specific rules. */
  weight: number;
}

export interface StoredRouteOption {
  name: string;
  kind: string;
  state: 'active' | 'draining' | 'disabled';
  /** Has an open session, or had one a moment ago. */
  working: boolean;
}

export type RouteOption = StoredRouteOption & RouteTraits;

export interface StoredRouting {
  routes: (StoredRouteOption & { settings: unknown })[];
  rules: RouteRule[];
}

export interface Routing {
  routes: RouteOption[];
  rules: RouteRule[];
}

// In place of a number for e-mails: matches only rules for all numbers.
const NO_NUMBER = '+';

export interface Traffic {
  /** Id of the message or lookup: among equal routes the same key always gets the same one. */
  key: string;
  /** MSISDN in E.164 with plus; {@link NO_NUMBER} of an e-mail. */
  msisdn: string;
  accountId: string;
  type: RouteTraffic;
  priority: boolean;
  /** Of the message; 1 unless told. */
  parts?: number;
}

/**
 * The active routes for this traffic, best first: by rules of the account itself, then the longest prefix, then rules for this priority
 * or type; equal ones by weight, stable per key. Routes that do not work come last, those that take fewer parts are left out. The simulated network is no fallback: it is left out
 * where a real route has a matching rule, unless a rule names the account. For messages that also holds where the real route carries
 * other types only: with an SMSC in place, MMS to the same phones must not be simulated, and billed.
 */
export function orderRoutes(routing: Routing, traffic: Traffic): string[] {
  return orderRules(routing, traffic).map(({ route }) => route);
}

/** The rules by which {@link orderRoutes} takes its routes, in its order: one for each. */
export function orderRules<Rule extends RouteRule>(
  { routes, rules }: { routes: RouteOption[]; rules: Rule[] },
  traffic: Traffic,
): Rule[] {
  const byName = new Map(routes.map((route) => [route.name, route]));
  const matching = rules.filter((rule) => {
    const route = byName.get(rule.route);
    return route !== undefined && route.carries.includes(traffic.type) && admits(rule, traffic);
  });
  const isSimulated = (rule: Rule): boolean => byName.get(rule.route)?.simulated === true;
  const real = rules.some((rule) => {
    const route = byName.get(rule.route);
    if (route === undefined || route.simulated) return false;
    if (traffic.type === 'hlr' || traffic.type === 'email')
      return route.carries.includes(traffic.type) && admits(rule, traffic);
    const carriesMessages = CHANNELS.some((channel) => route.carries.includes(channel));
    return carriesMessages && admits({ ...rule, type: null }, traffic);
  });
  const candidates = matching
    .filter((rule) => byName.get(rule.route)?.state === 'active')
    .filter((rule) => !real || !isSimulated(rule) || rule.accountId !== null)
    .filter((rule) => (traffic.parts ?? 1) <= (byName.get(rule.route)?.maxParts ?? Infinity))
    .map((rule) => ({ rule, lot: lotOf(traffic.key, rule) }))
    .sort((a, b) => compareSpecificity(a.rule, b.rule) || a.lot - b.lot)
    .map(({ rule }) => rule);
  const names = candidates.map(({ route }) => route);
  const firsts = candidates.filter(({ route }, index) => names.indexOf(route) === index);
  const works = ({ route }: Rule): boolean => byName.get(route)?.working === true;
  return [...firsts.filter(works), ...firsts.filter((rule) => !works(rule))];
}

/** The most parts that an active route takes of a message; null: there is no route for it. */
export function mostParts(routing: Routing, traffic: Traffic): number | null {
  const names = orderRoutes(routing, { ...traffic, parts: 1 });
  const taken = routing.routes
    .filter(({ name }) => names.includes(name))
    .map(({ maxParts }) => maxParts ?? Infinity);
  return taken.length === 0 ? null : Math.max(...taken);
}

/** The routes of {@link orderRoutes} that have no rules but this account's. */
export function ownRoutes(routing: Routing, traffic: Traffic): string[] {
  const shared = new Set(
    routing.rules.filter(({ accountId }) => accountId !== traffic.accountId).map(({ route }) => route),
  );
  return orderRoutes(routing, traffic).filter((name) => !shared.has(name));
}

/** @param id of the e-mail */
export function emailTraffic(id: string, accountId: string): Traffic {
  return { key: id, msisdn: NO_NUMBER, accountId, type: 'email', priority: false };
}

export function workingRoute(
  routing: Routing,
  traffic: Traffic,
  may: (route: string) => boolean,
): string | null {
  const working = new Set(routing.routes.filter((route) => route.working).map(({ name }) => name));
  return orderRoutes(routing, traffic).find((name) => working.has(name) && may(name)) ?? null;
}

/** Whether another working route has a rule that overlaps with one of this route's. Simulated routes count only by an account's rule. */
export function hasFallback({ routes, rules }: Routing, name: string): boolean {
  const own = rules.filter(({ route }) => route === name);
  const both = (mine: RouteRule, other: RouteRule, traits: RouteTraits): boolean =>
    SENT.some((type) => traits.carries.includes(type) && overlap(type, mine, other));
  return routes.some(
    (other) =>
      other.name !== name &&
      other.state === 'active' &&
      other.working &&
      rules.some(
        (rule) =>
          rule.route === other.name &&
          (!other.simulated || rule.accountId !== null) &&
          own.some((mine) => both(mine, rule, other)),
      ),
  );
}

function overlap(sent: RouteTraffic, a: RouteRule, b: RouteRule): boolean {
  const meet = <T>(one: T | null, other: T | null): boolean =>
    one === null || other === null || one === other;
  const admitsIt = ({ type }: RouteRule): boolean => type === null || type === sent;
  return (
    admitsIt(a) &&
    admitsIt(b) &&
    (a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix)) &&
    meet(a.accountId, b.accountId) &&
    meet(a.priority, b.priority)
  );
}

function admits(rule: RouteRule, traffic: Traffic): boolean {
  return (
    traffic.msisdn.startsWith(`+${rule.prefix}`) &&
    (rule.accountId === null || rule.accountId === traffic.accountId) &&
    (rule.type === null || rule.type === traffic.type) &&
    (rule.priority === null || rule.priority === traffic.priority)
  );
}

function compareSpecificity(a: RouteRule, b: RouteRule): number {
  return (
    Number(b.accountId !== null) - Number(a.accountId !== null) ||
    b.prefix.length - a.prefix.length ||
    Number(b.priority !== null) - Number(a.priority !== null) ||
    Number(b.type !== null) - Number(a.type !== null)
  );
}

// Weighted rendezvous hashing: the smallest lot wins; removing a route moves only its own keys.
function lotOf(key: string, { route, weight }: RouteRule): number {
  return -Math.log(unitHash(`${key}\n${route}`)) / weight;
}

// FNV-1a with a final mixing, into (0, 1]. Not cryptographic.
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) + 1) / 0x1_0000_0000;
}

export interface SimulatedUse {
  routes: readonly string[];
  beside: boolean;
}

/** The simulated routes that still take messages, beside or instead of real ones; null: none. */
export function simulatedUse(routing: Routing): SimulatedUse | null {
  const simulated = routing.routes.filter((route) => route.simulated && route.state === 'active');
  const real = routing.routes.filter((route) => !route.simulated);
  const covering = rulesOf(routing, real);
  const open = rulesOf(routing, simulated).filter(
    (rule) => rule.accountId !== null || !covering.some((other) => covers(other, rule)),
  );
  if (open.length === 0) return null;
  return { routes: [...new Set(open.map(({ route }) => route))], beside: real.length > 0 };
}

/** The rules of a route whose messages no other active route would take. */
export function onlyUses(routing: Routing, name: string): RouteRule[] {
  const active = routing.routes.filter(({ name: other, state }) => other !== name && state === 'active');
  const others = rulesOf(routing, active);
  const isSimulated = (rule: RouteRule): boolean =>
    routing.routes.some((route) => route.name === rule.route && route.simulated);
  return routing.rules
    .filter((rule) => rule.route === name)
    .filter(
      (rule) =>
        !others.some(
          (other) =>
            covers(other, rule) &&
            // The simulated network is no fallback for a real route.
            (!isSimulated(other) || isSimulated(rule) || other.accountId !== null),
        ),
    );
}

function rulesOf({ rules }: Routing, routes: readonly { name: string }[]): RouteRule[] {
  return rules.filter((rule) => routes.some(({ name }) => name === rule.route));
}

// Whether `wide` admits all that `narrow` does.
function covers(wide: RouteRule, narrow: RouteRule): boolean {
  return (
    narrow.prefix.startsWith(wide.prefix) &&
    (wide.accountId === null || wide.accountId === narrow.accountId) &&
    (wide.type === null || wide.type === narrow.type) &&
    (wide.priority === null || wide.priority === narrow.priority)
  );
}
