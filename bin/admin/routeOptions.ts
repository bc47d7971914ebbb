import type { z } from 'zod';
import type { GivenCredentials } from '../../operations/routes/credentials.ts';
import type { KindOptions, OptionReading, ProviderKind } from '../../providers/kind.ts';
import { providerKinds } from '../../providers/registry.ts';
import { type Argument, optional } from './command.ts';
import { invalidArgument } from './errors.ts';
import type { Tools } from './tools.ts';
import { json, oneOf, text, wholeNumber, yesOrNo } from './values.ts';

/** What was typed, by option. */
type Typed = Readonly<Record<string, unknown>>;

/** The settings that a kind of provider has options for. */
const settingsOf = (kind: ProviderKind): KindOptions => kind.options;
/** The credentials that are no secret. */
const identityOf = (kind: ProviderKind): KindOptions => kind.secret?.options ?? {};

/** The settings that nearly every route needs, as options of their own; `--settings` takes all there are. */
export const settingOptions = {
  settings: optional('--settings <JSON|FILE|->', 'all settings as one JSON object; null: the default', text),
  ...optionsOf(settingsOf),
};

/** What the secret is called, by kind. */
const SECRETS = new Intl.ListFormat('en', { type: 'disjunction' }).format(
  providerKinds.all.flatMap(({ name, secret }) => (secret === null ? [] : [`${secret.bare} (${name})`])),
);

/** Credentials as options; never with the secret itself on the command line. */
export const credentialOptions = {
  credentials: optional(
    '--credentials <FILE|-|env:NAME>',
    `where the ${SECRETS} is read from: alone, or with the rest as JSON`,
    text,
  ),
  ...optionsOf(identityOf),
};

/** The options of all kinds, each with what it is to which kind. */
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

/** `systemId` → `--system-id`. */
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

/** The settings that are typed, or in the file that is. @throws AdminError invalid_argument */
export async function readSettings(typed: Typed, tools: Tools): Promise<Record<string, unknown>> {
  const { settings } = typed;
  const whole = typeof settings === 'string' ? await readObject(settings, tools) : {};
  return { ...whole, ...(await readOptions(settingsOf, typed, tools)) };
}

/**
 * The credentials in the file that is typed, a JSON object or the secret alone, and what is typed beside it.
 * @throws AdminError invalid_argument, with nothing of them
 */
export async function readCredentials(typed: Typed, tools: Tools): Promise<GivenCredentials> {
  const fields = await readOptions(identityOf, typed, tools);
  if (typeof typed['credentials'] !== 'string') return { fields };
  const content = (await tools.read('--credentials', typed['credentials'])).trim();
  return { secret: content.startsWith('{') ? parseObject('--credentials', content) : content, fields };
}

/** What was typed for these options, whichever kind they are of: its own schema judges it. */
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

// Written out on the command line it begins like an object; no file's name does.
async function readObject(source: string, tools: Tools): Promise<Record<string, unknown>> {
  const json = source.trimStart().startsWith('{') ? source : await tools.read('--settings', source);
  return parseObject('--settings', json);
}

/** @throws AdminError invalid_argument when this is no JSON object; what it is, is not repeated */
function parseObject(option: string, text: string): Record<string, unknown> {
  const { data } = json.safeParse(text);
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { ...data };
  throw invalidArgument(option, 'this is not JSON of one object');
}
