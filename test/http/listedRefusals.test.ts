import { z } from 'zod';
import pino from 'pino';
import { expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { earlierEndpoints } from '../../api/v1_2/endpoints.ts';
import { endpoint } from '../../api/http/endpoint.ts';
import { refusalsOf, UNLISTED, watchRefusals } from '../../api/http/invoke.ts';
import { HttpRefused, kindOf, KINDS, type Reason, statusesOf } from '../../api/http/refusals.ts';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import { tools } from '../../mcp/tools.ts';

const declared = (refusals: readonly Reason[]) =>
  endpoint({
    method: 'GET',
    path: '/v1/things/:id',
    scope: 'read',
    id: 'getThing',
    summary: 'Shows a thing.',
    description: 'One thing.',
    refusals,
    params: z.strictObject({ id: z.string() }),
    responses: { 200: z.strictObject({}) },
    handle: () => Promise.resolve({ status: 200, body: {} }),
  });

async function logged(refusals: readonly Reason[], thrown: Error): Promise<unknown[]> {
  const lines: string[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) });
  await expect(watchRefusals(declared(refusals), log, Promise.reject(thrown))).rejects.toBe(thrown);
  return lines.map((line) => JSON.parse(line) as unknown);
}

test('a refusal that its endpoint does not list is logged, and goes on its way', async () => {
  const found = await logged([], new Refused({ reason: 'message_unknown' }));
  expect(found).toMatchObject([
    { method: 'GET', route: '/v1/things/:id', reason: 'message_unknown', msg: UNLISTED, level: 50 },
  ]);
});

test('one that it lists is not, nor one that follows from its declaration, nor any other error', async () => {
  expect(await logged(['message_unknown'], new Refused({ reason: 'message_unknown' }))).toEqual([]);
  expect(await logged([], new HttpRefused({ reason: 'resource_unknown' }))).toEqual([]);
  expect(await logged([], new Refused({ reason: 'unavailable' }))).toEqual([]);
  expect(await logged([], new Error('no refusal'))).toEqual([]);
});

test('whatever is answered with another status than 400 is listed by an endpoint', () => {
  const asked = [...endpoints, ...earlierEndpoints, ...tools.map((tool) => tool.endpoint)];
  const listed = new Set(asked.flatMap((one) => [...refusalsOf(one)]));
  // A path that nobody declares is no endpoint's.
  const missing = Object.keys(KINDS).filter((reason) => !listed.has(reason as Reason));
  expect(missing).toEqual(['route_unknown']);
});

test('what depends on an outage has the status of either', () => {
  const abandoned = (outage: 'unavailable' | 'timed_out'): Refusal => ({ reason: 'send_abandoned', outage });
  expect(statusesOf('send_abandoned')).toEqual([
    kindOf(abandoned('unavailable')).status,
    kindOf(abandoned('timed_out')).status,
  ]);
  expect(statusesOf('message_unknown')).toEqual([404]);
  expect(statusesOf('field_missing')).toEqual([400]);
});
