import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { knownSurvivors, pureVerdict } from './pureReport.ts';

const CONFIG = 'test/mutation/stryker.config.json';
const REPORT = 'build/mutation/pure.json';
const LEAST_CAUGHT = 0.9;

/** Has Stryker change pure code, and says which changes survived that are not known to. */
async function runPure(): Promise<number> {
  const code = await stryker();
  if (code !== 0) return code;
  const report: unknown = JSON.parse(readFileSync(REPORT, 'utf8'));
  const { caught, survived, unexplained, outdated } = pureVerdict(report, knownSurvivors());
  for (const line of unexplained) console.log(`SURVIVED  ${line}`);
  for (const line of outdated) console.log(`known, and does not survive any more  ${line}`);
  const known = survived - unexplained.length;
  const share = caught / (caught + survived);
  console.log(
    `${caught} caught (${(share * 100).toFixed(1)} %), ${survived} survived, of which ${known} are known`,
  );
  return share >= LEAST_CAUGHT && unexplained.length === 0 ? 0 : 1;
}

function stryker(): Promise<number> {
  const child = spawn(
    process.execPath,
    ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', CONFIG],
    {
      stdio: 'inherit',
    },
  );
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

process.exitCode = await runPure();
