import { spawn } from 'node:child_process';

/**
 * `npm run test:mutation`: changes the code as faults would and counts the changes that the tests catch. `-- pure` (Stryker, pure code), `-- named` (one
 * named change after the other, with servers; further words choose among them); both unless told.
 */
const [which, ...words] = process.argv.slice(2);

function run(program: 'pure' | 'named', args: readonly string[] = []): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', `test/mutation/${program}.ts`, ...args], {
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

const codes: number[] = [];
if (which !== 'named') codes.push(await run('pure'));
if (which !== 'pure') codes.push(await run('named', words));
process.exitCode = Math.max(...codes);
