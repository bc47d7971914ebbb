import { readFileSync } from 'node:fs';
import type { Change } from './changes.ts';

const ERASURE = 'db/maintenance/erasure.ts';
const ONE_LINE = 'await tx`';
const TESTS = ['test/db/maintenance.test.ts'];

/** Faults in clean-up, retention and reconciliation. */
export const MAINTENANCE_CHANGES: readonly Change[] = [
  ...kept('REPLAYED_MS = 26 * HOUR_MS', 'REPLAYED_MS = 23 * HOUR_MS'),
  ...kept('UNMATCHED_DAYS = 30', 'UNMATCHED_DAYS = 29'),
  ...kept('UNMATCHED_DAYS = 30', 'UNMATCHED_DAYS = 32'),
  ...kept('SIMULATOR_DAYS = 7', 'SIMULATOR_DAYS = 6'),
  ...kept('OVER_DAYS = 30', 'OVER_DAYS = 28'),
  ...kept('OVER_DAYS = 30', 'OVER_DAYS = 31'),
  ...kept('REFERENCE_DAYS = 7', 'REFERENCE_DAYS = 6'),
  {
    name: 'clean-up takes opt-outs whose message is counted',
    file: 'db/maintenance/cleanUp.ts',
    from: '           where expires_at < ${daysAgo(OVER_DAYS)} and message_id is null\n',
    to: '           where expires_at < ${daysAgo(OVER_DAYS)}\n',
    tests: TESTS,
    only: 'deletes blacklist entries long over',
  },
  {
    name: 'clean-up waits for who lists a number anew',
    file: 'db/maintenance/cleanUp.ts',
    from: ' limit ${limit} for update skip locked))`',
    to: ' limit ${limit} for update))`',
    tests: TESTS,
    only: 'waits for nobody',
  },
  {
    name: 'a step that has failed is noted as a success',
    file: 'activities/regularWork.ts',
    from: '      const result = await step(...args);\n',
    to: '      const result = await step(...args).catch((error: unknown) => error);\n',
    tests: ['test/workflows/maintenance.test.ts'],
    only: 'not noted for a step that fails',
  },
  {
    name: 'regular work stops where it has something left',
    file: 'workflows/maintenance.ts',
    from: '    if (left === undefined) return removed;\n',
    to: '    if (left === undefined || removed) return removed;\n',
    tests: ['test/workflows/maintenance.test.ts'],
    only: 'until nothing is left',
  },
  {
    name: 'a step that leaves something is noted as a success',
    file: 'activities/regularWork.ts',
    from: '      if (leavesSome(result)) return result;\n',
    to: '',
    tests: ['test/workflows/maintenance.test.ts'],
    only: 'while something is left',
  },
  {
    name: 'an erasure of all accounts leaves what is of none',
    file: ERASURE,
    from: ' or account_id is null)`',
    to: ')`',
    tests: ['test/db/erasureReads.deep.test.ts'],
  },
  {
    name: 'an erasure reads all look-ups',
    file: 'db/migrations/037.do.bounded-commands.sql',
    from: 'on number_lookups (msisdn);',
    to: "on number_lookups (msisdn) where state = 'done';",
    tests: ['test/db/erasureReads.deep.test.ts'],
  },
  {
    name: 'a success is never noted',
    file: 'worker/worker.ts',
    from: '...notingSuccess(sql, {',
    to: '...Object.assign({}, {',
    tests: ['test/workflows/maintenance.test.ts'],
    only: 'noted when a run has had it',
  },
  {
    name: 'what is expected anew counts as a success',
    file: 'db/maintenance/regularWork.ts',
    from: 'interval_seconds = excluded.interval_seconds`',
    to: 'interval_seconds = excluded.interval_seconds, succeeded_at = now()`',
    tests: ['test/workflows/maintenance.test.ts'],
    only: 'keeps its last one',
  },
  {
    name: 'the workflow of a message that is over asks its route',
    file: 'activities/reconciliation/lostWorkflows.ts',
    from: 'messageRestart(message, isFinal(status))',
    to: 'messageRestart(message)',
    tests: ['test/workflows/reconciliation.test.ts'],
    only: 'nobody works on any more',
  },
  {
    name: 'clean-up takes old events that were exhausted of late',
    file: 'db/maintenance/cleanUp.ts',
    from: 'and at < ${daysAgo(logDays)}\n           order by event_id limit',
    to: 'order by event_id limit',
    tests: TESTS,
  },
  {
    name: 'clean-up takes reports that wait for their message',
    file: 'db/maintenance/cleanUp.ts',
    from: 'where r.id = p.id and p.applied_at is null',
    to: 'where r.id = p.id',
    tests: TESTS,
  },
  {
    name: 'clean-up takes messages that were sent',
    file: 'db/migrations/001.do.schema.sql',
    from: "where id = any(ids) and status = 'draft'",
    to: 'where id = any(ids)',
    tests: TESTS,
  },
  {
    name: 'clean-up takes links that were clicked',
    file: 'db/links/unsent.ts',
    from: 'and not exists (select from link_clicks c where c.token = l.token)',
    to: '',
    tests: TESTS,
  },
  {
    name: 'retention leaves texts',
    file: 'db/maintenance/retention.ts',
    from: "set recipient = e.recipient, text = '', content = null, erased_at",
    to: 'set recipient = e.recipient, erased_at',
    tests: TESTS,
  },
  {
    name: 'retention leaves what requests were answered',
    file: 'db/maintenance/retention.ts',
    from: 'await eraseAnswers(',
    to: 'await (async (..._: unknown[]) => {})(',
    tests: TESTS,
  },
  {
    name: 'retention leaves what replies said as they came',
    file: 'db/maintenance/retention.ts',
    from: "set sender = e.sender, received_text = '', text",
    to: 'set sender = e.sender, text',
    tests: TESTS,
  },
  {
    name: 'retention leaves the ids that routes gave replies',
    file: 'db/maintenance/retention.ts',
    from: 'erased_at = now(),\n             provider_reference = ${ERASED_REFERENCE} || i.id',
    to: 'erased_at = now()',
    tests: TESTS,
  },
  {
    name: 'retention leaves the networks of clicks',
    file: 'db/maintenance/retention.ts',
    from: 'set user_agent = null, ip_hash = null',
    to: 'set user_agent = null',
    tests: TESTS,
  },
  {
    name: 'retention takes the number of a message that has not ended',
    file: 'db/maintenance/retention.ts',
    from: 'and ${isDecided(sql)} and not ${isOpen(sql)} and',
    to: 'and ${isDecided(sql)} and',
    tests: ['test/admin/erase.test.ts'],
  },
  {
    name: 'a workflow that is lost is started again four times',
    file: 'activities/reconciliation/repairs.ts',
    from: 'const REPAIRS_MAX = 3;',
    to: 'const REPAIRS_MAX = 4;',
    tests: ['test/workflows/reconciliation.test.ts'],
    only: 'lost for the fourth time',
  },
  {
    name: 'an erasure reads all reports for those of the other id',
    file: 'db/maintenance/retention.ts',
    from: 'd.alternative_id = p.provider_message_id',
    to: "coalesce(d.alternative_id, '') = p.provider_message_id",
    tests: ['test/db/erasureReads.deep.test.ts'],
  },
];

/** Every statement of an erasure, left out. */
export function notErased(): Change[] {
  const source = readFileSync(ERASURE, 'utf8');
  const statements = source.split(ONE_LINE).length - 1;
  return Array.from({ length: statements }, (_, index) => ({
    ...{ name: `left by an erasure: ${index + 1}`, file: ERASURE, from: ONE_LINE, at: index + 1 },
    to: 'if (Date.now() < 0) await tx`',
    tests: ['test/admin/erase.test.ts', 'test/admin/erasedPerson.deep.test.ts'],
  }));
}

function kept(from: string, to: string): Change[] {
  return [{ name: `clean-up: ${to}`, file: 'db/maintenance/cleanUp.ts', from, to, tests: TESTS }];
}
