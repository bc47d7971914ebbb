import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { charactersOf } from './characters.ts';

const FACES = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'];
const STATEMENT = new URL('statement.typ', import.meta.url);

/** A typesetter; it holds some 35 MB until it is collected. */
export interface Typesetter {
  /** Typesets a statement as PDF/UA-1. The same data make the same bytes. @throws Error naming what Typst refuses */
  statement: (data: object) => Buffer;
  /** A text as the faces can show it, on one line: `�` in place of other characters. */
  printable: (text: string) => string;
}

/** Loads Typst and its faces, in some 200 ms. */
export async function openTypesetter(): Promise<Typesetter> {
  // Loaded by whoever typesets alone: it is a native library.
  const { NodeCompiler: Compiler } = await import('@myriaddreamin/typst-ts-node-compiler');
  const require = createRequire(import.meta.url);
  const fontBlobs = FACES.map((name) => readFileSync(require.resolve(`dejavu-fonts-ttf/ttf/${name}`)));
  const compiler: NodeCompiler = Compiler.create({ fontArgs: [{ fontBlobs }] });
  const source = readFileSync(STATEMENT, 'utf8');
  const shown = charactersOf(fontBlobs[0]!);
  return {
    statement(data) {
      const inputs = { data: JSON.stringify(data) };
      try {
        return compiler.pdf({ mainFileContent: source, inputs }, { pdfStandard: 'ua-1' });
      } finally {
        compiler.evictCache(0);
      }
    },
    printable(text) {
      const clean = text
        .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
        .replace(/\s+/gu, ' ')
        .normalize('NFC');
      return clean.replace(/./gsu, (character) => (shown(character.codePointAt(0)!) ? character : '\uFFFD'));
    },
  };
}
