import { ApplicationFailure } from '@temporalio/activity';
import { type ActivityInterceptorsFactory, bundleWorkflowCode } from '@temporalio/worker';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { FAILURE } from '../workflows/contracts.ts';

/**
 * Refuses for good what no database can look for: an id with a NUL, as nothing here makes them. PostgreSQL would refuse it
 * every time, and the activity be tried for ever.
 */
export const usableArguments: ActivityInterceptorsFactory = () => ({
  inbound: {
    execute(input, next) {
      if (input.args.some((arg) => typeof arg === 'string' && arg.includes('\0'))) {
        throw ApplicationFailure.nonRetryable('an argument with a NUL character', FAILURE.unusableArgument);
      }
      return next(input);
    },
  },
});

const ROOT = new URL('../', import.meta.url);
const CODE = new URL('build/workflows.js', ROOT);
const FINGERPRINT = new URL('build/workflows.sha256', ROOT);
const ENTRY = fileURLToPath(new URL('workflows/index.ts', ROOT));
const INTERCEPTORS = fileURLToPath(new URL('workflows/interceptors.ts', ROOT));
const NO_CALL_STACKS = fileURLToPath(new URL('workflows/noCallStacks.ts', ROOT));
// Everything the bundle is made of, apart from the SDK.
const SOURCES = ['workflows', 'domain'];

/**
 * The workflow code as workers load it: what `npm run build` made of these very sources, else bundled now (seconds).
 * @param callStacks whether it keeps where its promises and errors came from, for whoever looks for a fault in it
 */
export async function workflowBundle(callStacks = true): Promise<{ code: string } | { codePath: string }> {
  if (!callStacks || !(await isBuilt())) return await bundleWorkflows(callStacks);
  return { codePath: fileURLToPath(CODE) };
}

/** Bundles the workflows from their sources. @param callStacks as above */
export async function bundleWorkflows(callStacks = true): Promise<{ code: string }> {
  return await bundleWorkflowCode({
    workflowsPath: ENTRY,
    workflowInterceptorModules: [INTERCEPTORS],
    // Shared by all workflows in memory: they keep nothing in their modules, which the linter sees to.
    preloadModules: [...(callStacks ? [] : [NO_CALL_STACKS]), ENTRY, INTERCEPTORS],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
}

/** Whether the bundle written ahead of time is made of these very sources. */
export async function isBuilt(): Promise<boolean> {
  const built = await readFile(FINGERPRINT, 'utf8').catch(() => null);
  return built !== null && built === (await fingerprint());
}

/** Writes the bundle ahead of time, marked with what it was made of. */
export async function buildBundle(): Promise<void> {
  const { code } = await bundleWorkflows();
  await mkdir(new URL('.', CODE), { recursive: true });
  await writeWhole(CODE, code);
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
