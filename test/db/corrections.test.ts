import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { testNames } from '../docs/testNames.ts';
import { applyPatches, copyOfProject } from '../support/projectCopy.ts';

const PATCHES = 'patches';
const CONNECTION = 'node_modules/postgres/src/connection.js';
const FILES = [CONNECTION, 'node_modules/postgres/src/index.js', 'node_modules/postgres/types/index.d.ts'];

const packageFile = z.object({
  version: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
});
const readPackage = (file: string) => packageFile.parse(JSON.parse(readFileSync(file, 'utf8')));

const patchNames = readdirSync(PATCHES).filter((name) => name.endsWith('.patch'));
const patch = readFileSync(join(PATCHES, 'postgres+3.4.9.patch'), 'utf8');
const numbers = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, number]) => Number(number)))].sort((a, b) => a - b);

test('a corrected package is pinned to the release that its corrections are for', () => {
  const pinned = readPackage('package.json').dependencies ?? {};
  expect(patchNames).not.toEqual([]);
  for (const name of patchNames) {
    const [, of, version] = /^(.+)\+([^+]+)\.patch$/.exec(name) ?? [];
    expect(pinned[of!], name).toBe(version);
    expect(readPackage(join('node_modules', of!, 'package.json')).version, name).toBe(version);
  }
});

test('every correction is in the installed driver, and taken away it can be applied again', async () => {
  const folder = await copyOfProject();
  const reversed = await applyPatches(folder, '--reverse');
  expect(reversed.code, reversed.stderr).toBe(0);
  for (const file of FILES) {
    const text = await readFile(join(folder, file), 'utf8');
    expect(text).not.toMatch(/Correction \d|silence|poolState|corrections/);
  }
  const applied = await applyPatches(folder);
  expect(applied.code, applied.stderr).toBe(0);
  for (const file of FILES) {
    expect(await readFile(join(folder, file), 'utf8')).toBe(await readFile(file, 'utf8'));
  }
});

test('the list of corrections tells of each one, where it was reported and which tests show it', () => {
  const list = readFileSync(join(PATCHES, 'README.md'), 'utf8');
  const sections = list.split(/^## /m).slice(1);
  expect(numbers(list, /^## (\d+)\./gm)).toEqual(numbers(patch, /^\+.*Correction (\d+)/gm));
  for (const section of sections) {
    expect(section).toMatch(/https:\/\/github\.com\/porsager\/postgres\/(issues|pull)\/\d+/);
    const shown = [...section.matchAll(/`(test\/\S+\.ts) › ([^`]+)`/g)];
    expect(shown, section).not.toEqual([]);
    for (const [, file, name] of shown) {
      expect(existsSync(file!), file).toBe(true);
      expect([...testNames(file!)]).toContain(name);
    }
  }
});
