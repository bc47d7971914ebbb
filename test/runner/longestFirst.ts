import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What takes over half a minute, as measured, longest first: none of them may be begun when all others are done.
const LONG = [
  'workflows/atOnce',
  'start/stop',
  'workflows/reconciliation',
  'admin/erasedPerson',
  'admin/ownEmails',
  'workflows/accountStops',
  'workflows/unnotifiedEvents',
  'telemetry/traces',
  'start/whole',
  'providers/smsapiService',
  'api/lookupOutage',
  'api/redirect',
  'runner/run',
  'workflows/message',
  'workflows/webhooks',
  'api/clickFlood',
  'admin/messages',
  'start/postgres',
  'workflows/budget',
  'api/outage',
  'workflows/routes',
  'workflows/outcomes',
  'workflows/traces',
  'providers/longReferences',
  'providers/jsmppService',
  'providers/pacedRoute',
  'workflows/restarts',
  'start/problems',
  'workflows/inbound',
  'api/lookup',
  'admin/routesLive',
  'api/webhookSecrets',
  'workflows/lookup',
  'workflows/unknownIds',
  'admin/process',
  'telemetry/metrics',
  'telemetry/logs',
  'api/webhookDeliveries',
  'admin/stuck',
  'workflows/click',
].map((name) => `test/${name}.test.ts`);

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
