import { defaultPayloadConverter, type Headers } from '@temporalio/common';

const HEADER = 'goniec-ids';

/** Writes the header that carries ids to activities. */
export function idsHeader(ids: string[]): Headers {
  return { [HEADER]: defaultPayloadConverter.toPayload(ids) };
}

/** Reads it: the ids, none without the header. */
export function carriedIds(headers: Headers): string[] {
  const payload = headers[HEADER];
  return payload ? defaultPayloadConverter.fromPayload<string[]>(payload) : [];
}
