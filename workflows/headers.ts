import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/** Trace header as written by the OpenTelemetry interceptors of Temporal's SDKs: W3C Trace Context. */
export const TRACE_HEADER = '_tracer-data';
/** Header with a list of ids for an activity's log lines. */
export const IDS_HEADER = 'goniec-ids';

/** Encodes data as a header for a workflow or an activity. */
export function headerOf(name: string, data: unknown): Headers {
  return { [name]: defaultPayloadConverter.toPayload(data) };
}

/** Decodes a header; undefined if absent. */
export function carriedBy<T>(name: string, headers: Headers): T | undefined {
  const payload = headers[name];
  return payload ? defaultPayloadConverter.fromPayload<T>(payload) : undefined;
}
