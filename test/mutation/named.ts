import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { withSharedFolder } from '../runner/sharedFolder.ts';
import { type Change, changes } from './changes.ts';
import { changed, type Lane, openLane, type Run } from './lane.ts';
import { type Tally, verdict } from './verdict.ts';

const LANES = Number(process.env['MUTATION_LANES'] ?? Math.min(4, availableParallelism()));

/**
 * Makes named changes that a real fault could be in copies of the project, one at a time in each, and runs the tests that should
 * fail for each. `npm run test:mutation -- named credit` takes those that have a word (a regular expression)
 * in their name or that of their tests; `'!any account'` those that do not have it in their name.
 */
async function runNamed(words: readonly string[]): Promise<number> {
  const chosen = changes().filter(({ name, tests }) =>
    words.every((word) =>
      word.startsWith('!')
        ? !new RegExp(word.slice(1)).test(name)
        : [name, ...tests].some((text) => new RegExp(word).test(text)),
    ),
  );
  if (chosen.length === 0) throw new Error('no change has these words');
  await expectApplicable(chosen);
  return await withSharedFolder(async (folder, template) => {
    const lanes = await Promise.all(Array.from({ length: LANES }, () => openLane(folder, template)));
    const { survivors, broken } = await survivorsOf(lanes, chosen);
    if (broken !== null) console.log(`without any change too: ${broken}`);
    return Math.max(verdict(tallyOf(chosen, survivors)), broken === null ? 0 : 1);
  });
}

/** One that fits the code no longer is said before any test is run. */
async function expectApplicable(chosen: readonly Change[]): Promise<void> {
  for (const change of chosen) changed(await readFile(change.file, 'utf8'), change);
}

/** Runs the tests without any change: those that fail then would catch everything. @returns what fails; null where nothing does */
async function failureWithout(lane: Lane, chosen: readonly Change[]): Promise<string | null> {
  const tests = [...new Set(chosen.flatMap((change) => change.tests))];
  const only = chosen.flatMap((change) => change.only ?? []);
  const { green, failed } = await lane.run({
    tests,
    ...(only.length < chosen.length ? {} : { only: [...new Set(only)].join('|') }),
  });
  return green ? failed : (failed ?? 'the tests did not run');
}

/** Tries each change once, in whichever copy is free. @returns those that no test saw */
async function survivorsOf(
  lanes: readonly Lane[],
  chosen: readonly Change[],
): Promise<{ survivors: Set<Change>; broken: string | null }> {
  const survivors = new Set<Change>();
  const left = chosen.values();
  let broken: string | null = null;
  await Promise.all(
    lanes.map(async (lane, index) => {
      if (index === 0) broken = (await failureWithout(lane, chosen)) ?? broken;
      for (const change of left) {
        const began = Date.now();
        const run = await lane.runWith(change);
        if (run.green) {
          survivors.add(change);
          broken ??= run.failed;
        }
        console.log(lineOf(change, run, Math.round((Date.now() - began) / 1000)));
      }
    }),
  );
  return { survivors, broken };
}

function lineOf({ name }: Change, { green, failed }: Run, seconds: number): string {
  return green
    ? `SURVIVED  ${name} (${seconds} s)${failed === null ? '' : `: ${failed}`}`
    : `caught  ${name} (${seconds} s): ${failed ?? 'nothing could run'}`;
}

function tallyOf(chosen: readonly Change[], survivors: ReadonlySet<Change>): Tally {
  const known = [...survivors].filter(({ survives }) => survives !== undefined);
  for (const { name, survives } of known) console.log(`known  ${name}: ${survives}`);
  return { caught: chosen.length - survivors.size, survived: survivors.size, known: known.length };
}

process.exitCode = await runNamed(process.argv.slice(2));
