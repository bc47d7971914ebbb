import type { z } from 'zod';
import type { GivenCredentials } from '../operations/routes/credentials.ts';
import type { KindOptions, OptionReading, ProviderKind } from '../providers/kind.ts';
import { providerKinds } from '../providers/registry.ts';
import { type Argument, optional } from './command.ts';
import { invalidArgument } from './errors.ts';
import type { Tools } from './tools.ts';
import { json, oneOf, text, wholeNumber, yesOrNo } from './values.ts';

type Typed = Readonly<Record<string, unknown>>;

const settingsOf = (kind: ProviderKind): KindOptions => kind.options;
// Credentials that are not secret.
const identityOf = (kind: ProviderKind): KindOptions => kind.secret?.options ?? {};

/** Options for the settings that nearly every route needs; `--settings` accepts all. */
export const settingOptions = {
  settings: optional('--settings <JSON|FILE|->', 'all settings as one JSON object; null: the default', text),
  ...optionsOf(settingsOf),
};

const SECRETS = new Intl.ListFormat('en', { type: 'disjunction' }).format(
  providerKinds.all.flatMap(({ name, secret }) => (secret === null ? [] : [`${secret.bare} (${name})`])),
);

/** Credentials as options; never the secret itself on the command line. */
export const credentialOptions = {
  credentials: optional(
    '--credentials <FILE|-|env:NAME>',
    `where the ${SECRETS} is read from: alone, or with the rest as JSON`,
    text,
  ),
  ...optionsOf(identityOf),
};

// One option may have a meaning for several kinds: `about` lists them.
function optionsOf(of: (kind: ProviderKind) => KindOptions): Record<string, Argument<unknown, false>> {
  const options: Record<string, Argument<unknown, false>> = {};
  for (const kind of providerKinds.all) {
    for (const [name, { placeholder, about, read }] of Object.entries(of(kind))) {
      const others = options[name] === undefined ? '' : `${options[name].about}; `;
      options[name] = optional(
        `${optionName(name)} <${placeholder}>`,
        `${others}${kind.name}: ${about}`,
        schemaOf(read),
      );
    }
  }
  return options;
}

// `systemId` → `--system-id`.
function optionName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function schemaOf(read: OptionReading): z.ZodType<unknown, string> {
  switch (read.as) {
    case 'text':
    case 'file':
      return text;
    case 'yes or no':
      return yesOrNo;
    case 'number':
      return wholeNumber(read.min, read.max);
    case 'word':
      return oneOf(...read.words);
  }
}

/** Settings as typed, and from `--settings`. @throws AdminError invalid_argument */
export async function readSettings(typed: Typed, tools: Tools): Promise<Record<string, unknown>> {
  const { settings } = typed;
  const whole = typeof settings === 'string' ? await readObject(settings, tools) : {};
  return { ...whole, ...(await readOptions(settingsOf, typed, tools)) };
}

/** Credentials as typed, and from the file: JSON or the bare secret. @throws AdminError invalid_argument, without quoting them */
export async function readCredentials(typed: Typed, tools: Tools): Promise<GivenCredentials> {
  const fields = await readOptions(identityOf, typed, tools);
  if (typeof typed['credentials'] !== 'string') return { fields };
  const content = (await tools.read('--credentials', typed['credentials'])).trim();
  return { secret: content.startsWith('{') ? parseObject('--credentials', content) : content, fields };
}

// Options of any kind: its own schema validates them.
async function readOptions(
  of: (kind: ProviderKind) => KindOptions,
  typed: Typed,
  tools: Tools,
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, { read }] of providerKinds.all.flatMap((kind) => Object.entries(of(kind)))) {
    const value = typed[name];
    if (value === undefined || name in values) continue;
    const isFile = read.as === 'file' && typeof value === 'string';
    values[name] = isFile ? await tools.read(optionName(name), value) : value;
  }
  return values;
}

// Inline JSON begins with a brace; no file name does.
async function readObject(source: string, tools: Tools): Promise<Record<string, unknown>> {
  const json = source.trimStart().startsWith('{') ? source : await tools.read('--settings', source);
  return parseObject('--settings', json);
}

// The error does not quote the text.
function parseObject(option: string, text: string): Record<string, unknown> {
  const { data } = json.safeParse(text);
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { ...data };
  throw invalidArgument(option, 'this is not JSON of one object');
}
