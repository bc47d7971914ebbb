import type { z } from 'zod';
import type { ProviderKind } from '../../../providers/kind.ts';
import type { KindOption, KindOptions, OptionReading } from '../../../providers/options.ts';
import { providerKinds } from '../../../providers/registry.ts';
import { type Argument, optional, optionName } from '../command.ts';
import type { Tools } from '../tools.ts';
import { oneOf, text, wholeNumber, yesOrNo } from '../values.ts';

/** The settings that a kind of provider has options for. */
export const kindSettings = (kind: ProviderKind): KindOptions => kind.options;
/** The credentials that are no secret. */
export const kindIdentity = (kind: ProviderKind): KindOptions => kind.secret?.options ?? {};

/** The options of all kinds, each with what it is to which kind. */
export function offered(
  optionsOf: (kind: ProviderKind) => KindOptions,
): Record<string, Argument<unknown, false>> {
  const uses = new Map<string, { option: KindOption; abouts: string[] }>();
  for (const kind of providerKinds.all) {
    for (const [name, option] of Object.entries(optionsOf(kind))) {
      const use = uses.get(name) ?? { option, abouts: [] };
      uses.set(name, { ...use, abouts: [...use.abouts, `${kind.name}: ${option.about}`] });
    }
  }
  return Object.fromEntries(
    [...uses].map(([name, { option, abouts }]) => [
      name,
      optional(option.placeholder, abouts.join('; '), schemaOf(option.read)),
    ]),
  );
}

/** What was typed for these options, whichever kind they are of: its own schema judges it. Files are read. */
export async function typedFor(
  optionsOf: (kind: ProviderKind) => KindOptions,
  typed: Record<string, unknown>,
  tools: Tools,
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, { read }] of new Map(
    providerKinds.all.flatMap((kind) => Object.entries(optionsOf(kind))),
  )) {
    const value = typed[name];
    if (value === undefined) continue;
    values[name] =
      read.as === 'file' && typeof value === 'string' ? await tools.read(optionName(name), value) : value;
  }
  return values;
}

function schemaOf(read: OptionReading): z.ZodType<unknown, string> {
  switch (read.as) {
    case 'text':
    case 'file':
      return text;
    case 'yes or no':
      return yesOrNo;
    case 'number':
      return wholeNumber(read.min, read.max, '');
    case 'word':
      return oneOf(...read.words);
  }
}
