import { parseArgs } from 'node:util';

/** The contenders, as `--contenders` names them; `product100` sends requests of 100. */
const CONTENDERS = ['ceiling', 'plain', 'product', 'product100'] as const;
export type ContenderKey = (typeof CONTENDERS)[number];

export const PARTS = ['compare', 'accept', 'flood', 'apis'] as const;
export type Part = (typeof PARTS)[number];

/** What a run measures, and how much of it. */
export interface Options {
  parts: Part[];
  contenders: ContenderKey[];
  quick: boolean;
  messages: number;
  inFlight: number;
  rounds: number;
  /** Messages of the flooding account. */
  flood: number;
  /** The file of the results, without its ending. */
  out: string;
  profiles: string | null;
  /** A server that is already there, and which of its processes to look at. */
  temporal: { address: string; pids: Record<string, number> } | null;
}

/** Sizes of a whole run, and of one that only shows that everything works. */
const SIZES = {
  whole: { messages: 1000, inFlight: 32, rounds: 3, flood: 5000 },
  quick: { messages: 200, inFlight: 8, rounds: 1, flood: 500 },
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
      ...{ flood: { type: 'string' }, out: { type: 'string' }, name: { type: 'string' } },
      ...{ profile: { type: 'string' }, temporal: { type: 'string' } },
      pid: { type: 'string', multiple: true },
    },
  });
  const { only, contenders, quick = false, temporal } = values;
  const size = quick ? SIZES.quick : SIZES.whole;
  // The document of the project is of a whole run.
  const whole = !quick && only === undefined && contenders === undefined;
  return {
    parts: chosen('--only', only, PARTS),
    contenders: chosen('--contenders', contenders, CONTENDERS),
    quick,
    messages: count('--messages', values.messages, size.messages),
    inFlight: count('--in-flight', values['in-flight'], size.inFlight),
    rounds: count('--rounds', values.rounds, size.rounds),
    flood: count('--flood', values.flood, size.flood),
    out: `${values.out ?? (whole ? 'docs' : 'build/bench')}/${nameOf(values.name)}`,
    profiles: values.profile ?? null,
    temporal:
      temporal === undefined
        ? null
        : { address: temporal, pids: Object.fromEntries((values.pid ?? []).map(pidOf)) },
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
