import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { tracing } from '../telemetry/tracing.ts';

const ROOT = new URL('../', import.meta.url);
const CODE = new URL('build/workflows.js', ROOT);
const TRACED_CODE = new URL('build/workflows-traced.js', ROOT);
const FINGERPRINT = new URL('build/workflows.sha256', ROOT);
const ENTRY = fileURLToPath(new URL('workflows/index.ts', ROOT));
const LOG_IDS = fileURLToPath(new URL('workflows/logIds.ts', ROOT));
const TRACES = fileURLToPath(new URL('workflows/tracing.ts', ROOT));
const NO_CALL_STACKS = fileURLToPath(new URL('workflows/noCallStacks.ts', ROOT));
// Everything the bundle is made of, apart from the SDK.
const SOURCES = ['workflows', 'domain'];

/** What workflow code may have beside the workflows. */
interface Extras {
  /** What traces need. */
  traced?: boolean;
  /** Where its promises and errors came from, for whoever looks for a fault in it; on unless switched off. */
  callStacks?: boolean;
}

/**
 * The workflow code as workers load it: what `npm run build` made of these very sources, else bundled now (seconds). What
 * traces need is in it only while they are on.
 */
export async function workflowBundle(callStacks = true): Promise<{ code: string } | { codePath: string }> {
  const traced = tracing() !== null;
  if (!callStacks || !(await isBuilt())) return await bundleWorkflows({ traced, callStacks });
  return { codePath: fileURLToPath(traced ? TRACED_CODE : CODE) };
}

/** Bundles the workflows from their sources. */
export async function bundleWorkflows({ traced = false, callStacks = true }: Extras = {}): Promise<{
  code: string;
}> {
  return await bundleWorkflowCode({
    workflowsPath: ENTRY,
    workflowInterceptorModules: [LOG_IDS, ...(traced ? [TRACES] : [])],
    // Shared by all workflows in memory: they keep nothing in their modules, which the linter sees to.
    preloadModules: [...(callStacks ? [] : [NO_CALL_STACKS]), ENTRY, LOG_IDS],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
}

/** Whether the bundles written ahead of time are made of these very sources. */
export async function isBuilt(): Promise<boolean> {
  const built = await readFile(FINGERPRINT, 'utf8').catch(() => null);
  return built !== null && built === (await fingerprint());
}

/** Writes both bundles ahead of time, marked with what they were made of. */
export async function buildBundle(): Promise<void> {
  const plain = await bundleWorkflows();
  const traced = await bundleWorkflows({ traced: true });
  await mkdir(new URL('.', CODE), { recursive: true });
  await writeWhole(CODE, plain.code);
  await writeWhole(TRACED_CODE, traced.code);
  await writeWhole(FINGERPRINT, await fingerprint());
}

// Under its name it is complete: others may read it meanwhile.
async function writeWhole(file: URL, text: string): Promise<void> {
  const draft = new URL(`${file.href}.${process.pid}`);
  await writeFile(draft, text);
  await rename(draft, file);
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(sdkVersion());
  for (const folder of SOURCES) {
    const files = await readdir(new URL(`${folder}/`, ROOT), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.ts')).sort()) {
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
