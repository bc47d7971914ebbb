import { z } from 'zod';
import type { Database, Sql } from '../../db/connection.ts';
import { findAccount } from '../../operations/accounts/accounts.ts';
import { type ActRecord, recorded, recordedAfter, type StaffRequest } from '../../operations/staff.ts';
import type { Tools } from './tools.ts';

/** One argument of a command. */
export interface Argument<T, Always extends boolean = boolean> {
  /** As commander has it: `--price <GROSZE>`, `--yes` alone, or a word in its place, `<KEY_ID>`. */
  flags: string;
  about: string;
  /** Reads the value. */
  schema: z.ZodType<T, string>;
  /** Whether it always has a value: it must be typed, or has a default. */
  always: Always;
  /** Its value when it is not typed. */
  default?: T;
}

type Arguments = Record<string, Argument<unknown>>;

/** The values of a command's arguments; what was not typed and has no default is absent. */
export type Values<A extends Arguments> = {
  [K in keyof A as A[K]['always'] extends true ? K : never]: ValueOf<A[K]>;
} & {
  [K in keyof A as A[K]['always'] extends true ? never : K]?: ValueOf<A[K]>;
};
type ValueOf<A> = A extends Argument<infer T> ? T : never;

/** What a command answers. */
export interface Shown {
  /** Printed, see `named` in output.ts. */
  result: object;
  /** Only these fields of the records in `result.data` are printed for people; all by default. With `--json` always all. */
  columns?: readonly string[];
  /** Sentences for people, left out with `--json`; null is none. */
  remarks?: readonly (string | null)[];
}

/** Said by a command that acts on many things and was not confirmed, see `yes` in values.ts. */
export const NOTHING_DONE = 'Nothing was done. With --yes it is done.';

/** An answer with its remarks. */
export function shown(result: object, ...remarks: (string | null)[]): Shown {
  return { result, remarks };
}

/** Whose operation it is: the input of an operation of staff but for what was typed. */
type Asking = Omit<StaffRequest<never>, 'input'>;

interface Declaration<A extends Arguments> {
  /** Its words: `accounts create`. */
  name: string;
  about: string;
  /** By the names of their values; words in this order. */
  options: A;
}

/** A command that an operation carries out, which writes the audit record. It throws the operation's refusals, or AdminError. */
interface ChangingSpec<A extends Arguments> extends Declaration<A> {
  ask(asking: Asking, values: Values<A>, tools: Tools): Promise<Shown>;
}

/**
 * A command that only reads. Its audit record is written in the same transaction, under its name and on the account in `--account`,
 * which has to exist. It throws AdminError to refuse.
 */
interface ReadingSpec<A extends Arguments> extends Declaration<A> {
  /** True if it also reads from Temporal: it runs in no transaction, and the audit record is written after it. */
  outside?: boolean;
  run(sql: Sql, values: Values<A>, tools: Tools): Promise<Shown & ActRecord>;
}

/** A command whose argument types no longer matter to its user. */
export type AnyCommand = Declaration<Arguments> &
  (
    | { ask(asking: Asking, values: Record<string, unknown>, tools: Tools): Promise<Shown> }
    | {
        outside?: boolean;
        run(sql: Sql, values: Record<string, unknown>, tools: Tools): Promise<Shown & ActRecord>;
      }
  );

/** Declares a command: command line, validation and help follow from this. */
export function command<A extends Arguments>(spec: ChangingSpec<A> | ReadingSpec<A>): AnyCommand {
  // Sound because the values come from these very schemas, in program.ts.
  return spec;
}

/** An option or a word that must be typed. */
export function required<T>(flags: string, about: string, schema: z.ZodType<T, string>): Argument<T, true> {
  return { flags, about, schema, always: true };
}

/** An option that may be left out. */
export function optional<T>(flags: string, about: string, schema: z.ZodType<T, string>): Argument<T, false> {
  return { flags, about, schema, always: false };
}

/** An option with a default. */
export function defaulted<T>(
  flags: string,
  about: string,
  schema: z.ZodType<T, string>,
  value: NoInfer<T>,
): Argument<T, true> {
  return { flags, about, schema, always: true, default: value };
}

/** What commander reads as the value of a flag. */
export const FLAG_VALUE = 'yes';

/** An option alone, `--yes`: true if it is typed. */
export function flag(flags: string, about: string): Argument<boolean, true> {
  return { flags, about, schema: z.literal(FLAG_VALUE).transform(() => true), always: true, default: false };
}

/** Carries out a command; it leaves its audit record, unless it is refused. @throws what the command throws */
export async function execute(
  sql: Database,
  actor: string,
  command: AnyCommand,
  values: Record<string, unknown>,
  tools: Tools,
): Promise<Shown> {
  const services = { sql, temporal: () => tools.temporal(), secretsKey: () => tools.secretsKey() };
  const asking: Asking = { services, actor };
  if ('ask' in command) return await command.ask(asking, values, tools);
  const read = async (from: Sql) => {
    const account = typeof values['account'] === 'string' ? values['account'] : undefined;
    if (account !== undefined) await findAccount(from, account);
    const outcome = await command.run(from, values, tools);
    return { account, ...outcome, data: outcome };
  };
  const operation =
    command.outside === true
      ? recordedAfter(command.name, (from) => read(from.sql))
      : recorded(command.name, read);
  return await operation({ ...asking, input: undefined });
}
