import type { GivenCredentials } from '../../../operations/routes/credentials.ts';
import { providerKinds } from '../../../providers/registry.ts';
import { optional } from '../command.ts';
import { invalidArgument } from '../problems.ts';
import type { Tools } from '../tools.ts';
import { text } from '../values.ts';
import { kindIdentity, kindSettings, offered, typedFor } from './kindOptions.ts';

/** The settings that nearly every route needs, as options of their own; `--settings` takes all there are. */
export const settingOptions = {
  settings: optional('JSON|FILE|-', 'all settings as one JSON object; null gives back a default', text),
  ...offered(kindSettings),
};

/** What the secret is called, by kind. */
const SECRETS = new Intl.ListFormat('en', { type: 'disjunction' }).format(
  providerKinds.all.flatMap(({ name, secret }) => (secret === null ? [] : [`${secret.bare} (${name})`])),
);

/** Credentials as options; never with the secret itself on the command line. */
export const credentialOptions = {
  credentials: optional(
    'FILE|-|env:NAME',
    `where the ${SECRETS} is read from: alone, or with the rest as JSON`,
    text,
  ),
  ...offered(kindIdentity),
};

/** The settings that are typed, or in the file that is. @throws AdminError invalid_argument */
export async function readSettings(
  typed: { settings?: string; [option: string]: unknown },
  tools: Tools,
): Promise<Record<string, unknown>> {
  return {
    ...(typed.settings === undefined ? {} : await readObject(typed.settings, tools)),
    ...(await typedFor(kindSettings, typed, tools)),
  };
}

/**
 * The credentials in the file that is typed, and what is typed beside it: a JSON object, or the secret alone.
 * @throws AdminError invalid_argument, with nothing of them
 */
export async function readCredentials(
  typed: { credentials?: string; [option: string]: unknown },
  tools: Tools,
): Promise<GivenCredentials> {
  const fields = await typedFor(kindIdentity, typed, tools);
  if (typed.credentials === undefined) return { fields };
  const content = (await tools.read('--credentials', typed.credentials)).trim();
  return { secret: content.startsWith('{') ? parseObject('--credentials', content) : content, fields };
}

// Written out on the command line it begins like an object; no file's name does.
async function readObject(source: string, tools: Tools): Promise<Record<string, unknown>> {
  const json = source.trimStart().startsWith('{') ? source : await tools.read('--settings', source);
  return parseObject('--settings', json);
}

/** @throws AdminError invalid_argument when this is no JSON object; what it is, is not repeated */
function parseObject(option: string, json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw invalidArgument(option, 'this is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidArgument(option, 'a JSON object is needed');
  }
  return { ...value };
}
