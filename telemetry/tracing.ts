import type { Ids } from './ids.ts';

/** What a span says: identifiers, patterns, counts and words of closed lists. Never what a customer or a phone wrote. */
export type Attributes = Record<string, string | number | boolean>;

/** What a span is about and whom it follows. */
export interface SpanStart {
  name: string;
  kind: 'server' | 'client' | 'consumer' | 'internal';
  attributes?: Attributes;
  /** The `traceparent` of the span that caused it; the current one by default, null for none. */
  parent?: string | null;
  /** The `traceparent` of a span that it has to do with and does not belong to. */
  link?: string | undefined;
}

/** A span under way. */
export interface OpenSpan {
  /** Once it is known what it is about. */
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Marks it as failed. @param kind a word of a closed list or a kind of error, never its message */
  fail(kind: string): void;
}

/** A span whose place in its trace is chosen by whoever reports it. */
export interface PlacedSpan {
  name: string;
  /** Its own `traceparent`, of a sampled trace; null: any of its parent's trace. */
  self: string | null;
  parent: string | null;
  link: string | null;
  /** Epoch milliseconds; it takes no time. */
  at: number;
  attributes: Attributes;
}

/** Reporting to a collector what happened. */
export interface Tracing {
  /** Does some work in a span of its own. */
  within<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Reports something that has just ended, as part of the current span; nothing without one. */
  ended(name: string, seconds: number, attributes: Attributes, failure?: string): void;
  /** Reports a step of a workflow. */
  placed(span: PlacedSpan): void;
  /** The `traceparent` of the span under way. */
  current(): string | null;
  /** Hands over what is left, for a few seconds at most. */
  stop(): Promise<void>;
}

let active: Tracing | null = null;

/** The traces of this process; null unless they are configured, and then nothing of them was even loaded. */
export function tracing(): Tracing | null {
  return active;
}

/** Switches traces on or off, before anything else of the process is made. */
export function useTracing(next: Tracing | null): void {
  active = next;
}

/** The `traceparent` of the work under way, for whoever goes on with it elsewhere; null where nothing is traced. */
export function currentTraceparent(): string | null {
  return active?.current() ?? null;
}

/** The trace of the work under way, for a line of the log. */
export function currentTrace(): { traceId?: string } {
  const traceId = currentTraceparent()?.split('-')[1];
  return traceId === undefined ? {} : { traceId };
}

/** Identifiers as attributes: `requestId` becomes `goniec.request_id`. */
export function idAttributes(ids: Ids): Attributes {
  const named = Object.entries(ids).map(([name, id]) => [
    `goniec.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    id as string,
  ]);
  return Object.fromEntries(named) as Attributes;
}
