import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const ROOT = new URL('../', import.meta.url);
const CODE = new URL('build/workflows.js', ROOT);
const FINGERPRINT = new URL('build/workflows.sha256', ROOT);
const ENTRY = fileURLToPath(new URL('workflows/index.ts', ROOT));
// Everything the bundle is made of, apart from the SDK.
const SOURCES = ['workflows', 'domain'];

/** The workflow code as workers load it: what `npm run build` made of these very sources, else bundled now (seconds). */
export async function workflowBundle(): Promise<{ code: string } | { codePath: string }> {
  const built = await readFile(FINGERPRINT, 'utf8').catch(() => null);
  if (built !== null && built === (await fingerprint())) return { codePath: fileURLToPath(CODE) };
  return await bundleWorkflows();
}

/** Bundles the workflows from their sources. */
export async function bundleWorkflows(): Promise<{ code: string }> {
  return await bundleWorkflowCode({
    workflowsPath: ENTRY,
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
}

/** Writes the bundle ahead of time, marked with what it was made of. */
export async function buildBundle(): Promise<void> {
  const { code } = await bundleWorkflows();
  await mkdir(new URL('.', CODE), { recursive: true });
  await writeFile(CODE, code);
  await writeFile(FINGERPRINT, await fingerprint());
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(sdkVersion());
  for (const folder of SOURCES) {
    const files = (await readdir(new URL(`${folder}/`, ROOT))).sort();
    for (const file of files) {
      hash.update(`\n${folder}/${file}\n`).update(await readFile(new URL(`${folder}/${file}`, ROOT)));
    }
  }
  return hash.digest('hex');
}

function sdkVersion(): string {
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as {
    version: string;
  };
  return version;
}
