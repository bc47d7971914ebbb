import { defaultPayloadConverter, type Headers } from '@temporalio/common';

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
  const payload = headers[HEADER];
  return payload ? defaultPayloadConverter.fromPayload<CarriedTrace>(payload) : undefined;
}

/** Writes the header. */
export function traceHeader(carried: CarriedTrace): Headers {
  return { [HEADER]: defaultPayloadConverter.toPayload(carried) };
}
