import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/** The header with a trace, as the OpenTelemetry interceptors of Temporal's SDKs write it: the headers of W3C Trace Context. */
export const TRACE_HEADER = '_tracer-data';
/** The header with the ids that an activity's log lines are to carry: a list of them. */
export const IDS_HEADER = 'goniec-ids';

/** A header that carries plain data to a workflow or an activity. */
export function headerOf(name: string, data: unknown): Headers {
  return { [name]: defaultPayloadConverter.toPayload(data) };
}

/** What such a header carries; undefined where there is none. */
export function carriedBy<T>(name: string, headers: Headers): T | undefined {
  const payload = headers[name];
  return payload ? defaultPayloadConverter.fromPayload<T>(payload) : undefined;
}
