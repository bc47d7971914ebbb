import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A change that Stryker made and no pure test caught, and why it need not be. */
export interface KnownSurvivor extends Mutant {
  why: string;
}

/** A change by what it does, not by its place: code before it may grow. */
interface Mutant {
  /** The line on which it begins, without its indentation. */
  line: string;
  from: string;
  to: string;
}

type ByFile<T> = Readonly<Record<string, readonly T[]>>;

const position = z.object({ line: z.number(), column: z.number() });
const strykerReport = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          status: z.string(),
          replacement: z.string(),
          location: z.object({ start: position, end: position }),
        }),
      ),
    }),
  ),
});
type StrykerReport = z.infer<typeof strykerReport>;
type StrykerFile = StrykerReport['files'][string];

const KNOWN_SURVIVORS = new URL('pureSurvivors.json', import.meta.url);
const CAUGHT = ['Killed', 'Timeout'];
const NOT_CAUGHT = ['Survived', 'NoCoverage'];

/** What a run of Stryker comes to. */
export interface PureOutcome {
  caught: number;
  survived: number;
  /** Survivors of which nobody has said why, as lines to print. */
  unexplained: string[];
  /** Known survivors that are caught now, or are no more, as lines to print. */
  outdated: string[];
}

/** The survivors of pure code that are known, by file. */
export function knownSurvivors(): ByFile<KnownSurvivor> {
  return JSON.parse(readFileSync(KNOWN_SURVIVORS, 'utf8')) as ByFile<KnownSurvivor>;
}

/** Compares Stryker's JSON report with the survivors that are known. */
export function pureOutcome(report: unknown, known: ByFile<Mutant>): PureOutcome {
  const { files } = strykerReport.parse(report);
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const survivors = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => NOT_CAUGHT.includes(status))
      .map((mutant) => lineOf(file, changeOf(source, mutant))),
  );
  const listed = Object.entries(known).flatMap(([file, mutants]) =>
    mutants.map((mutant) => lineOf(file, mutant)),
  );
  return {
    caught: statuses.filter((status) => CAUGHT.includes(status)).length,
    survived: survivors.length,
    unexplained: without(survivors, listed),
    outdated: without(listed, survivors),
  };
}

function changeOf(
  source: string,
  { location: { start, end }, replacement }: StrykerFile['mutants'][number],
): Mutant {
  const lines = source.split('\n');
  const offset = ({ line, column }: { line: number; column: number }): number =>
    lines.slice(0, line - 1).reduce((all, { length }) => all + length + 1, 0) + column - 1;
  return {
    line: lines[start.line - 1]!.trim(),
    from: source.slice(offset(start), offset(end)),
    to: replacement,
  };
}

function lineOf(file: string, { line, from, to }: Mutant): string {
  return `${file}: ${line}\n  ${from}  →  ${to}`;
}

/** What is more often among some than among others: one line may have the same change twice. */
function without(some: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return some.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
