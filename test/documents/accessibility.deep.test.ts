import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTypesetter, type Typesetter } from '../../documents/typst.ts';
import { mavenProgram } from '../support/mavenProgram.ts';
import { BUYER, HOSTILE, line, typeset } from './statements.ts';

const VERSION = '1.28.2';
const folder = mkdtempSync(join(tmpdir(), 'goniec-pdf-'));
afterAll(() => rmSync(folder, { recursive: true }));

let script: string;
let typesetter: Typesetter;
beforeAll(async () => {
  script = await mavenProgram({
    title: 'The validator of PDF/UA',
    name: 'verapdf',
    version: VERSION,
    artifacts: [`org.verapdf.apps:greenfield-apps:${VERSION}`],
    start: 'org.verapdf.apps.GreenfieldCliWrapper "$@"',
    command: 'verapdf',
  });
  typesetter = await openTypesetter();
});

/** What veraPDF says of files as PDF/UA-1, by name. */
function validated(files: Record<string, Buffer>): string[] {
  const paths = Object.entries(files).map(([name, bytes]) => {
    const path = join(folder, `${name}.pdf`);
    writeFileSync(path, bytes);
    return path;
  });
  const { stdout } = spawnSync(script, ['-f', 'ua1', '--format', 'text', ...paths], { encoding: 'utf8' });
  return stdout.replaceAll(`${folder}/`, '').trim().split('\n');
}

test('statements are PDF/UA-1, short or long, whatever the names are; an untagged page is not', () => {
  const long = Array.from({ length: 300 }, (_, n) =>
    line({ unitGrosze: n + 1, country: n % 2 ? 'DE' : null }),
  );
  const hostile = HOSTILE.map(([name], n) => {
    const bytes = typeset(typesetter, { facts: { buyer: { ...BUYER, name }, accountName: name } });
    return [`hostile${n}`, bytes] as const;
  });
  const files = {
    usual: typeset(typesetter),
    empty: typeset(typesetter, { facts: { buyer: null }, lines: [], seller: null }),
    long: typeset(typesetter, { lines: long }),
    ...Object.fromEntries(hostile),
  };
  const untagged = NodeCompiler.create().pdf({ mainFileContent: 'Text' }, { pdfTags: false });
  expect(validated({ ...files, untagged })).toEqual([
    ...Object.keys(files).map((name) => `PASS ${name}.pdf ua1`),
    'FAIL untagged.pdf ua1',
  ]);
});
