import {
  context,
  type Context,
  diag,
  DiagLogLevel,
  type DiagLogger,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
} from '@opentelemetry/sdk-trace-base';
import { waitFor } from '../concurrency/waitFor.ts';
import { currentIds } from './ids.ts';
import { idAttributes, type Tracing } from './tracing.ts';

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;
// A collector that is away must not hold up the end of a process.
const STOP_MS = 3_000;
// W3C Trace Context, version 00.
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * Traces by OpenTelemetry, sent by OTLP over HTTP. Address, headers, sampling, limits and queue are those of its standard
 * environment variables, which its SDK reads by itself.
 * @param service the service's name unless the environment names one
 * @param onProblem gets what the SDK complains of, such as a collector that does not answer
 */
export function openTelemetry(
  service: string,
  version: string,
  onProblem: (message: string) => void,
): Tracing {
  diag.setLogger(complaints(onProblem), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service, 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const processor = new BatchSpanProcessor(new OTLPTraceExporter());
  const ids = placedIds();
  const tracer = new BasicTracerProvider({ resource, spanProcessors: [processor] }).getTracer('goniec');
  // A workflow has already passed on to its activities whether its trace is sampled: here nothing is decided again.
  const placing = new BasicTracerProvider({
    resource,
    spanProcessors: [processor],
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
  }).getTracer('goniec');

  return {
    async within({ name, kind, attributes = {}, parent, link }, work) {
      const under = parent === undefined ? context.active() : contextOf(parent);
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes, links: linksOf(link) }, under);
      try {
        return await context.with(trace.setSpan(under, span), () =>
          work({
            rename: (better) => void span.updateName(better),
            set: (more) => void span.setAttributes(more),
            fail: (failure) => markFailed(span, failure),
          }),
        );
      } catch (error) {
        markFailed(span, kindOfError(error));
        throw error;
      } finally {
        span.setAttributes(idAttributes(currentIds()));
        span.end();
      }
    },
    ended(name, seconds, attributes, failure) {
      if (trace.getActiveSpan() === undefined) return;
      const now = Date.now();
      const span = tracer.startSpan(name, {
        kind: SpanKind.CLIENT,
        startTime: now - seconds * 1000,
        attributes: { ...attributes, ...idAttributes(currentIds()) },
      });
      if (failure !== undefined) markFailed(span, failure);
      span.end(now);
    },
    placed({ name, self, parent, link, at, attributes }) {
      const own = self === null ? null : parse(self);
      const options = { startTime: at, attributes, links: linksOf(link) };
      ids.as(own, () => placing.startSpan(name, options, contextOf(parent))).end(at);
    },
    current: () => traceparentOf(trace.getActiveSpan()?.spanContext()),
    async stop() {
      await waitFor(
        processor.shutdown().catch(() => undefined),
        STOP_MS,
        () => undefined,
      );
      context.disable();
      diag.disable();
    },
  };
}

/** Lets one span at a time have the ids that a workflow chose for it. */
function placedIds() {
  const random = new RandomIdGenerator();
  let next: SpanContext | null = null;
  return {
    generateTraceId: (): string => next?.traceId ?? random.generateTraceId(),
    generateSpanId: (): string => next?.spanId ?? random.generateSpanId(),
    as<T>(own: SpanContext | null, start: () => T): T {
      next = own;
      return start();
    },
  };
}

function contextOf(traceparent: string | null): Context {
  const parent = traceparent === null ? null : parse(traceparent);
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

function linksOf(traceparent: string | null | undefined): Link[] {
  const linked = typeof traceparent === 'string' ? parse(traceparent) : null;
  return linked === null ? [] : [{ context: linked }];
}

function parse(traceparent: string): SpanContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

function traceparentOf(own: SpanContext | undefined): string | null {
  if (own === undefined) return null;
  return `00-${own.traceId}-${own.spanId}-${(own.traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01'}`;
}

function markFailed(span: Span, kind: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', kind);
}

/** What kind of error it is: its message may hold anything. */
function kindOfError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { type, code } = error as { type?: unknown; code?: unknown };
  const word = [type, code].find((one) => typeof one === 'string' && /^(?!\d{6})[\w.]{1,60}$/.test(one));
  return (word as string | undefined) ?? error.name;
}

function complaints(onProblem: (message: string) => void): DiagLogger {
  // What comes beside the message may be a whole answer of the collector's.
  const report = (message: string): void => onProblem(message);
  return {
    error: report,
    warn: report,
    info: () => undefined,
    debug: () => undefined,
    verbose: () => undefined,
  };
}
