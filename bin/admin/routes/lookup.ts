import type { Sql } from '../../../db/connection.ts';
import { lockRoute, readRoute, type Route } from '../../../db/routes/routes.ts';
import { notFound } from '../problems.ts';

/** Reads a route. @throws AdminError not_found */
export async function findRoute(sql: Sql, name: string): Promise<Route> {
  return (await readRoute(sql, name)) ?? missing(name);
}

/** Reads a route and holds it until the transaction ends. @throws AdminError not_found */
export async function holdRoute(sql: Sql, name: string): Promise<Route> {
  return (await lockRoute(sql, name)) ?? missing(name);
}

/** What is stored as settings, whatever it is. */
export function plainSettings({ settings }: Pick<Route, 'settings'>): Record<string, unknown> {
  return typeof settings === 'object' && settings !== null ? { ...settings } : {};
}

/** A route as the command line shows it: all but the secrets. */
export function summary(route: Omit<Route, 'revision'>): Record<string, unknown> {
  return {
    name: route.name,
    kind: route.kind,
    state: route.state,
    rate_per_second: route.ratePerSecond,
    broken_after_s: route.brokenAfterS,
    settings: route.settings,
    credentials: route.credentials === null ? 'none' : 'stored',
  };
}

/** The remark of an outcome from those of its sentences that there are. */
export function remark(sentences: string[]): { remark?: string } {
  const all = sentences.filter((sentence) => sentence !== '').join('\n');
  return all === '' ? {} : { remark: all };
}

function missing(name: string): never {
  throw notFound(`There is no route ${name}.`);
}
