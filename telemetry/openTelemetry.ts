import { context, diag, type DiagLogger, DiagLogLevel, propagation, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { withTimeout } from '../concurrency/tasks.ts';
import { setTracing } from './tracing.ts';

// An unreachable collector must not delay the end of the process.
const STOP_MS = 3_000;

export interface RunningTraces {
  stop(): Promise<void>;
}

/**
 * Registers OpenTelemetry's SDK with OTLP over HTTP, which its standard environment variables configure.
 * @param service name unless the environment has one
 * @param onProblem receives the SDK's warnings, such as an unreachable collector
 */
export function openTelemetry(
  service: string,
  version: string,
  onProblem: (message: string) => void,
): RunningTraces {
  diag.setLogger(complaints(onProblem), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service, 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter())];
  const provider = new NodeTracerProvider({ resource, spanProcessors });
  provider.register();
  setTracing(true);
  return {
    async stop() {
      const stopping = provider.shutdown().catch(() => undefined);
      await withTimeout(stopping, STOP_MS, () => undefined);
      setTracing(false);
      for (const api of [trace, context, propagation, diag]) api.disable();
    },
  };
}

function complaints(onProblem: (message: string) => void): DiagLogger {
  // Only the message: the other arguments may contain a whole response of the collector.
  const report = (message: string): void => onProblem(message);
  const ignore = (): void => undefined;
  return { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
}
