import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { type Answer, commandLine, listIn, noTools, ownDatabase } from './support.ts';

const database = ownDatabase();
const { ok, run } = commandLine(database.url);
const sql = () => database.sql();

const sum = (rows: Answer[], name: string): number => rows.reduce((all, row) => all + Number(row[name]), 0);
const greatest = (rows: Answer[], name: string): number => Math.max(...rows.map((row) => Number(row[name])));

async function message(columns: Record<string, string | number | Date>): Promise<string> {
  const id = newId('msg');
  const row = {
    ...{ id, request_id: 'r', status: 'queued', accepted_as: 'queued', recipient: '+48500100200', text: 'x' },
    ...{ parts: 1, cost_grosze: 10, give_up_at: new Date(), route: 'simulator' },
  };
  await sql()`insert into messages ${sql()({ ...row, ...columns })}`;
  return id;
}

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

describe('now', () => {
  test('counts the last hour by the minute, and what waits', async () => {
    const account_id = await database.account();
    const sent = await message({ account_id, parts: 2, status: 'sent', created_at: ago(90) });
    await message({ account_id, status: 'rejected', accepted_as: 'rejected' });
    await message({ account_id, created_at: ago(300) });
    await message({ account_id, submission: 'unanswered', updated_at: ago(600) });
    await message({ account_id, status: 'scheduled', accepted_as: 'scheduled', send_at: ago(120) });
    await sql()`
      insert into message_parts (message_id, part, state, route, submitted_at)
      values (${sent}, 1, 'accepted', 'simulator', ${ago(60)}), (${sent}, 2, 'refused', 'simulator', ${ago(60)})`;
    for (const [state, applied] of [
      ['delivered', ago(30)],
      ['expired', ago(30)],
      ['delivered', null],
    ] as const)
      await sql()`
        insert into delivery_reports (route, provider_message_id, state, received_at, applied_at)
        values ('simulator', 'p', ${state}, ${ago(30)}, ${applied})`;
    const event = newId('evt');
    await sql()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, created_at)
      values (${event}, ${account_id}, 'message', ${sent}, 'message.sent', '{}', ${ago(20)})`;
    await sql()`
      insert into webhook_attempts (event_id, attempt, url, at, duration_ms, status_code)
      values (${event}, 1, 'https://a.example', ${ago(15)}, 5, 500), (${event}, 2, 'https://a.example', ${ago(10)}, 5, null)`;

    const answer = await ok('now');
    const minutes = listIn(answer, 'minutes');
    expect(minutes).toHaveLength(60);
    expect(Date.parse(String(minutes[59]!['minute']))).toBeGreaterThan(Date.now() - 65_000);
    const totals = ['accepted', 'submitted', 'delivered', 'failed', 'webhook_attempts', 'webhook_failures'];
    expect(Object.fromEntries(totals.map((name) => [name, sum(minutes, name)]))).toEqual({
      ...{ accepted: 5, submitted: 2, delivered: 1, failed: 2, webhook_attempts: 2, webhook_failures: 2 },
    });
    expect(greatest(minutes, 'wait_seconds')).toBeCloseTo(30, 0);
    expect(greatest(minutes, 'webhook_lag_seconds')).toBeCloseTo(5, 0);
    const waiting = Object.fromEntries(
      listIn(answer, 'waiting').map(({ what, count }) => [String(what), count]),
    );
    expect(waiting).toEqual({
      ...{ not_started: 0, overdue: 1, queued: 1, unanswered: 1, email_queued: 0, webhook: 1 },
    });
    const queued = listIn(answer, 'waiting').find(({ what }) => what === 'queued');
    expect(Date.now() - Date.parse(String(queued!['since']))).toBeGreaterThanOrEqual(300_000);
  });

  test('says which route is behind with what wakes in a day, and until when', async () => {
    const account_id = await database.account();
    await sql()`insert into routes (name, kind, rate_per_second) values ('slow', 'smpp', 1)`;
    const wakes = { account_id, status: 'scheduled', accepted_as: 'scheduled' };
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
    for (let big = 0; big < 2; big += 1)
      await message({ ...wakes, send_at: inHours(1.5), parts: 3000, route: 'slow' });
    await message({ ...wakes, send_at: inHours(5.5), parts: 4, route: 'slow' });
    await message({ ...wakes, send_at: inHours(5.5), parts: 9000, route: 'simulator' });
    await message({ ...wakes, send_at: inHours(25), route: 'slow' });
    const waking = listIn(await ok('now'), 'waking').map(({ from: _, ...hour }) => hour);
    expect(waking).toEqual([
      { route: 'simulator', messages: 1, parts: 9000, behind: null },
      { route: 'slow', messages: 2, parts: 6000, behind: 2400 },
      { route: 'slow', messages: 1, parts: 4, behind: 0 },
    ]);
    expect((await run('now')).out).toContain('More wakes within an hour than the rate allows: slow.');
  });
});

describe('alerts', () => {
  /** As Prometheus 2.42 answers. */
  const ANSWER = {
    status: 'success',
    data: {
      groups: [
        {
          ...{ name: 'goniec-processes', file: '/etc/prometheus/alerts.yml', interval: 15, limit: 0 },
          rules: [
            rule('GoniecDatabaseDown', 'inactive', []),
            rule('GoniecWorkersMissing', 'pending', [active('pending', 'No worker answers')]),
            rule('GoniecProcessDown', 'firing', [
              active('firing', 'goniec-api on a:1\u001b[2J does not answer'),
            ]),
          ],
        },
      ],
    },
  };

  function rule(name: string, state: string, alerts: object[]) {
    const labels = { severity: 'page' };
    return {
      state,
      name,
      query: 'up == 0',
      duration: 60,
      labels,
      annotations: {},
      alerts,
      health: 'ok',
      type: 'alerting',
    };
  }
  function active(state: string, summary: string) {
    return {
      labels: {},
      annotations: { summary },
      state,
      activeAt: '2026-11-29T05:00:00.123456789Z',
      value: '0e+00',
    };
  }

  /** The command line beside a Prometheus that answers so. */
  async function beside(status: number, body: string) {
    const asked: string[] = [];
    const server = createServer(({ url }, response) => {
      asked.push(String(url));
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const line = commandLine(database.url, () => ({
      ...noTools(),
      prometheusUrl: () => Promise.resolve(url),
    }));
    return { ...line, asked };
  }

  test('lists what Prometheus says, what fires first', async () => {
    const { ok, run, asked } = await beside(200, JSON.stringify(ANSWER));
    const alerts = listIn(await ok('alerts'));
    expect(alerts).toMatchObject([
      { name: 'GoniecProcessDown', state: 'firing', severity: 'page', since: '2026-11-29T05:00:00.123Z' },
      { name: 'GoniecWorkersMissing', state: 'pending', summary: 'No worker answers' },
      { name: 'GoniecDatabaseDown', state: 'inactive', since: null, summary: '', health: 'ok' },
    ]);
    expect(asked).toEqual(['/api/v1/rules?type=alert']);
    expect((await run('alerts')).out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  test.each([
    ['an error', 503, '{}', '503'],
    ['no JSON', 200, '<html>', 'unreadable'],
    ['another shape', 200, '{"status":"success","data":{"groups":[{}]}}', 'unreadable'],
    ['too much', 200, JSON.stringify({ ...ANSWER, more: 'x'.repeat(300_000) }), 'unreadable'],
  ])('says that it could not be asked: %s', async (_, status, body, problem) => {
    const { run } = await beside(status, body);
    expect((await run('alerts')).out).toContain(`Prometheus could not be asked (${problem}).`);
  });

  test('says where the setting is missing', async () => {
    expect((await run('alerts')).out).toContain('PROMETHEUS_URL is not set.');
  });
});
