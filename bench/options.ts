import { parseArgs } from 'node:util';
import type { GivenTemporal } from './servers.ts';

/** The contenders, as `--contenders` names them; `product100` sends requests of 100. */
export const CONTENDERS = ['ceiling', 'plain', 'product', 'product100', 'pgboss', 'bullmq'] as const;
export type ContenderKey = (typeof CONTENDERS)[number];

export const PARTS = ['compare', 'accept', 'growth', 'window', 'flood'] as const;
export type Part = (typeof PARTS)[number];

/** What a run measures, and how much of it. */
export interface Options {
  parts: Part[];
  contenders: ContenderKey[];
  quick: boolean;
  messages: number;
  inFlight: number;
  rounds: number;
  /** How many messages sleep at each step of the growth, rising. */
  asleep: number[];
  /** Messages whose window opens at once. */
  window: number;
  /** Messages of the flooding account. */
  flood: number;
  /** Where the document and its folder go. */
  out: string;
  /** What they are called. */
  name: string;
  profiles: string | null;
  /** Only writes the document anew, from the raw data that are there. */
  redraw: boolean;
  /** Leaves what is there of parts that are not measured now. */
  add: boolean;
  temporal: GivenTemporal | null;
}

/** Sizes of a whole run, and of one that only shows that everything works. */
const SIZES = {
  whole: {
    messages: 1000,
    inFlight: 32,
    rounds: 3,
    asleep: '1000,10000,100000',
    window: 10_000,
    flood: 5000,
  },
  quick: { messages: 200, inFlight: 8, rounds: 1, asleep: '500,1000', window: 500, flood: 500 },
};

/**
 * Reads the command line of `npm run bench`.
 * @throws Error that names what is wrong
 */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      ...{ only: { type: 'string' }, contenders: { type: 'string' }, quick: { type: 'boolean' } },
      ...{ messages: { type: 'string' }, 'in-flight': { type: 'string' }, rounds: { type: 'string' } },
      ...{ asleep: { type: 'string' }, window: { type: 'string' }, flood: { type: 'string' } },
      ...{ out: { type: 'string' }, profile: { type: 'string' }, temporal: { type: 'string' } },
      ...{ pid: { type: 'string', multiple: true }, name: { type: 'string' } },
      ...{ redraw: { type: 'boolean' }, add: { type: 'boolean' } },
    },
  });
  const quick = values.quick ?? false;
  const size = quick ? SIZES.quick : SIZES.whole;
  return {
    parts: chosen('--only', values.only, PARTS),
    contenders: chosen('--contenders', values.contenders, CONTENDERS),
    quick,
    messages: count('--messages', values.messages, size.messages),
    inFlight: count('--in-flight', values['in-flight'], size.inFlight),
    rounds: count('--rounds', values.rounds, size.rounds),
    asleep: (values.asleep ?? size.asleep).split(',').map((step) => count('--asleep', step, 0)),
    window: count('--window', values.window, size.window),
    flood: count('--flood', values.flood, size.flood),
    // The document of the project is of a whole run.
    out:
      values.out ??
      (quick || values.only !== undefined || values.contenders !== undefined ? 'build/bench' : 'docs'),
    name: nameOf(values.name),
    profiles: values.profile ?? null,
    redraw: values.redraw ?? false,
    add: values.add ?? false,
    temporal:
      values.temporal === undefined
        ? null
        : { address: values.temporal, pids: Object.fromEntries((values.pid ?? []).map(pidOf)) },
  };
}

function chosen<T extends string>(option: string, given: string | undefined, all: readonly T[]): T[] {
  if (given === undefined) return [...all];
  const names = given.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !all.includes(name as T));
  if (unknown.length > 0) {
    throw new Error(`${option}: ${unknown.join(', ')} unknown; there are ${all.join(', ')}`);
  }
  return all.filter((name) => names.includes(name));
}

function count(option: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  if (!/^[1-9]\d{0,7}$/.test(given.trim())) throw new Error(`${option}: ${given} is not a count`);
  return Number(given);
}

function nameOf(given: string | undefined): string {
  if (given === undefined) return 'benchmarks';
  if (!/^[a-z0-9-]{1,40}$/.test(given)) throw new Error(`--name: ${given}: only a-z, 0-9 and hyphens`);
  return `benchmarks-${given}`;
}

function pidOf(text: string): [string, number] {
  const [, name, pid] = /^([a-z0-9-]+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined) throw new Error(`--pid: ${text} is not name=number`);
  return [name, Number(pid)];
}
