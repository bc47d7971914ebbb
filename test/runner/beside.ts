/** Set for a whole run: which share of it a process of vitest has. */
export const SHARE_VARIABLE = 'TEST_SHARE';

/** `most` and `apart` run beside each other, each with a service of its own; `quiet` after both. */
export type Share = 'most' | 'apart' | 'quiet';

const apiTests = (...names: string[]): string[] => names.map((name) => `test/api/${name}.test.ts`);

/** Tests of the API that mostly wait, for limits of time and for retries; accounts keep them apart from each other. */
export const MOSTLY_WAITING = apiTests(
  'clickFlood',
  'lookup',
  'lookupOutage',
  'outage',
  'redirect',
  'webhookDeliveries',
  'webhookSecrets',
);

/**
 * Tests of the API that one after the other have a service to themselves: they have it match what comes from phones and providers, which
 * accounts do not keep apart, lock a table, or change this process.
 */
export const APART = apiTests(
  'callbacks',
  'email/callback',
  'inbound',
  'keywords',
  'newProviderKind',
  'optOut',
  'reportTimeout',
  'routes',
);

/** Tests of the API that have the machine to themselves as well: they measure how soon it answers, or wait for what has the last place in it. */
export const QUIET = apiTests('fairness', 'links', 'protocol', 'responsiveness', 'server');

/** Tests that need modules of their own: they put others in their place, or look at all that a module counts. */
export const WITH_OWN_MODULES = ['admin/domains', 'start/metrics', 'telemetry/emailMetrics'].map(
  (name) => `test/${name}.test.ts`,
);
