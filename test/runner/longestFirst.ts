import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Longer than their size tells, so that none of them is begun when all others are done; and those that mostly wait spread among
// those that compute.
const LONG = [
  'test/api/lookupOutage.test.ts',
  'test/workflows/atOnce.test.ts',
  'test/start/whole.test.ts',
  'test/workflows/routes.test.ts',
  'test/api/outage.test.ts',
  'test/workflows/message.test.ts',
  'test/admin/messages.test.ts',
  'test/workflows/reconciliation.test.ts',
  'test/api/lookup.test.ts',
  'test/workflows/webhooks.test.ts',
  'test/workflows/inbound.test.ts',
  'test/workflows/restarts.test.ts',
  'test/api/webhookDeliveries.test.ts',
  'test/providers/smsapiService.test.ts',
  'test/telemetry/traces.test.ts',
  'test/workflows/unnotifiedEvents.test.ts',
  'test/api/redirect.test.ts',
  'test/admin/routesLive.test.ts',
  'test/admin/stuck.test.ts',
  'test/workflows/outcomes.test.ts',
  'test/api/webhookSecrets.test.ts',
];

/** Begins with the files that take longest, and goes on as vitest would. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((name) => moduleId.endsWith(name));
      return place === -1 ? LONG.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
