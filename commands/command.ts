import { z } from 'zod';
import type { Database, Sql } from '../db/connection.ts';
import { findAccount } from '../operations/accounts/accounts.ts';
import { type ActRecord, recorded, recordedAfter, type StaffRequest } from '../operations/staff.ts';
import { invalidArgument } from './errors.ts';
import type { Tools } from './tools.ts';

export interface Argument<T, Always extends boolean = boolean> {
  /** As commander has it: `--price <GROSZE>`, `--yes`, or a positional `<KEY_ID>`. */
  flags: string;
  about: string;
  schema: z.ZodType<T, string>;
  /** Required, or with a default. */
  always: Always;
  default?: T;
  /** Whether it shows numbers, addresses or texts in full. */
  reveals?: true;
}

type Arguments = Record<string, Argument<unknown>>;

/** Values of a command's arguments; those neither typed nor with a default are absent. */
export type Values<A extends Arguments> = {
  [K in keyof A as A[K]['always'] extends true ? K : never]: ValueOf<A[K]>;
} & { [K in keyof A as A[K]['always'] extends true ? never : K]?: ValueOf<A[K]> };
type ValueOf<A> = A extends Argument<infer T> ? T : never;

export interface Shown {
  /** Printed by `named` in output.ts. */
  result: object;
  /** Fields of `result.data` printed as text, by default all; `--json` prints all. */
  columns?: readonly string[];
  /** Sentences for people, left out with `--json`; null is none. */
  remarks?: readonly (string | null)[];
}

/** For a bulk command that was not confirmed, see `yes` in values.ts. */
export const NOTHING_DONE = 'Nothing was done. With --yes it is done.';

export function shown(result: object, ...remarks: (string | null)[]): Shown {
  return { result, remarks };
}

/** The request of a staff operation, without its input. */
export type StaffContext = Omit<StaffRequest<never>, 'input'>;

interface Declaration<A extends Arguments> {
  /** `accounts create`. */
  name: string;
  about: string;
  /** By the names of their values; positional ones in this order. */
  options: A;
}

/** A command carried out by an operation, which writes the audit record. Throws the operation's refusals, or AdminError. */
interface ChangingSpec<A extends Arguments> extends Declaration<A> {
  ask(asking: StaffContext, values: Values<A>, tools: Tools): Promise<Shown>;
  /** What it concerns, and whether it is possible: where it acts outside the database, no dry run tells. */
  before?(sql: Sql, values: Values<A>): Promise<Shown>;
}

/** A read-only command, audited in the same transaction under its name and the account in `--account`, which must exist. */
interface ReadingSpec<A extends Arguments> extends Declaration<A> {
  outside?: false;
  run(sql: Sql, values: Values<A>, tools: Tools): Promise<Shown & ActRecord>;
}

/** One that also reads from Temporal, or in transactions of its own; the audit record is written afterwards. */
interface OutsideSpec<A extends Arguments> extends Declaration<A> {
  outside: true;
  run(sql: Database, values: Values<A>, tools: Tools): Promise<Shown & ActRecord>;
}

/** A command without the types of its arguments. */
export type AnyCommand = Declaration<Arguments> &
  (
    | {
        ask(asking: StaffContext, values: Record<string, unknown>, tools: Tools): Promise<Shown>;
        before?(sql: Sql, values: Record<string, unknown>): Promise<Shown>;
      }
    | {
        outside?: false;
        run(sql: Sql, values: Record<string, unknown>, tools: Tools): Promise<Shown & ActRecord>;
      }
    | {
        outside: true;
        run(sql: Database, values: Record<string, unknown>, tools: Tools): Promise<Shown & ActRecord>;
      }
  );

/** Declares a command: parsing, validation and help follow from it. */
export function command<A extends Arguments>(spec: OutsideSpec<A>): AnyCommand;
export function command<A extends Arguments>(spec: ChangingSpec<A> | ReadingSpec<A>): AnyCommand;
export function command(spec: AnyCommand): AnyCommand {
  // Sound because program.ts reads the values by these very schemas.
  return spec;
}

export function required<T>(flags: string, about: string, schema: z.ZodType<T, string>): Argument<T, true> {
  return { flags, about, schema, always: true };
}

export function optional<T>(flags: string, about: string, schema: z.ZodType<T, string>): Argument<T, false> {
  return { flags, about, schema, always: false };
}

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

export function flag(flags: string, about: string): Argument<boolean, true> {
  return { flags, about, schema: z.literal(FLAG_VALUE).transform(() => true), always: true, default: false };
}

/** `--price <GROSZE>` → `--price`, `<KEY_ID>` → `KEY_ID`. */
export function typedName({ flags }: Pick<Argument<unknown>, 'flags'>): string {
  return flags.startsWith('--') ? flags.replace(/ .*/, '') : flags.slice(1, -1);
}

/** The values of a command's arguments by what was typed. @throws AdminError invalid_argument */
export function readArguments(
  { name: command, options }: AnyCommand,
  typed: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, argument] of Object.entries(options)) {
    const text = typed[name];
    if (text !== undefined) values[name] = readValue(argument, text);
    else if ('default' in argument) values[name] = argument.default;
    else if (argument.always) throw invalidArgument(typedName(argument), `is missing (${command})`);
  }
  return values;
}

function readValue(argument: Argument<unknown>, text: string): unknown {
  const read = argument.schema.safeParse(text);
  if (read.success) return read.data;
  throw invalidArgument(typedName(argument), read.error.issues[0]?.message ?? 'is not valid');
}

/** Who asks for a command, and how. */
export type Asker = Pick<StaffContext, 'actor' | 'grounds' | 'dryRun'>;

/** Runs a command, which leaves an audit record unless it is refused, or a dry run. @throws what the command throws */
export async function execute(
  sql: Database,
  asker: Asker,
  command: AnyCommand,
  values: Record<string, unknown>,
  tools: Tools,
): Promise<Shown> {
  const services = { sql, temporal: () => tools.temporal(), secretsKey: () => tools.secretsKey() };
  const asking: StaffContext = { services, ...asker };
  if ('ask' in command) return await command.ask(asking, values, tools);
  const read = async <S extends Sql>(from: S, run: (sql: S) => Promise<Shown & ActRecord>) => {
    const account = typeof values['account'] === 'string' ? values['account'] : undefined;
    if (account !== undefined) await findAccount(from, account);
    const outcome = await run(from);
    return { account, ...outcome, data: outcome };
  };
  const operation =
    command.outside === true
      ? recordedAfter(command.name, () => read(sql, (pool) => command.run(pool, values, tools)))
      : recorded(command.name, (tx) => read(tx, (from) => command.run(from, values, tools)));
  return await operation({ ...asking, input: undefined });
}
