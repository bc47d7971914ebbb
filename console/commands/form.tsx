import { z } from 'zod';
import { type AnyCommand, type Argument, FLAG_VALUE, typedName } from '../../commands/command.ts';
import { AdminError, describeError } from '../../commands/errors.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { Fault } from '../../panel/ask.ts';
import { Choice, Field, Select } from '../../panel/parts.tsx';

type Typed = Readonly<Record<string, string>>;
type Named = readonly [name: string, argument: Argument<unknown>];

/** What is asked for to be told first, and agreed to by the second form. */
export const YES = 'yes';

/** The arguments that a form has fields for: nothing is shown in full without a reason. */
function fieldsOf({ options }: AnyCommand): Named[] {
  return Object.entries(options).filter(([name, { reveals }]) => name !== YES && reveals !== true);
}

/** The argument by which a command that reads shows everything in full; undefined: it has none. */
export function revealing({ options }: AnyCommand): string | undefined {
  return Object.keys(options).find((name) => options[name]!.reveals === true);
}

/** What was typed into a command's form; fields left empty are absent. */
export function typedIn(command: AnyCommand, fields: { get(name: string): string | null | undefined }) {
  const typed: Record<string, string> = {};
  for (const [name] of fieldsOf(command)) {
    const text = fields.get(name) ?? '';
    if (text.trim() !== '') typed[name] = text === 'on' ? FLAG_VALUE : text;
  }
  return typed;
}

/** What a form is told about an error. @throws what is no fault of what was typed, and no refusal */
export function faultOf(command: AnyCommand, error: unknown): Fault {
  const { code, message } = describeError(error);
  if (!(error instanceof StaffRefused) && (code === 'internal_error' || code === 'unavailable')) throw error;
  const blamed = error instanceof AdminError ? error.option : null;
  const field = fieldsOf(command).find(([, argument]) => typedName(argument) === blamed);
  return { field: field?.[0] ?? null, text: message };
}

/** The fields of a command, with its own words. */
export function Fields({
  command,
  typed,
  fault,
}: {
  command: AnyCommand;
  typed: Typed;
  fault: Fault | null;
}) {
  return (
    <>
      {fieldsOf(command).map(([name, argument]) => (
        <ArgumentField {...{ name, argument, fault }} typed={typed[name]} />
      ))}
    </>
  );
}

interface ArgumentProps {
  name: string;
  argument: Argument<unknown>;
  typed: string | undefined;
  fault: Fault | null;
}

function ArgumentField({ name, argument, typed, fault }: ArgumentProps) {
  const { flags, about, schema, always } = argument;
  const label = labelOf(argument);
  const given = typed ?? textOf(argument.default);
  if (flags.startsWith('--') && !flags.includes(' '))
    return <Choice {...{ name, label }} hint={about} checked={given === FLAG_VALUE} />;
  const words = wordsOf(flags, schema);
  if (words !== null) {
    const none: [string, string][] = always && argument.default === undefined ? [] : [['', '–']];
    const options: Record<string, string> = Object.fromEntries([
      ...none,
      ...words.map((word): [string, string] => [word, word]),
    ]);
    return <Select {...{ name, label, fault, options }} hint={about} value={given} />;
  }
  return (
    <Field {...{ name, label, fault }} hint={about} value={given} required={always} autoComplete="off" />
  );
}

const ABBREVIATIONS = /\b(?:hlr|id|mms|nip|pln|sms|url)\b/gi;

/** `--credit-limit <GROSZE>` → `Credit limit (GROSZE)`. */
export function labelOf({ flags }: Argument<unknown>): string {
  const [, word = '', value = ''] = /^--([a-z-]+)(?: <([A-Z_,…-]+)(?:\|none)?>)?/.exec(flags) ?? [];
  const spoken = (word === '' ? flags.slice(1, -1) : word).replaceAll(/[-_]/g, ' ').toLowerCase();
  const label = (spoken.charAt(0).toUpperCase() + spoken.slice(1)).replace(ABBREVIATIONS, (word: string) =>
    word.toUpperCase(),
  );
  return ['', 'ID', 'TEXT', 'NAME', 'N', 'KIND', 'STATE', 'ROLE'].includes(value)
    ? label
    : `${label} (${value})`;
}

function wordsOf(flags: string, schema: z.ZodType): string[] | null {
  if (schema instanceof z.ZodEnum) return Object.values(schema.enum as Record<string, string>);
  const [, listed] = /<([a-z_]+(?:\|[a-z_]+)+)>/.exec(flags) ?? [];
  return listed?.split('|') ?? null;
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? FLAG_VALUE : '';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
