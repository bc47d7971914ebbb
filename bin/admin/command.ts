import { z } from 'zod';
import type { Sql } from '../../db/connection.ts';
import type { ActRecord, StaffAsked } from '../../operations/staff.ts';
import type { Tools } from './tools.ts';

/** One argument of a command: `--name NAME`, or a bare word when it is positional. */
export interface Argument<T, Required extends boolean = boolean> {
  /** What stands for the value in the help: `GROSZE`. */
  placeholder: string;
  about: string;
  schema: z.ZodType<T, string>;
  required: Required;
  /** True for `--name` alone, without a value. */
  flag?: boolean;
}

export type Arguments = Record<string, Argument<unknown>>;

/** The values of a command's arguments; what was not typed is absent. */
export type Values<A extends Arguments> = {
  [K in keyof A as A[K] extends Argument<unknown, true> ? K : never]: z.output<A[K]['schema']>;
} & {
  [K in keyof A as A[K] extends Argument<unknown, true> ? never : K]?: z.output<A[K]['schema']>;
};

/** What a command answers. */
export interface Shown {
  /** Printed; keys in snake_case as in the API. */
  result: Record<string, unknown>;
  /** Of the records in `result.data` only these fields are shown to people; programs get all. */
  columns?: readonly string[];
  /** One sentence more for people; programs do not get it. */
  remark?: string;
}

/** What a command answers that no operation carries out, and what the audit log is to say beyond who, when and which command. */
export interface Outcome extends Shown, ActRecord {
  /** Where one command acted on several things: a record of each, instead of one. */
  records?: readonly ActRecord[];
}

/** Who asks, and of what: an operation of staff but for its input. */
export type Asking = Omit<StaffAsked<never>, 'input'>;

/** What is declared of every command: command line, validation and help follow from this. */
interface Declaration<A extends Arguments> {
  /** Its words: `accounts create`. */
  name: string;
  about: string;
  /** Typed as `--kebab-case`. */
  options: A;
  /** Names of the options that are typed as bare words, in order. */
  positional?: (keyof A & string)[];
}

/** A command that an operation carries out: it reads the words, asks, and shows the answer. */
interface AskingSpec<A extends Arguments> extends Declaration<A> {
  /** The operation writes its own audit record; throws its refusals, or AdminError. */
  ask(asking: Asking, values: Values<A>, tools: Tools): Promise<Shown>;
}

/** A command that reads by itself; its audit record goes by its name. */
interface ReadingSpec<A extends Arguments> extends Declaration<A> {
  /**
   * True for what asks outside the database (an SMSC, Temporal): it runs in no transaction, and its audit
   * record is written after it.
   */
  outside?: boolean;
  /** Runs inside the transaction that its audit record is written in; throws AdminError to refuse. */
  run(sql: Sql, values: Values<A>, tools: Tools): Promise<Outcome>;
}

export type CommandSpec<A extends Arguments> = AskingSpec<A> | ReadingSpec<A>;

/** A command whose argument types no longer matter to its user. */
export type AnyCommand = Declaration<Arguments> &
  (
    | { ask(asking: Asking, values: Record<string, unknown>, tools: Tools): Promise<Shown> }
    | { outside?: boolean; run(sql: Sql, values: Record<string, unknown>, tools: Tools): Promise<Outcome> }
  );

/** Declares a command; `values` of its `ask` or `run` have the types of the schemas. */
export function command<A extends Arguments>(spec: CommandSpec<A>): AnyCommand {
  // Sound because the values handed over come from these very schemas, in `parseValues`.
  return 'ask' in spec
    ? { ...spec, ask: (asking, values, tools) => spec.ask(asking, values as Values<A>, tools) }
    : { ...spec, run: (sql, values, tools) => spec.run(sql, values as Values<A>, tools) };
}

export function required<T>(
  placeholder: string,
  about: string,
  schema: z.ZodType<T, string>,
): Argument<T, true> {
  return { placeholder, about, schema, required: true };
}

export function optional<T>(
  placeholder: string,
  about: string,
  schema: z.ZodType<T, string>,
): Argument<T, false> {
  return { placeholder, about, schema, required: false };
}

/** An option that stands alone: true where it is typed. */
export function flag(about: string): Argument<boolean, false> {
  const schema = z.literal('yes').transform(() => true);
  return { placeholder: '', about, schema, required: false, flag: true };
}

/** `--yes`: without it a command that acts on many things only shows what it would do. */
export const yes = flag('does it; without this it only shows what it would do');

/** As {@link optionName}; a positional argument goes by its placeholder. */
export function typedName(spec: AnyCommand, option: string): string {
  return spec.positional?.includes(option) === true
    ? (spec.options[option]?.placeholder ?? option)
    : optionName(option);
}

/** `creditLimit` → `--credit-limit`. */
export function optionName(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
