import { runNode } from './runNode.ts';

/**
 * `npm run test:mutation`: changes the code as faults would and counts the changes that the tests catch. `-- pure` (Stryker, pure code), `-- named` (one
 * named change after the other, with servers; further words choose among them); both unless told.
 */
const [which, ...words] = process.argv.slice(2);

const run = (program: 'pure' | 'named', args: readonly string[] = []): Promise<number> =>
  runNode(['--import', 'tsx', `test/mutation/${program}.ts`, ...args]);

const codes: number[] = [];
if (which !== 'named') codes.push(await run('pure'));
if (which !== 'pure') codes.push(await run('named', words));
process.exitCode = Math.max(...codes);
