import { z } from 'zod';
import type { AuditDetails } from '../../db/accounts/audit.ts';
import type { Sql } from '../../db/connection.ts';
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

/** What the audit log is to say of one thing that a command acted on. */
export type AuditRecord = Pick<Outcome, 'account' | 'subject' | 'details'>;

/** What a command did: its answer, and what the audit log is to say beyond who, when and which command. */
export interface Outcome {
  /** Printed; keys in snake_case as in the API. */
  result: Record<string, unknown>;
  /** Of the records in `result.data` only these fields are shown to people; programs get all. */
  columns?: readonly string[];
  account?: string;
  subject?: string;
  details?: AuditDetails;
  /** Where one command acted on several things: a record of each, instead of one. */
  records?: readonly AuditRecord[];
  /** One sentence more for people; programs do not get it. */
  remark?: string;
}

/** A command as it is declared: command line, validation, help and audit record all follow from this. */
export interface CommandSpec<A extends Arguments> {
  /** Its words: `accounts create`. */
  name: string;
  about: string;
  /** Typed as `--kebab-case`. */
  options: A;
  /** Names of the options that are typed as bare words, in order. */
  positional?: (keyof A & string)[];
  /**
   * True for what acts outside the database (asks an SMSC, tells a workflow): it runs in no transaction, and its audit
   * record is written after it.
   */
  outside?: boolean;
  /** Runs inside the transaction that its audit record is written in; throws AdminError to refuse. */
  run(sql: Sql, values: Values<A>, tools: Tools): Promise<Outcome>;
}

/** A command whose argument types no longer matter to its user. */
export type AnyCommand = Omit<CommandSpec<Arguments>, 'run'> & {
  run(sql: Sql, values: Record<string, unknown>, tools: Tools): Promise<Outcome>;
};

/** Declares a command; `values` of its `run` have the types of the schemas. */
export function command<A extends Arguments>(spec: CommandSpec<A>): AnyCommand {
  // Sound because the values handed to run come from these very schemas, in `parseValues`.
  return { ...spec, run: (sql, values, tools) => spec.run(sql, values as Values<A>, tools) };
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

/** `--yes`: without it a command that acts on many things only tells what it would do. */
export const yes = flag('does it; without this it is only told what would be done');

/** `creditLimit` → `--credit-limit`; a positional argument goes by its placeholder. */
export function typedName(spec: AnyCommand, option: string): string {
  return spec.positional?.includes(option) === true
    ? (spec.options[option]?.placeholder ?? option)
    : `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
