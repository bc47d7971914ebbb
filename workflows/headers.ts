import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/** A header that carries plain data to a workflow or an activity. */
export function headerOf(name: string, data: unknown): Headers {
  return { [name]: defaultPayloadConverter.toPayload(data) };
}

/** What such a header carries; undefined where there is none. */
export function carriedBy<T>(name: string, headers: Headers): T | undefined {
  const payload = headers[name];
  return payload ? defaultPayloadConverter.fromPayload<T>(payload) : undefined;
}
