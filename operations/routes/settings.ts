import type { z } from 'zod';
import type { Route } from '../../db/routes/routes.ts';
import { storable } from '../../domain/inbound.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { ProviderKind } from '../../providers/kind.ts';

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
