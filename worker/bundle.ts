import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

const PREBUILT = fileURLToPath(new URL('../build/workflows.js', import.meta.url));
const WORKFLOWS = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

/**
 * The workflow code as workers load it: what `npm run build` left, else bundled now (a few seconds).
 * @param fresh true bundles in any case
 */
export async function workflowBundle(fresh = false): Promise<WorkflowBundleOption> {
  if (!fresh && existsSync(PREBUILT)) return { codePath: PREBUILT };
  return await bundleWorkflowCode({
    workflowsPath: WORKFLOWS,
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    webpackConfigHook: (config) => ({
      ...config,
      // Sources import each other as `.ts`, which the bundler resolves by itself.
      resolve: { ...config.resolve, extensions: ['.ts', '.js'] },
    }),
  });
}
