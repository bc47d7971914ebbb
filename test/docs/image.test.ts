import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

test('the image of docker-compose has the version of package.json unless another is named', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(read('docker-compose.yml')).toContain(`image: goniec:\${GONIEC_VERSION:-${version}}\n`);
});

test('the image has every file that its programs import, and nothing that is not named', () => {
  const lines = read('.dockerignore').split('\n');
  expect(lines.find((line) => !line.startsWith('#'))).toBe('*');
  const kept = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  expect(kept).toEqual(
    expect.arrayContaining(['package.json', 'package-lock.json', 'tsconfig.json', 'patches']),
  );
  const isKept = (path: string): boolean => kept.some((name) => path === name || path.startsWith(`${name}/`));
  const files = kept
    .filter((name) => statSync(join(ROOT, name)).isDirectory())
    .flatMap((name) =>
      readdirSync(join(ROOT, name), { recursive: true }).map((file) => join(name, String(file))),
    )
    .filter((file) => /\.tsx?$/.test(file));
  expect(files).toContain('bin/api.ts');
  const missing = files.flatMap((file) =>
    [...read(file).matchAll(/(?:from|import|import\() ?'(\.[^']+)'/g)]
      .map(([, to = '']) => relative(ROOT, join(ROOT, dirname(file), to)))
      .filter((path) => !isKept(path))
      .map((path) => `${file}: ${path}`),
  );
  expect(missing).toEqual([]);
});
