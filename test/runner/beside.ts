/** Set for a whole run, in which the tests of the API that mostly wait run beside the others. */
export const BESIDE_VARIABLE = 'TEST_BESIDE';

/** Tests of the API that mostly wait, for limits of time and for retries; accounts keep them apart from each other. */
export const MOSTLY_WAITING = [
  'clickFlood',
  'lookup',
  'lookupOutage',
  'outage',
  'redirect',
  'webhookDeliveries',
  'webhookSecrets',
].map((name) => `test/api/${name}.test.ts`);
