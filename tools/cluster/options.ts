import { Command, InvalidArgumentError, Option } from 'commander';

/** The options of `npm run cluster --`. */
export type ClusterOptions = {
  /** Temporal alone, with the database and the balancer that it needs. */
  only?: 'temporal';
  servers: number;
  workers: number;
  apis: number;
  shards: number;
  restart: boolean;
};

// Servers can be added until each has few shards; of one shard all workflows wait for one another's writes. 512 is what
// Temporal's own charts begin with, for clusters that grow; two servers on a machine need less.
const SHARDS = 128;

const count = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
  return value;
};

/** Reads the command line; ends the process with a sentence when it is wrong, and after `--help`. */
export function readOptions(argv: readonly string[] = process.argv.slice(2)): ClusterOptions {
  const program = new Command('npm run cluster --')
    .description(
      'Runs the whole service on this machine as a real installation has it: PostgreSQL, several Temporal servers on it behind one address, several workers and APIs.',
    )
    .addOption(
      new Option('--only <part>', 'PostgreSQL, Temporal and its balancer alone').choices(['temporal']),
    )
    .option('--servers <count>', 'Temporal server processes', count(1, 8), 2)
    .option('--workers <count>', 'worker processes', count(0, 16), 2)
    .option('--apis <count>', 'API processes', count(0, 16), 2)
    .option(
      '--shards <count>',
      'parts of the history that servers share; fixed by the first start',
      count(1, 16_384),
      SHARDS,
    )
    .option('--no-restart', 'leave processes that end where they are')
    .parse([...argv], { from: 'user' });
  return program.opts<ClusterOptions>();
}
