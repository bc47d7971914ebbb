import type { Headers } from '@temporalio/common';
import { carriedBy, headerOf } from './headers.ts';

const HEADER = 'goniec-ids';

/** Writes the header that carries ids to activities. */
export function idsHeader(ids: string[]): Headers {
  return headerOf(HEADER, ids);
}

/** Reads it: the ids, none without the header. */
export function carriedIds(headers: Headers): string[] {
  return carriedBy<string[]>(HEADER, headers) ?? [];
}
