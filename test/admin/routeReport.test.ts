import { expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { routeLine } from './routeLine.ts';
import { listIn } from './support.ts';

const { ok, no, sql, file, smpp, lastAudit, account } = routeLine();

const DAY_S = 86_400;

interface Given {
  secondsAgo: number;
  state?: string;
  code?: string;
  /** Seconds from the submit to the report. */
  reported?: number;
  as?: string;
  /** The network's code. */
  networkCode?: string;
}

/** A message of one part that the route was given, as the pipeline leaves it. */
async function given(route: string, one: Given): Promise<void> {
  const {
    secondsAgo,
    state = 'accepted',
    code = null,
    reported = null,
    as = 'delivered',
    networkCode = null,
  } = one;
  const id = newId('msg');
  const at = new Date(Date.now() - secondsAgo * 1000);
  const reportedAt = reported === null ? null : new Date(at.getTime() + reported * 1000);
  await sql()`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route, created_at)
    values (${id}, ${owner}, 'r', 'sent', 'queued', '+48500100200', 'x', 1, 10, now(), ${route}, ${at})`;
  await sql()`
    insert into message_parts (message_id, part, state, route, submitted_at, answer_code, report_state, reported_at)
    values (${id}, 1, ${state}, ${route}, ${at}, ${code}, ${reportedAt === null ? null : as}, ${reportedAt})`;
  if (reportedAt !== null)
    await sql()`
      insert into delivery_reports (route, provider_message_id, state, error_code, received_at, applied_at)
      values (${route}, ${id}, ${as}, ${networkCode}, ${reportedAt}, ${reportedAt})`;
}
let owner: string;

test('routes report: rate used, delivery and its time against a week before, errors by code', async () => {
  await smpp('reported', '--rate', '1');
  owner = await account();
  for (let part = 0; part < 30; part += 1)
    await given('reported', { secondsAgo: 5, state: 'refused', code: '0x0000000b' });
  await given('reported', { secondsAgo: 3600, reported: 4 });
  await given('reported', { secondsAgo: 3600, reported: 6 });
  await given('reported', { secondsAgo: 7200, reported: 60, as: 'undelivered', networkCode: '027' });
  await given('reported', { secondsAgo: 7200 });
  await given('reported', { secondsAgo: 7200, state: 'unanswered' });
  await given('simulator', { secondsAgo: 3600, reported: 900 });
  await given('reported', { secondsAgo: 7 * DAY_S + 3600, reported: 2 });
  // Then its report was not there yet.
  await given('reported', { secondsAgo: 7 * DAY_S + 60, reported: 300 });
  await given('reported', { secondsAgo: 2 * DAY_S, reported: 500, as: 'rejected', networkCode: '099' });

  const report = await ok('routes', 'report', 'reported');
  expect(report).toMatchObject({ name: 'reported', rate_per_second: 1, last_minute: 30, used_percent: 50 });
  expect(report['days']).toEqual([
    {
      day: 'last 24 hours',
      submitted: 4,
      delivered: 2,
      delivered_percent: 50,
      median_seconds: 5,
      p95_seconds: 5.9,
    },
    {
      day: 'a week before',
      submitted: 2,
      delivered: 1,
      delivered_percent: 50,
      median_seconds: 2,
      p95_seconds: 2,
    },
  ]);
  expect(listIn(report, 'errors')).toMatchObject([
    { at: 'submit', outcome: 'refused', code: '0x0000000b', count: 30 },
    { at: 'report', outcome: 'undelivered', code: '027', count: 1 },
    { at: 'submit', outcome: 'unanswered', code: null, count: 1 },
  ]);
  expect(await lastAudit()).toMatchObject({ action: 'routes report', subject: 'reported' });
  expect((await no('routes', 'report', 'nowhere')).code).toBe('not_found');
});

test('routes report counts e-mails too, which have no time of delivery', async () => {
  await ok(
    ...['routes', 'add', '--name', 'relay', '--kind', 'smtp', '--host', 'relay.example'],
    ...['--mail-host', 'mail.example.pl', '--credentials', file('{}')],
  );
  const owner = await account();
  const email = (status: string, code: string | null) => sql()`
    insert into emails (id, account_id, request_id, interface, status, submission, route, domain, from_address, subject, cost_grosze,
                        give_up_at, sent_at, error_code)
    values (${newId('em')}, ${owner}, 'r', 'v1', ${status}, 'answered', 'relay', 'a.example', 'a@a.example', 'x', 1, now(), now(), ${code})`;
  await email('delivered', null);
  await email('bounced', 'invalid_address');
  const report = await ok('routes', 'report', 'relay');
  expect(report).toMatchObject({ rate_per_second: null, used_percent: null });
  expect(listIn(report, 'days')[0]).toMatchObject({ submitted: 2, delivered: 1, median_seconds: null });
  expect(listIn(report, 'errors')).toMatchObject([
    { at: 'email', outcome: 'bounced', code: 'invalid_address' },
  ]);
});
