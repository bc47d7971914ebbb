import {
  type Attributes,
  context,
  type Context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { currentIds, type Ids } from './ids.ts';

/** A trace as it is handed on: the headers of W3C Trace Context, in small letters; without `traceparent` none. */
export type Carrier = Record<string, string>;

// Of the API alone, whose calls do nothing until an SDK is registered.
const tracer = trace.getTracer('goniec');
let on = false;

/** Whether an SDK is registered in this process: else interceptors are left out. */
export function isTracing(): boolean {
  return on;
}

/** To be called where the SDK is registered or taken away, before anything else of the process is made. */
export function setTracing(next: boolean): void {
  on = next;
}

/**
 * Does some work in a span, with the ids that become known in its course. Spans hold identifiers, patterns, counts and words of closed
 * lists, never what a customer or a phone wrote: so of an error nothing but its kind.
 * @param parent the current span by default
 */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
  parent: Context = context.active(),
): Promise<T> {
  return await tracer.startActiveSpan(name, options, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      markFailed(span, kindOfError(error));
      throw error;
    } finally {
      span.setAttributes(idAttributes(currentIds()));
      span.end();
    }
  });
}

/**
 * Reports what has just ended; nothing where it belongs to no trace.
 * @param failure a word of a closed list
 */
export function recordEnded(
  name: string,
  seconds: number,
  attributes: Attributes,
  { failure, parent = context.active() }: { failure?: string | undefined; parent?: Context } = {},
): void {
  if (trace.getSpanContext(parent) === undefined) return;
  const now = Date.now();
  const span = tracer.startSpan(
    name,
    {
      kind: SpanKind.CLIENT,
      startTime: now - seconds * 1000,
      attributes: { ...attributes, ...idAttributes(currentIds()) },
    },
    parent,
  );
  if (failure !== undefined) markFailed(span, failure);
  span.end(now);
}

/** @param kind a word of a closed list or a kind of error, never its message */
export function markFailed(span: Span, kind: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', kind);
}

/** The trace of the work under way, for whoever goes on with it elsewhere; empty where nothing is traced. */
export function currentCarrier(): Carrier {
  const carrier: Carrier = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/** The same as the database keeps it; null where nothing is traced. */
export function currentTraceparent(): string | null {
  return currentCarrier()['traceparent'] ?? null;
}

/** The trace of the work under way, for a line of the log. */
export function currentTrace(): { traceId?: string } {
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return traceId === undefined ? {} : { traceId };
}

/** The context of whoever handed a trace on; without a span where it is none. */
export function contextOf(carrier: Carrier): Context {
  return propagation.extract(ROOT_CONTEXT, carrier);
}

/** A link to a span that something has to do with and does not belong to; none where it is no `traceparent`. */
export function linksTo(traceparent: string | undefined): Link[] {
  const linked = traceparent && trace.getSpanContext(contextOf({ traceparent }));
  return linked ? [{ context: linked }] : [];
}

/** Identifiers as attributes: `requestId` becomes `goniec.request_id`. */
export function idAttributes(ids: Ids): Attributes {
  const named = Object.entries(ids).map(([name, id]) => [
    `goniec.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    id as string,
  ]);
  return Object.fromEntries(named) as Attributes;
}

function kindOfError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { type, code } = error as { type?: unknown; code?: unknown };
  const word = [type, code].find((one) => typeof one === 'string' && /^(?!\d{6})[\w.]{1,60}$/.test(one));
  return (word as string | undefined) ?? error.name;
}
