import type { ProviderKind } from '../../../providers/kind.ts';
import { optional } from '../command.ts';
import { kindSettings, offered, typedFor } from './kindOptions.ts';
import { checkSettings, parseObject } from './kinds.ts';
import { text } from '../values.ts';
import type { Tools } from '../tools.ts';

/** The settings that nearly every route needs, as options of their own; `--settings` takes all there are. */
export const settingOptions = {
  settings: optional('JSON|FILE|-', 'all settings as one JSON object; null gives back a default', text),
  ...offered(kindSettings),
};

/**
 * The settings as they are to be stored: what was there, and over it what is given.
 * @throws AdminError invalid_argument for what the kind does not know or allow
 */
export async function readSettings(
  kind: ProviderKind,
  before: Record<string, unknown>,
  typed: { settings?: string; [option: string]: unknown },
  tools: Tools,
): Promise<Record<string, unknown>> {
  const given: Record<string, unknown> = {
    ...(typed.settings === undefined ? {} : await readObject(typed.settings, tools)),
    ...(await typedFor(kindSettings, typed, tools)),
  };
  const merged = Object.fromEntries(
    Object.entries({ ...before, ...given }).filter(([, value]) => value !== null),
  );
  checkSettings(kind, merged);
  return merged;
}

// Written out on the command line it begins like an object; no file's name does.
async function readObject(source: string, tools: Tools): Promise<Record<string, unknown>> {
  const json = source.trimStart().startsWith('{') ? source : await tools.read('--settings', source);
  return parseObject('--settings', json);
}
