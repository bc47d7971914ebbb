import type { Change } from './changes.ts';

/** Faults in the way of a message. */
export const MESSAGE_CHANGES: readonly Change[] = [
  {
    name: 'a report by its id finds a message of any route',
    file: 'db/incoming/receipts.ts',
    from: 'where c.carrier = r.carrier and c.carrier_message_id = ${id}',
    to: 'where c.carrier_message_id = ${id}',
    tests: ['test/activities/receipts.test.ts'],
  },
  {
    name: 'a report by our reference counts on any route',
    file: 'db/incoming/receipts.ts',
    from: 'r.part in (part, ${WHOLE}) and carrier = r.carrier',
    to: 'r.part in (part, ${WHOLE})',
    tests: ['test/activities/receipts.test.ts'],
  },
  {
    name: 'a report for one part ends a message whose others have not left',
    file: 'activities/receipts.ts',
    from: 'message.states.length === message.parts && message.states.every',
    to: 'message.states.every',
    tests: ['test/activities/receipts.test.ts'],
  },
  {
    name: 'the credit limit is a grosz too generous',
    file: 'db/migrations/001.do.pipeline.sql',
    from: 'then -a.credit_limit_grosze else 0 end',
    to: 'then -a.credit_limit_grosze - 1 else 0 end',
    tests: ['test/db/billing.test.ts'],
  },
  {
    name: 'the rate of a route is ignored',
    file: 'activities/pacing.ts',
    from: '    ratePerSecond === null\n      ? () => Promise',
    to: '    true\n      ? () => Promise',
    tests: ['test/carriers/pacedRoute.test.ts'],
  },
];
