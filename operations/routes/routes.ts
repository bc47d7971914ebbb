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
import { storable } from '../../domain/ids.ts';

/** Reads routes with the traits of their kinds, cached for a second. */
export function currentRouting(sql: Sql): () => Promise<Routing> {
  return cachedRouting(sql, providerKinds.withTraits);
}

/** Reads a route. @throws StaffRefused route_missing */
export async function findRoute(sql: Sql, name: string): Promise<Route> {
  return (await readRoute(sql, name)) ?? missing(name);
}

/** Reads and locks a route until the transaction ends. @throws StaffRefused route_missing */
export async function findRouteForUpdate(sql: Sql, name: string): Promise<Route> {
  return (await lockRoute(sql, name)) ?? missing(name);
}

/** The provider kind of a route. @throws StaffRefused kind_unknown for a kind of a later release */
export function kindOf({ kind }: Pick<Route, 'kind'>): ProviderKind {
  const known = providerKinds.named(kind);
  if (known === undefined) throw new StaffRefused({ reason: 'kind_unknown', kind });
  return known;
}

/** A route for display, without its credentials. */
export interface PlainRoute extends Omit<Route, 'credentials' | 'revision'> {
  hasCredentials: boolean;
}

export function plainRoute(route: Omit<Route, 'revision'>): PlainRoute {
  const { name, kind, state, settings, ratePerSecond, brokenAfterS } = route;
  const hasCredentials = route.credentials !== null;
  return { name, kind, state, settings, ratePerSecond, brokenAfterS, hasCredentials };
}

function missing(route: string): never {
  throw new StaffRefused({ reason: 'route_missing', route });
}

/** Routes and rules, uncached, with the traits of their kinds. */
export async function routingNow(sql: Sql): Promise<Routing> {
  return providerKinds.withTraits(await readRouting(sql));
}

/** Traffic that currently goes to the simulated network; null: none. */
export async function simulatedUseNow(sql: Sql): Promise<SimulatedUse | null> {
  return simulatedUse(await routingNow(sql));
}

/** A route's rules that no other active route covers. */
export async function onlyUsesNow(sql: Sql, name: string): Promise<RouteRule[]> {
  return onlyUses(await routingNow(sql), name);
}

export type Settings = Record<string, unknown>;

/** Stored settings as an object, whatever was stored. */
export function storedSettings({ settings }: Pick<Route, 'settings'>): Settings {
  return typeof settings === 'object' && settings !== null ? { ...settings } : {};
}

/** Validates settings and fills in the kind's defaults. @throws StaffRefused naming the first invalid one */
export function checkedSettings(kind: ProviderKind, settings: Settings): Settings {
  const checked = kind.settings.safeParse(settings);
  if (!checked.success) throw unusable(kind, settings, checked.error.issues[0]);
  if (!isStorable(settings)) throw new StaffRefused({ reason: 'settings_not_storable' });
  return checked.data;
}

/** Merges new settings over the stored ones; null restores a default. @throws StaffRefused for unknown or invalid settings */
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
  // For an invalid key of a record, only the inner issue says what is expected.
  const inner = issue?.code === 'invalid_key' ? issue.issues[0] : issue;
  return new StaffRefused({ reason: 'setting_unusable', ...about, fault: inner?.message ?? null });
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return storable(value) === value;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
}
