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

// A collector that is away must not hold up the end of a process.
const STOP_MS = 3_000;

/** Traces that are on. */
export interface RunningTraces {
  /** Hands over what is left, for a few seconds at most. */
  stop(): Promise<void>;
}

/**
 * Registers OpenTelemetry's SDK, which sends traces by OTLP over HTTP. Address, headers, sampling, limits and queue are those of its
 * standard environment variables, which it reads by itself.
 * @param service the service's name unless the environment names one
 * @param onProblem gets what the SDK complains of, such as a collector that does not answer
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
  // What comes beside the message may be a whole answer of the collector's.
  const report = (message: string): void => onProblem(message);
  const ignore = (): void => undefined;
  return { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
}
