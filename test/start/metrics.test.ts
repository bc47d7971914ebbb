import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { type RunningMetrics, startMetrics } from '../../bin/metrics.ts';
import { storeEmailEvents } from '../../db/emails/events.ts';
import { newId } from '../../db/ids.ts';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
import { reportRoutes } from '../../db/routes/routes.ts';
import { routeLine } from '../admin/routeLine.ts';
import { takenPort } from './support.ts';

const { ok, sql, smpp, file, seen, url } = routeLine();

let running: RunningMetrics | undefined;
const errors: unknown[] = [];
afterEach(async () => {
  await running?.stop();
  running = undefined;
  errors.length = 0;
});

async function metricsOf(databaseUrl: string): Promise<RunningMetrics> {
  running = await startMetrics({
    ...{ databaseUrl, host: '127.0.0.1', port: 0 },
    onError: (error) => errors.push(error),
  });
  return running;
}

/** A server that takes connections and says nothing. */
async function silentDatabase(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `postgres://u:hush@127.0.0.1:${(server.address() as AddressInfo).port}/d`;
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Reads Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/), strictly. */
function parse(text: string): { samples: Sample[]; types: Map<string, string> } {
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment?.[1] === 'HELP') helps.add(comment[2]!);
    else if (comment?.[1] === 'TYPE') {
      expect(types.has(comment[2]!)).toBe(false);
      types.set(comment[2]!, comment[3]!);
    } else {
      const [, name, list = '', value] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line)!;
      const labels = [...list.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/gi)];
      samples.push({
        name: name!,
        labels: Object.fromEntries(labels.map(([, label, content]) => [label!, content!])),
        value: Number(value),
      });
    }
  }
  for (const name of types.keys()) expect(helps).toContain(name);
  return { samples, types };
}

async function scrape({ port }: RunningMetrics) {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const { samples, types } = parse(await response.text());
  const values = (name: string, labels: Record<string, string>): number[] =>
    samples
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
      .map(({ value }) => value);
  return { samples, types, values };
}

async function addMessage(account: string, route: string, submission: string): Promise<void> {
  const id = newId('msg');
  await sql()`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, route,
                          submission, give_up_at)
    values (${id}, ${account}, ${id}, 'queued', 'queued', '+48500100200', 'tekst', 1, 15, ${route}, ${submission},
            now() + interval '1 hour')`;
}

test('the scraped text follows what happens on the routes, and tells nothing about people', async () => {
  const metrics = await metricsOf(url());
  await smpp('measured', '--rate', '50');
  const before = await scrape(metrics);
  const route = { route: 'measured', kind: 'smpp' };
  expect(before.values('goniec_route_up', route)).toEqual([0]);
  expect(before.values('goniec_route_sessions', route)).toEqual([]);
  expect(before.values('goniec_route_seconds_since_last_report', route)).toEqual([]);
  expect(before.values('goniec_route_rate_limit_parts_per_second', route)).toEqual([50]);
  expect(before.values('goniec_route_rate_limit_parts_per_second', { route: 'simulator' })).toEqual([]);
  expect(before.values('goniec_database_up', {})).toEqual([1]);

  const account = String((await ok('accounts', 'create', '--name', 'Kwiaciarnia'))['id']);
  for (const submission of ['waiting', 'submitting', 'unanswered'])
    await addMessage(account, 'measured', submission);
  await seen('measured', 'host "1"\n', {
    sessions: 2,
    sessions_wanted: 3,
    window_size: 20,
    in_flight: 4,
    submitted: 70,
  });
  await seen('measured', 'host2', {
    submitted: 30,
    throttled: 5,
    refused: 6,
    unanswered: 7,
    held: 9,
    failures: 8,
  });
  await sql()`update route_states set reported_at = now() - interval '90 seconds' where route = 'measured'`;
  await ok('routes', 'drain', 'measured');

  const after = await scrape(metrics);
  expect(after.values('goniec_route_up', route)).toEqual([1]);
  expect(after.values('goniec_route_state', { ...route, state: 'draining' })).toEqual([1]);
  expect(after.values('goniec_route_state', { ...route, state: 'active' })).toEqual([0]);
  expect(after.values('goniec_route_queue_messages', route)).toEqual([2]);
  expect(after.values('goniec_route_unanswered_messages', route)).toEqual([1]);
  expect(after.values('goniec_route_seconds_since_last_report', route)[0]).toBeGreaterThanOrEqual(90);
  expect(after.values('goniec_route_seconds_since_last_report', route)[0]).toBeLessThan(120);
  const one = { ...route, worker: 'host \\"1\\"\\n' };
  expect(after.values('goniec_route_sessions', one)).toEqual([2]);
  expect(after.values('goniec_route_sessions_wanted', one)).toEqual([3]);
  expect(after.values('goniec_route_window_parts', one)).toEqual([20]);
  expect(after.values('goniec_route_in_flight_parts', one)).toEqual([4]);
  expect(after.values('goniec_route_submitted_parts_total', route).sort()).toEqual([30, 70]);
  const two = { ...route, worker: 'host2' };
  expect(after.values('goniec_route_throttled_parts_total', two)).toEqual([5]);
  expect(after.values('goniec_route_refused_parts_total', two)).toEqual([6]);
  expect(after.values('goniec_route_unanswered_parts_total', two)).toEqual([7]);
  expect(after.values('goniec_route_held_parts_total', two)).toEqual([9]);
  expect(after.values('goniec_route_connection_failures_total', two)).toEqual([8]);
  for (const [name, type] of after.types) if (/^goniec_.*_total$/.test(name)) expect(type).toBe('counter');
  expect(after.values('process_resident_memory_bytes', {})[0]).toBeGreaterThan(1_000_000);

  const labels = new Set(
    after.samples
      .filter(({ name }) => name.startsWith('goniec_'))
      .flatMap((sample) => Object.keys(sample.labels)),
  );
  expect([...labels].sort()).toEqual(['kind', 'route', 'state', 'worker']);
  expect(JSON.stringify(after.samples)).not.toMatch(/500100200|tekst|cl_|msg_|smsc\.example/);

  await sql()`update route_workers set seen_at = now() - interval '1 minute' where worker = 'host2'`;
  await sql()`update route_states set working_at = now() - interval '1 minute' where route = 'measured'`;
  const later = await scrape(metrics);
  expect(later.values('goniec_route_sessions', two)).toEqual([]);
  expect(later.values('goniec_route_up', route)).toEqual([0]);
  expect(errors).toEqual([]);
});

test('regular work shows how long it has not succeeded, and how often it is to run', async () => {
  const metrics = await metricsOf(url());
  await sql()`delete from regular_work`;
  expect((await scrape(metrics)).values('goniec_regular_work_seconds_since_success', {})).toEqual([]);
  await sql()`
    insert into regular_work (activity, schedule, interval_seconds, succeeded_at)
    values ('deleteLeftovers', 'clean-up', 3600, now() - interval '3 hours'),
           ('reconcileLedgers', 'reconciliation', 600, now() + interval '1 minute')`;
  const { values } = await scrape(metrics);
  const cleanUp = { schedule: 'clean-up', activity: 'deleteLeftovers' };
  const [since] = values('goniec_regular_work_seconds_since_success', cleanUp);
  expect(since).toBeGreaterThanOrEqual(10_800);
  expect(since).toBeLessThan(10_860);
  expect(values('goniec_regular_work_interval_seconds', cleanUp)).toEqual([3_600]);
  expect(values('goniec_regular_work_seconds_since_success', { schedule: 'reconciliation' })).toEqual([0]);
});

/** Has a worker report that a route has taken so many parts. */
async function submitting(route: string, submitted: number): Promise<void> {
  await reportRoutes(sql(), 'host', [
    {
      ...{ route, working: true, sessions: 1, sessionsWanted: 1, window: 10, inFlight: 0, submitted },
      ...{
        throttled: 0,
        refused: 0,
        unanswered: 0,
        held: 0,
        failures: 0,
        lastError: null,
        lastErrorAt: null,
      },
    },
  ]);
}

const sinceReport = async (metrics: RunningMetrics, route: string): Promise<number[]> =>
  (await scrape(metrics)).values('goniec_route_seconds_since_last_report', { route });

test('a route whose reports never came is measured from its first submit', async () => {
  const metrics = await metricsOf(url());
  await smpp('deaf');
  await submitting('deaf', 0);
  expect(await sinceReport(metrics, 'deaf')).toEqual([]);
  await submitting('deaf', 1);
  await sql()`update route_states set submitting_since = now() - interval '20 minutes' where route = 'deaf'`;
  await submitting('deaf', 40);
  const [silent] = await sinceReport(metrics, 'deaf');
  expect(silent).toBeGreaterThanOrEqual(1_200);
  await storeReports(sql(), 'deaf', [
    { ...{ providerMessageId: 'a', reference: null }, ...{ state: 'delivered', errorCode: null } },
  ]);
  const [reported] = await sinceReport(metrics, 'deaf');
  expect(reported).toBeLessThan(1_200);
});

test('events of e-mails are reports of their route, but a relay that reports bounces alone is never silent', async () => {
  const metrics = await metricsOf(url());
  await ok(
    'routes',
    'add',
    '--name',
    'mails',
    '--kind',
    'resend',
    '--credentials',
    file('re_key-of-the-team'),
  );
  await ok(
    ...['routes', 'add', '--name', 'relay', '--kind', 'smtp', '--host', 'relay.example'],
    ...['--mail-host', 'mail.example.pl', '--credentials', file('{}')],
  );
  for (const route of ['mails', 'relay']) {
    await submitting(route, 40);
    await sql()`update route_states set submitting_since = now() - interval '20 minutes' where route = ${route}`;
  }
  expect((await sinceReport(metrics, 'mails'))[0]).toBeGreaterThanOrEqual(1_200);
  expect(await sinceReport(metrics, 'relay')).toEqual([]);
  for (const route of ['mails', 'relay']) {
    await storeEmailEvents(sql(), route, []);
    expect(await ok('routes', 'show', route)).toMatchObject({ reported_at: null });
    await storeEmailEvents(sql(), route, [
      {
        ...{ eventId: newId('evt'), emailId: newId('em'), providerEmailId: null, kind: 'bounced' },
        ...{ permanent: true, addresses: [], at: new Date(), payload: {} },
      },
    ]);
    expect(await ok('routes', 'show', route)).toMatchObject({ reported_at: expect.any(String) as string });
  }
  expect((await sinceReport(metrics, 'mails'))[0]).toBeLessThan(1_200);
  expect(await sinceReport(metrics, 'relay')).toEqual([]);
});

test.each(['refuses connections', 'never answers'])('with a database that %s it goes on', async (what) => {
  const metrics = await metricsOf(
    what === 'never answers' ? await silentDatabase() : 'postgres://u:hush@127.0.0.1:1/d',
  );
  const { values } = await scrape(metrics);
  expect(values('goniec_database_up', {})).toEqual([0]);
  expect(values('goniec_route_up', {})).toEqual([]);
  expect(values('process_cpu_seconds_total', {})).toHaveLength(1);
  expect(errors).toHaveLength(1);
  expect(String(errors[0])).not.toContain('hush');
});

test('where the queues cannot be counted in time, all else is there, and the database is up', async () => {
  const metrics = await metricsOf(url());
  await smpp('crowded');
  await sql()`insert into findings (kind, subject, state) values ('ledger_differs', 'cl_1', 'open')`;
  await sql().begin(async (tx) => {
    await tx`lock table messages in access exclusive mode`;
    const { values } = await scrape(metrics);
    expect(values('goniec_database_up', {})).toEqual([1]);
    expect(values('goniec_route_up', { route: 'crowded' })).toEqual([0]);
    expect(values('goniec_findings_open', { kind: 'ledger_differs' })).toEqual([1]);
    expect(values('goniec_route_queue_messages', {})).toEqual([]);
    expect(values('goniec_route_unanswered_messages', {})).toEqual([]);
    expect(errors).toHaveLength(1);
  });
  expect((await scrape(metrics)).values('goniec_route_queue_messages', { route: 'crowded' })).toEqual([0]);
});

test('serves nothing else', async () => {
  const { port } = await metricsOf(url());
  for (const [method, path, status] of [
    ['GET', '/', 404],
    ['GET', '/metrics/../etc/passwd', 404],
    ['POST', '/metrics', 405],
    ['GET', '/metrics?x=1', 200],
    ['GET', `/${'x'.repeat(20_000)}`, 431],
  ] as const) {
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request({ port, method, path, host: '127.0.0.1' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject);
      asked.end();
    });
    expect({ path: path.slice(0, 30), answered }).toEqual({ path: path.slice(0, 30), answered: status });
  }
});

test('a taken port is told by the name of its setting', async () => {
  const port = await takenPort();
  await expect(
    startMetrics({ databaseUrl: url(), host: '127.0.0.1', port, onError: (error) => errors.push(error) }),
  ).rejects.toThrow(/METRICS_PORT/);
});
