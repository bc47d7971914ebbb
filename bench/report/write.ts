import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Options } from '../options.ts';
import type { Results } from '../results.ts';
import { chartsOf } from './charts.ts';
import { benchmarkDocument } from './document.ts';

/** Writes document, charts and raw data. */
export async function writeResults(
  results: Results,
  { out, name }: Pick<Options, 'out' | 'name'>,
): Promise<void> {
  const folder = join(resolve(out), name);
  mkdirSync(folder, { recursive: true });
  const charts = chartsOf(results);
  for (const { name: chart, svg } of charts) writeFileSync(join(folder, `${chart}.svg`), svg);
  await writeFormatted(join(folder, 'results.json'), JSON.stringify(results));
  await writeFormatted(`${folder}.md`, benchmarkDocument(results, charts, name));
  console.error(`written: ${folder}.md and what is in ${folder}`);
}

/** The raw data of an earlier run. */
export function readResults({ out, name }: Pick<Options, 'out' | 'name'>): Results {
  return JSON.parse(readFileSync(join(resolve(out), name, 'results.json'), 'utf8')) as Results;
}

/** As everything in the project is formatted. */
async function writeFormatted(path: string, text: string): Promise<void> {
  const config = await resolveConfig(import.meta.filename);
  writeFileSync(path, await format(text, { ...config, filepath: path }));
}
