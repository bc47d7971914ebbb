import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changes } from './changes.ts';
import { knownSurvivors } from './pureReport.ts';

const all = changes();

test.each(all.map((change) => [change.name, change] as const))(
  '%s: the code has what it changes',
  (_, change) => {
    const { file, from, to, at, tests } = change;
    const times = readFileSync(file, 'utf8').split(from).length - 1;
    if (at === undefined) expect(times).toBe(1);
    else expect(times).toBeGreaterThanOrEqual(at);
    expect(to).not.toBe(from);
    for (const path of tests) expect(() => readFileSync(path)).not.toThrow();
  },
);

test('no two of them have one name, or are one change', () => {
  const made = all.map(({ file, from, to, at }) => JSON.stringify([file, from, to, at]));
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(new Set(made).size).toBe(all.length);
});

const MIGRATIONS = 'db/migrations';
const ofMigrations = all.filter(({ file }) => file.startsWith(MIGRATIONS));

test.each(ofMigrations.map((change) => [change.name, change] as const))(
  '%s: no later migration makes that function anew',
  (_, { file, from }) => {
    const before = readFileSync(file, 'utf8').split(from)[0]!;
    const name = before.slice(before.lastIndexOf('\n\n')).match(/function (\w+)\(/)?.[1];
    const later = readdirSync(MIGRATIONS).filter((other) => other.includes('.do.') && other > basename(file));
    const again = later.filter((other) =>
      readFileSync(join(MIGRATIONS, other), 'utf8').includes(`create or replace function ${name}(`),
    );
    expect(name === undefined ? [] : again).toEqual([]);
  },
);

describe('a survivor of pure code', () => {
  const survivors = Object.entries(knownSurvivors()).flatMap(([file, known]) =>
    known.map((survivor) => ({ file, ...survivor })),
  );

  test.each(survivors)('is of code that is there, and says why it is one: $file: $line', (survivor) => {
    const { file, line, from, to, why } = survivor;
    const source = readFileSync(file, 'utf8');
    expect(source.split('\n').map((one) => one.trim())).toContain(line);
    expect(source).toContain(from);
    expect(to).not.toBe(from);
    expect(why).not.toBe('');
  });
});
