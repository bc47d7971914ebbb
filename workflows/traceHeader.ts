import type { Headers } from '@temporalio/common';
import { carriedBy, headerOf } from './headers.ts';

const HEADER = 'goniec-trace';

/** What a trace's header holds, to workflows and from them to activities. */
export interface CarriedTrace {
  /** The `traceparent` of the cause (W3C Trace Context). */
  parent: string;
  /** The workflow is one of many with the same cause: a trace of its own, linked to that. */
  apart?: boolean;
}

/** Reads the header. */
export function carriedTrace(headers: Headers): CarriedTrace | undefined {
  return carriedBy<CarriedTrace>(HEADER, headers);
}

/** Writes the header. */
export function traceHeader(carried: CarriedTrace): Headers {
  return headerOf(HEADER, carried);
}
