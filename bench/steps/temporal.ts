import { type BundleOptions, DefaultLogger, Runtime } from '@temporalio/worker';

/** Workflows are TypeScript here, and the bundler says nothing of its work. */
export const quietBundler: Omit<BundleOptions, 'workflowsPath'> = {
  logger: new DefaultLogger('WARN'),
  webpackConfigHook: (config) => ({
    ...config,
    resolve: { ...config.resolve, extensions: ['.ts', '.js'] },
  }),
};

/** Lets the SDK say only what is wrong, and leaves signals to `stopOnSignal`. */
export function installQuietRuntime(): void {
  Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: [] });
}
