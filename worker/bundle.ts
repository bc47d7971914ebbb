import { ApplicationFailure } from '@temporalio/activity';
import { type ActivityInterceptorsFactory, bundleWorkflowCode } from '@temporalio/worker';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { FAILURE } from '../workflows/contracts.ts';

/** Rejects ids with a NUL, not retryable: none of ours has one, and PostgreSQL would reject it on every retry, for ever. */
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
// All sources of the bundle, apart from the SDK.
const SOURCES = ['workflows', 'domain'];

/** The prebuilt bundle if its sources are unchanged, else bundled now (seconds). @param callStacks keeps stack traces, for debugging */
export async function workflowBundle(callStacks = true): Promise<{ code: string } | { codePath: string }> {
  if (!callStacks || !(await isBuilt())) return await bundleWorkflows(callStacks);
  return { codePath: fileURLToPath(CODE) };
}

/** Bundles the workflows from source. @param callStacks as in `workflowBundle` */
export async function bundleWorkflows(callStacks = true): Promise<{ code: string }> {
  return await bundleWorkflowCode({
    workflowsPath: ENTRY,
    workflowInterceptorModules: [INTERCEPTORS],
    // Shared by all workflows in memory: they keep no module state, which ESLint enforces.
    preloadModules: [...(callStacks ? [] : [NO_CALL_STACKS]), ENTRY, INTERCEPTORS],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
}

/** Whether the prebuilt bundle matches the sources. */
export async function isBuilt(): Promise<boolean> {
  const built = await readFile(FINGERPRINT, 'utf8').catch(() => null);
  return built !== null && built === (await fingerprint());
}

/** Writes the bundle with a fingerprint of its sources. */
export async function buildBundle(): Promise<void> {
  const { code } = await bundleWorkflows();
  await mkdir(new URL('.', CODE), { recursive: true });
  await writeWhole(CODE, code);
  await writeWhole(FINGERPRINT, await fingerprint());
}

// Renamed when complete: other processes may read it meanwhile.
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
