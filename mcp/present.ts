import { polishTime } from '../domain/calendar.ts';
import { parseSendWindow } from '../domain/sendWindow.ts';
import { visible } from '../domain/text.ts';

/** Bytes of JSON: at most 10,000 tokens, by 1.5 bytes for one of text that is hard to compress. */
export const ANSWER_BYTES = 15_000;
/** Rows of a list that is not paged. */
export const ROWS_MAX = 10;
const TEXT_MAX = 2_000;

export type Body = Record<string, unknown>;

/**
 * An answer as a model reads it: what must be said first, sums before lists, Polish times beside UTC, and visible characters only. Some
 * agents pass on nothing but `structuredContent`, and cut it at its end.
 */
export function presented(body: object, first: Body = {}): Body {
  const entries = Object.entries({ ...first, ...(shown(body) as Body) });
  const lists = entries.filter(([, value]) => typeof value === 'object' && value !== null);
  const plain = entries.filter(([, value]) => typeof value !== 'object' || value === null);
  return Object.fromEntries([...plain, ...lists]);
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => [
      [visible(name), shown(field)] as [string, unknown],
      ...explained(name, field),
    ]),
  );
}

function explained(name: string, value: unknown): [string, string][] {
  if (typeof value !== 'string') return [];
  if (name === 'send_at') return [['send_at_local', localTime(Date.parse(value))]];
  const meaning = name === 'send_window' ? nightHours(value) : null;
  return meaning === null ? [] : [['send_window_means', meaning]];
}

/** Polish day and time of an instant, epoch milliseconds. */
export function localTime(instant: number): string {
  const { day, time } = polishTime(instant);
  return `${day} ${time} Europe/Warsaw`;
}

/** What sending hours that pass midnight mean; null for others. */
export function nightHours(window: string): string | null {
  const parsed = parseSendWindow(window);
  if (parsed === null || parsed.startMinute < parsed.endMinute) return null;
  const [from, to] = window.split('-');
  return `Messages leave at night, from ${from} to ${to} of the next day, and wait from ${to} to ${from}. For the day it is "${to}-${from}".`;
}

export const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The first rows as they are shown that have room in an answer, at least one; no others are made. @param room bytes */
export function fitting<Row, Shown>(
  rows: readonly Row[],
  show: (row: Row) => Shown,
  room = ANSWER_BYTES - 1_000,
): Shown[] {
  const fit: Shown[] = [];
  let left = room;
  for (const row of rows) {
    const one = show(row);
    left -= sizeOf(one) + 1;
    if (left < 0 && fit.length > 0) break;
    fit.push(one);
  }
  return fit;
}

/** Cuts lists and texts of an answer that is too large. */
export function bounded(body: Body): Body {
  if (sizeOf(body) <= ANSWER_BYTES) return body;
  return {
    next: 'Lists and long texts below are cut: ask for less to see more of each.',
    ...(cut(body) as Body),
  };
}

function cut(value: unknown): unknown {
  if (typeof value === 'string' && value.length > TEXT_MAX)
    return `${value.slice(0, TEXT_MAX)}… [cut: ${value.length} characters]`;
  if (Array.isArray(value)) return fitting(value.slice(0, ROWS_MAX), cut, ANSWER_BYTES / 2);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) =>
      Array.isArray(field) && field.length > ROWS_MAX
        ? [
            [`${name}_count`, field.length],
            [name, cut(field)],
          ]
        : [[name, cut(field)]],
    ),
  );
}
