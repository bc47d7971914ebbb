import { z } from 'zod';
import { ping } from '../db/setup.ts';
import { documented } from './fields.ts';
import { endpoint } from './http/endpoint.ts';
import { within } from '../operations/outages.ts';
import type { Services } from './services.ts';

const SERVICE = 'goniec';
/** Version of the interface description that the API implements. */
export const INTERFACE_VERSION = '2.3.0';
const CHECK_MS = 500;
const KEEP_MS = 1000;

const state = z.enum(['ok', 'unavailable']);
type State = z.output<typeof state>;
interface Checks {
  database: State;
  temporal: State;
}

const identity = {
  service: documented(z.string(), 'The name of the service.', SERVICE),
  version: documented(z.string(), 'The version of the interface.', INTERFACE_VERSION),
};
const ABOUT_STATUS = 'Whether the service works.';

/** GET /v1/health (v2.3.0, Health), without a key. */
export const getHealth = endpoint({
  method: 'GET',
  path: '/v1/health',
  scope: null,
  id: 'getHealth',
  summary: 'Says whether the service works.',
  description: 'The database and Temporal are asked; workers are not. Needs no key and is not counted.',
  statusTexts: { 503: 'Something that the service needs does not answer.' },
  responses: {
    200: z.strictObject({ status: z.literal('ok').describe(ABOUT_STATUS), ...identity }),
    503: z.strictObject({
      status: z.literal('unavailable').describe(ABOUT_STATUS),
      ...identity,
      checks: z
        .strictObject({
          database: documented(state, 'PostgreSQL.', 'ok'),
          temporal: documented(state, 'Temporal.', 'ok'),
        })
        .describe('What answers and what does not.'),
    }),
  },
  async handle({ services }) {
    const checks = await recentChecks(services);
    const about = { service: SERVICE, version: INTERFACE_VERSION };
    return checks.database === 'ok' && checks.temporal === 'ok'
      ? { status: 200, body: { status: 'ok' as const, ...about } }
      : { status: 503, body: { status: 'unavailable' as const, ...about, checks } };
  },
});

const recent = new WeakMap<Services, { at: number; checks: Promise<Checks> }>();

// Open to anyone, so concurrent requests share one check, and its result is reused for a second.
function recentChecks(services: Services): Promise<Checks> {
  const known = recent.get(services);
  if (known !== undefined && Date.now() - known.at < KEEP_MS) return known.checks;
  const checks = check(services);
  recent.set(services, { at: Date.now(), checks });
  return checks;
}

async function check({ priorityPool: sql, temporal }: Services): Promise<Checks> {
  const until = Date.now() + CHECK_MS;
  const answers = (work: Promise<unknown>) =>
    within(until, work).then(
      () => 'ok' as const,
      () => 'unavailable' as const,
    );
  const [database, temporalState] = await Promise.all([
    answers(ping(sql)),
    answers(temporal.connection.withDeadline(until, () => temporal.workflowService.getSystemInfo({}))),
  ]);
  return { database, temporal: temporalState };
}
