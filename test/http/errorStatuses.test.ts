import { z } from 'zod';
import { expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { endpoint, errorStatusesOf } from '../../api/http/endpoint.ts';
import { statusOf, STATUSES } from '../../api/http/refusals.ts';
import { earlierEndpoints } from '../../api/v1_2/endpoints.ts';

const declared = endpoint({
  method: 'GET',
  path: '/v1/things/:id',
  scope: 'read',
  id: 'getThing',
  summary: 'Shows a thing.',
  description: 'One thing.',
  errors: [409],
  params: z.strictObject({ id: z.string() }),
  responses: { 200: z.strictObject({}) },
  handle: () => Promise.resolve({ status: 200, body: {} }),
});

const sorted = (statuses: Iterable<number>) => [...statuses].sort((a, b) => a - b);

test('the statuses of an endpoint are those that it lists, and those that follow from its declaration', () => {
  const ofAny = [400, 401, 403, 404, 405, 408, 409, 417];
  expect(sorted(errorStatusesOf(declared))).toEqual([...ofAny, 429, 431, 500, 502, 504]);
  expect(sorted(errorStatusesOf({ ...declared, interface: 'v1', outageStatus: 503 }))).toEqual(
    sorted([...ofAny, 422, 429, 431, 500, 503]),
  );
  expect(sorted(errorStatusesOf({ ...declared, scope: null, errors: [] }))).toEqual([
    400, 404, 405, 408, 417, 431, 500, 504,
  ]);
});

test('every status of a refusal is one that some endpoint declares', () => {
  const answered = new Set([...endpoints, ...earlierEndpoints].flatMap((one) => [...errorStatusesOf(one)]));
  expect(Object.values(STATUSES).filter((status) => !answered.has(status))).toEqual([]);
});

test('what depends on an outage has the status of either', () => {
  const abandoned = (outage: 'unavailable' | 'timed_out') => statusOf({ reason: 'send_abandoned', outage });
  expect([abandoned('unavailable'), abandoned('timed_out')]).toEqual([502, 504]);
  expect([statusOf({ reason: 'message_unknown' }), statusOf({ reason: 'text_blank', index: null })]).toEqual([
    404, 400,
  ]);
});
