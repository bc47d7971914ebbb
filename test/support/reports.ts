import { expect, inject } from 'vitest';
import type { Report } from '../../domain/reports.ts';
import type { TestAccount } from './factories.ts';

export const HOUR = 3_600_000;
/** Milliseconds of an instant in ISO 8601. */
export const at = (text: string): number => Date.parse(text);
export const NOON = at('2026-11-10T12:00:00Z');
export const NOVEMBER = 'from=2026-11-01&to=2026-11-30';

/** Asks for a report. */
export async function report({ api }: TestAccount, query = NOVEMBER): Promise<Report> {
  const answer = await api.get(`/v1/reports?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body as unknown as Report;
}

/** Asks for a report as CSV. */
export async function csvOf(
  { key }: TestAccount,
  query: string,
): Promise<{ response: Response; text: string }> {
  const headers = { authorization: `Bearer ${key}`, accept: 'text/csv' };
  const response = await fetch(`${inject('service').apiUrl}/v1/reports?${query}`, { headers });
  return { response, text: await response.text() };
}
