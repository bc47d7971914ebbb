/** Set for a whole run, in which few tests of the API have the machine to themselves. */
export const BESIDE_VARIABLE = 'TEST_BESIDE';

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
 * Tests of the API that one after the other have the service to themselves: they measure how soon it answers, have it match
 * what comes from phones and providers, which accounts do not keep apart, or change this process.
 */
export const ALONE = apiTests(
  'callbacks',
  'email/callback',
  'fairness',
  'inbound',
  'keywords',
  'links',
  'newProviderKind',
  'optOut',
  'protocol',
  'responsiveness',
  'routes',
  'server',
);
