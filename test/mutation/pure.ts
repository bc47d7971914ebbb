import { readFileSync } from 'node:fs';
import { knownSurvivors, pureOutcome } from './pureReport.ts';
import { runNode } from './runNode.ts';
import { verdict } from './verdict.ts';

const STRYKER = 'node_modules/@stryker-mutator/core/bin/stryker.js';
const CONFIG = 'test/mutation/stryker.config.json';
const REPORT = 'build/mutation/pure.json';

/** Has Stryker change pure code, and says which changes survived that are not known to. */
async function runPure(): Promise<number> {
  const code = await runNode([STRYKER, 'run', CONFIG]);
  if (code !== 0) return code;
  const report: unknown = JSON.parse(readFileSync(REPORT, 'utf8'));
  const { caught, survived, unexplained, outdated } = pureOutcome(report, knownSurvivors());
  for (const line of unexplained) console.log(`SURVIVED  ${line}`);
  for (const line of outdated) console.log(`known, and does not survive any more  ${line}`);
  return verdict({ caught, survived, known: survived - unexplained.length });
}

process.exitCode = await runPure();
