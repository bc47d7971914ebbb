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

/** Headers of W3C Trace Context in lower case; without `traceparent` no trace. */
export type Carrier = Record<string, string>;

// The API alone: its calls do nothing until an SDK is registered.
const tracer = trace.getTracer('goniec');
let on = false;

/** Whether an SDK is registered; otherwise interceptors are left out. */
export function isTracing(): boolean {
  return on;
}

/** Call it where the SDK is registered or removed, before anything else of the process is created. */
export function setTracing(next: boolean): void {
  on = next;
}

/** Runs work in a span with the ids that it adds. Spans never hold content of customers or recipients: only the type of an error. */
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

/** Records work that has just ended; nothing outside a trace. @param failure a word of a closed list */
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

/** @param kind a word of a closed list or an error's type, never its message */
export function markFailed(span: Span, kind: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', kind);
}

/** The current trace, to continue it elsewhere; empty without one. */
export function currentCarrier(): Carrier {
  const carrier: Carrier = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/** The current trace as stored in the database. */
export function currentTraceparent(): string | null {
  return currentCarrier()['traceparent'] ?? null;
}

export function currentTrace(): { traceId?: string } {
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return traceId === undefined ? {} : { traceId };
}

/** The context of a received trace; without a span where there is none. */
export function contextOf(carrier: Carrier): Context {
  return propagation.extract(ROOT_CONTEXT, carrier);
}

/** Links a related span that is not the parent; empty for an invalid `traceparent`. */
export function linksTo(traceparent: string | undefined): Link[] {
  const linked = traceparent && trace.getSpanContext(contextOf({ traceparent }));
  return linked ? [{ context: linked }] : [];
}

/** `requestId` becomes `goniec.request_id`. */
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
