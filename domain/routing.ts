import type { CallingHours } from './sendWindow.ts';
import { type Channel, CHANNELS } from './channelDeclaration.ts';

/** What a route carries: messages by type, e-mail, and number look-ups. */
export type RouteTraffic = Channel | 'email' | 'hlr';

// What waits for its route.
const SENT = [...CHANNELS, 'email'] as const;

/** What choosing a route has to know of its provider kind. */
export interface RouteTraits {
  carries: readonly RouteTraffic[];
  /** It reaches no phone. */
  simulated: boolean;
  /** When it makes calls; absent or null: at any time. */
  callingHours?: CallingHours | null;
}

/** What a route is used for; null, and '' for the prefix, admit everything. */
export interface RouteRule {
  route: string;
  /** Digits of the number in E.164, without plus. */
  prefix: string;
  accountId: string | null;
  type: RouteTraffic | null;
  priority: boolean | null;
  /** The share among rules that are equally specific. */
  weight: number;
}

/** A route as far as choosing needs it and the database knows it. */
export interface StoredRouteOption {
  name: string;
  /** Of its provider. */
  kind: string;
  state: 'active' | 'draining' | 'disabled';
  /** It has an open session, or had one just now. */
  working: boolean;
}

/** A route as far as choosing needs it. */
export type RouteOption = StoredRouteOption & RouteTraits;

/** All routes and their rules at one moment, as stored. */
export interface StoredRouting {
  routes: (StoredRouteOption & { settings: unknown })[];
  rules: RouteRule[];
}

/** All routes and their rules at one moment. */
export interface Routing {
  routes: RouteOption[];
  rules: RouteRule[];
}

/** Stands for the number of what goes to none: it fits the rules that are for all numbers, and no other. */
const NO_NUMBER = '+';

/** What is to be carried. */
export interface Traffic {
  /** Chooses among equals, always the same way for the same key: the id of the message or look-up. */
  key: string;
  /** MSISDN in E.164 with plus; {@link NO_NUMBER} of an e-mail. */
  msisdn: string;
  accountId: string;
  type: RouteTraffic;
  priority: boolean;
}

/**
 * The routes that may take this, the best first: those with a rule of the account's own, then with the longest prefix,
 * then with a rule for just this priority or type; among equals by weight, each key by its own lot. Routes that do not
 * work come after all that do. Only active routes are named. The simulated network is nobody's reserve: it stands back
 * where a real route has a matching rule, unless a rule gives it to the account. For a message that is so too where that route
 * carries other types alone: whoever has an SMSC does not want MMS to the same phones simulated, and paid.
 */
export function orderRoutes({ routes, rules }: Routing, traffic: Traffic): string[] {
  const byName = new Map(routes.map((route) => [route.name, route]));
  const matching = rules.filter((rule) => {
    const route = byName.get(rule.route);
    return route !== undefined && route.carries.includes(traffic.type) && admits(rule, traffic);
  });
  const isSimulated = (rule: RouteRule): boolean => byName.get(rule.route)?.simulated === true;
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
    .map((rule) => ({ rule, lot: lotOf(traffic.key, rule) }))
    .sort((a, b) => compareSpecificity(a.rule, b.rule) || a.lot - b.lot);
  const names = [...new Set(candidates.map(({ rule }) => rule.route))];
  const works = (name: string): boolean => byName.get(name)?.working === true;
  return [...names.filter(works), ...names.filter((name) => !works(name))];
}

/** Those of them that are the account's alone: no rule gives them anything of anybody else's. */
export function ownRoutes(routing: Routing, traffic: Traffic): string[] {
  const shared = new Set(
    routing.rules.filter(({ accountId }) => accountId !== traffic.accountId).map(({ route }) => route),
  );
  return orderRoutes(routing, traffic).filter((name) => !shared.has(name));
}

/** The traffic that an e-mail is. @param id of the e-mail */
export function emailTraffic(id: string, accountId: string): Traffic {
  return { key: id, msisdn: NO_NUMBER, accountId, type: 'email', priority: false };
}

/** The best route for this that works and that `may` admits; null when there is none. */
export function workingRoute(
  routing: Routing,
  traffic: Traffic,
  may: (route: string) => boolean,
): string | null {
  const working = new Set(routing.routes.filter((route) => route.working).map(({ name }) => name));
  return orderRoutes(routing, traffic).find((name) => working.has(name) && may(name)) ?? null;
}

/**
 * Whether another route works that may take some of a route's messages: both have rules that one message can match. The
 * simulated network counts for the accounts it was given to.
 */
export function hasReserve({ routes, rules }: Routing, name: string): boolean {
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

/**
 * Weighted rendezvous hashing: the smallest lot wins, in proportion to the weights; when a route goes, only its own keys
 * move.
 */
function lotOf(key: string, { route, weight }: RouteRule): number {
  return -Math.log(unitHash(`${key}\n${route}`)) / weight;
}

// FNV-1a with a final mixing, into (0, 1]. No cryptography: it only spreads.
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) + 1) / 0x1_0000_0000;
}

/** Simulated routes that still take messages, which reach nobody. */
export interface SimulatedUse {
  /** Their names. */
  routes: readonly string[];
  /** Whether there are real routes beside them. */
  beside: boolean;
}

/** What the simulated network still takes, beside or instead of real routes; null: nothing. */
export function simulatedUse(routing: Routing): SimulatedUse | null {
  const simulated = routing.routes.filter((route) => route.simulated && route.state === 'active');
  const real = routing.routes.filter((route) => !route.simulated);
  const covering = rulesOf(routing, real);
  const open = rulesOf(routing, simulated).filter(
    (rule) => rule.accountId !== null || !covering.some((other) => admitsAll(other, rule)),
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
            admitsAll(other, rule) &&
            // Where a real route has a rule, the simulated network takes over for nobody.
            (!isSimulated(other) || isSimulated(rule) || other.accountId !== null),
        ),
    );
}

function rulesOf({ rules }: Routing, routes: readonly { name: string }[]): RouteRule[] {
  return rules.filter((rule) => routes.some(({ name }) => name === rule.route));
}

/** Whether one rule admits whatever the other does. */
function admitsAll(wide: RouteRule, narrow: RouteRule): boolean {
  return (
    narrow.prefix.startsWith(wide.prefix) &&
    (wide.accountId === null || wide.accountId === narrow.accountId) &&
    (wide.type === null || wide.type === narrow.type) &&
    (wide.priority === null || wide.priority === narrow.priority)
  );
}
