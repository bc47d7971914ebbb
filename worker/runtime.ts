import { type LogLevel, type LogMetadata, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { idsAmong } from '../telemetry/ids.ts';

// Names and units as Prometheus has them.
const PROMETHEUS = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true } as const;

let installed = false;

/**
 * Sends the SDK's own logs to ours and serves its metrics. Its runtime exists once per process, so only the first call
 * counts.
 * @param metrics host:port where the SDK listens itself; nowhere unless given
 */
export function installRuntime(log: Logger, metrics?: string): void {
  if (installed) return;
  installed = true;
  const write = (level: LogLevel, message: string, meta?: LogMetadata): void => {
    // Said as a warning of every worker that takes activities alone, which ours of routes and webhooks are.
    if (message.startsWith('No workflows registered')) return;
    const target = level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error';
    const { error, ...rest } = meta ?? {};
    const fields = { ...idsAmong([rest['workflowId']]), ...rest };
    log[target](error === undefined ? fields : { ...fields, err: error as unknown }, message);
  };
  Runtime.install({
    // Processes of ours decide themselves when to stop their workers.
    shutdownSignals: [],
    logger: {
      log: write,
      trace: (message, meta) => write('TRACE', message, meta),
      debug: (message, meta) => write('DEBUG', message, meta),
      info: (message, meta) => write('INFO', message, meta),
      warn: (message, meta) => write('WARN', message, meta),
      error: (message, meta) => write('ERROR', message, meta),
    },
    telemetryOptions: {
      logging: { filter: 'temporal_sdk_core=WARN', forward: {} },
      ...(metrics === undefined ? {} : { metrics: { prometheus: { bindAddress: metrics, ...PROMETHEUS } } }),
    },
  });
}
