import type { z } from 'zod';
import type { Sql } from '../../db/connection.ts';
import { cachedRouting, lockRoute, readRoute, readRouting, type Route } from '../../db/routes/routes.ts';
import {
  onlyUses,
  type RouteRule,
  type Routing,
  type SimulatedUse,
  simulatedUse,
} from '../../domain/routing.ts';
import { providerKinds } from '../../providers/registry.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { ProviderKind } from '../../providers/kind.ts';
import { storable } from '../../domain/incoming.ts';

/** Reads the routes with what their kinds can do; as known within the last second. */
export function currentRouting(sql: Sql): () => Promise<Routing> {
  return cachedRouting(sql, providerKinds.withTraits);
}

/** Reads a route. @throws StaffRefused route_missing */
export async function findRoute(sql: Sql, name: string): Promise<Route> {
  return (await readRoute(sql, name)) ?? missing(name);
}

/** Reads a route and holds it until the transaction ends. @throws StaffRefused route_missing */
export async function holdRoute(sql: Sql, name: string): Promise<Route> {
  return (await lockRoute(sql, name)) ?? missing(name);
}

/** The kind of a route's provider. @throws StaffRefused kind_unknown for one that a later release brought */
export function kindOf({ kind }: Pick<Route, 'kind'>): ProviderKind {
  const known = providerKinds.named(kind);
  if (known === undefined) throw new StaffRefused({ reason: 'kind_unknown', kind });
  return known;
}

/** A route as staff may see it: of its credentials only whether there are any. */
export interface PlainRoute extends Omit<Route, 'credentials' | 'revision'> {
  hasCredentials: boolean;
}

/** A route without its credentials. */
export function plainRoute(route: Omit<Route, 'revision'>): PlainRoute {
  const { name, kind, state, settings, ratePerSecond, brokenAfterS } = route;
  const hasCredentials = route.credentials !== null;
  return { name, kind, state, settings, ratePerSecond, brokenAfterS, hasCredentials };
}

function missing(route: string): never {
  throw new StaffRefused({ reason: 'route_missing', route });
}

/** All routes and rules now, with what the kinds say of the routes. */
export async function routingNow(sql: Sql): Promise<Routing> {
  return providerKinds.withTraits(await readRouting(sql));
}

/** What the simulated network still takes now; null: nothing. */
export async function simulatedUseNow(sql: Sql): Promise<SimulatedUse | null> {
  return simulatedUse(await routingNow(sql));
}

/** The rules of a route whose messages no other active route takes now. */
export async function onlyUsesNow(sql: Sql, name: string): Promise<RouteRule[]> {
  return onlyUses(await routingNow(sql), name);
}

/** Settings of a route by name, as its provider kind has them. */
export type Settings = Record<string, unknown>;

/** What is stored as settings, whatever it is. */
export function storedSettings({ settings }: Pick<Route, 'settings'>): Settings {
  return typeof settings === 'object' && settings !== null ? { ...settings } : {};
}

/**
 * The settings with the kind's defaults filled in.
 * @throws StaffRefused naming the first that cannot be used
 */
export function checkedSettings(kind: ProviderKind, settings: Settings): Settings {
  const checked = kind.settings.safeParse(settings);
  if (!checked.success) throw unusable(kind, settings, checked.error.issues[0]);
  if (!isStorable(settings)) throw new StaffRefused({ reason: 'settings_not_storable' });
  return checked.data;
}

/**
 * The settings as they are to be stored: what was there, and over it what is given; null gives back a default.
 * @throws StaffRefused for what the kind does not know or allow
 */
export function mergedSettings(kind: ProviderKind, before: Settings, given: Settings): Settings {
  const merged = Object.fromEntries(
    Object.entries({ ...before, ...given }).filter(([, value]) => value !== null),
  );
  checkedSettings(kind, merged);
  return merged;
}

function unusable({ name }: ProviderKind, settings: Settings, issue?: z.core.$ZodIssue): StaffRefused {
  const path = issue?.path ?? [];
  const about = { kind: name, setting: path.length === 0 ? null : path.join('.') };
  if (issue?.code === 'invalid_type' && settings[String(path[0])] === undefined)
    return new StaffRefused({ reason: 'setting_missing', ...about });
  // Of a key in a record, only the inner one says what it should be.
  const inner = issue?.code === 'invalid_key' ? issue.issues[0] : issue;
  return new StaffRefused({ reason: 'setting_unusable', ...about, fault: inner?.message ?? null });
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return storable(value) === value;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
}
