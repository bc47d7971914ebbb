import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import type { DomainsLookedAt } from '../../workflows/contracts.ts';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { commandLine, noTools } from '../admin/support.ts';
import { type DnsServer, startDnsServer } from '../support/dnsServer.ts';
import { setRecords, type ShownDomain } from '../support/senderDomains.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { pauseSchedule, type Pipeline, startPipeline, WEBHOOK_SECRET } from './pipeline.ts';
import { findingsOf, reconcileOnce } from './reconciling.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
let dns: DnsServer;
let receiver: WebhookReceiver;
const key = randomBytes(32);
let temporalIsAway = false;
const { ok } = commandLine(
  () => pipeline.databaseUrl,
  () => ({
    ...noTools(),
    secretsKey: () => Promise.resolve(key),
    dnsServers: () => Promise.resolve([dns.address]),
    temporal: () =>
      temporalIsAway ? Promise.reject(new Error('it is away')) : Promise.resolve(pipeline.client),
  }),
);

beforeAll(async () => {
  dns = await startDnsServer();
  receiver = await startReceiver();
  receiver.useSecret(WEBHOOK_SECRET);
  pipeline = await startPipeline('real', { DNS_SERVERS: [dns.address] });
  await pauseSchedule(pipeline.client);
  await pauseSchedule(pipeline.client, 'sender-domains');
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
  await dns?.close();
});

let made = 0;
async function added(account?: string): Promise<{ account: string; name: string; domain: ShownDomain }> {
  const owner = account ?? (await pipeline.account({ webhookUrl: receiver.url }));
  const name = `sklep${(made += 1)}.example`;
  const domain = await ok('domains', 'add', '--account', owner, '--name', name);
  return { account: owner, name, domain: domain as unknown as ShownDomain };
}

/** One run of the schedule, in which every domain is due. */
async function runOnce(): Promise<DomainsLookedAt> {
  await pipeline.sql`update sender_domains set checked_at = checked_at - interval '2 days'`;
  await pipeline.sql`update sender_domain_routes set missing_since = missing_since - interval '10 minutes'`;
  const looked: unknown = await pipeline.client.workflow.execute('senderDomains', {
    workflowId: newId('req'),
    taskQueue: MESSAGES_QUEUE,
  });
  return looked as DomainsLookedAt;
}

/** What the receiver was notified of about a domain. */
async function notified(id: string, count: number) {
  const of = () => receiver.calls.filter(({ event }) => domainIn(event)['id'] === id);
  await receiver.until(() => of().length >= count);
  return of().map(({ event, verified }): Record<string, unknown> => ({
    ...{ type: event.type, verified },
    ...domainIn(event),
  }));
}

const domainIn = ({ data }: { data: unknown }) => (data as { domain: Record<string, unknown> }).domain;

test('a run verifies a domain, loses it when its records are gone twice, and notices when they are back', async () => {
  const { name, domain } = await added();
  expect(await runOnce()).toMatchObject({ looked: 1, verified: 0, lost: 0 });
  setRecords(dns, domain.records);
  expect(await runOnce()).toEqual({ looked: 1, verified: 1, lost: 0 });
  const seen = domain.records.map((record) => ({ ...record, seen: true }));
  const first = { type: 'domain.verified', verified: true, id: domain.id, name, status: 'verified' };
  expect(await notified(domain.id, 1)).toEqual([{ ...first, is_default: true, records: seen }]);

  const before = dns.zone.get(`send.${name}`)!;
  dns.zone.set(`send.${name}`, 'nxdomain');
  expect(await runOnce()).toMatchObject({ lost: 0 });
  expect(await runOnce()).toMatchObject({ lost: 1 });
  expect(await findingsOf(pipeline, domain.id)).toMatchObject([{ kind: 'domain_lost', state: 'open' }]);
  const [, lost] = await notified(domain.id, 2);
  expect(lost).toMatchObject({ type: 'domain.lost', verified: true, status: 'lost', is_default: true });

  dns.zone.set(`send.${name}`, before);
  expect(await runOnce()).toMatchObject({ verified: 1 });
  expect(await notified(domain.id, 3)).toMatchObject([{}, {}, { type: 'domain.verified', verified: true }]);
  expect(await findingsOf(pipeline, domain.id)).toMatchObject([{ kind: 'domain_lost', state: 'gone' }]);
});

test('a DNS that says nothing, and settings that cannot be used, keep no other domain waiting', async () => {
  const silent = await Promise.all(Array.from({ length: 8 }, () => added()));
  for (const { domain } of silent) {
    for (const { name } of domain.records) dns.zone.set(name, 'silence');
  }
  const good = await added();
  setRecords(dns, good.domain.records);
  await pipeline.sql`insert into routes (name, kind, settings) values ('odd', 'simulator', '{"callingHours": 5}')`;
  await runOnce();
  expect(await notified(good.domain.id, 1)).toMatchObject([{ type: 'domain.verified' }]);
  const rows = await pipeline.sql<{ route: string; problem: string | null }[]>`
    select route, problem from sender_domain_routes where domain_id = ${silent[1]!.domain.id} order by route`;
  expect(rows).toMatchObject([
    { route: 'odd', problem: 'the route’s settings or credentials cannot be used' },
    { route: 'simulator', problem: expect.stringContaining('DNS gives no answer') as string },
  ]);
  await pipeline.sql`update routes set state = 'disabled' where name = 'odd'`;
  await pipeline.sql`delete from sender_domains where id = any(${silent.map(({ domain }) => domain.id)})`;
});

test('what staff change notifies the account, also where the command line reaches no Temporal', async () => {
  const { account, name, domain } = await added();
  await ok('domains', 'confirm', '--account', account, '--name', name);
  expect(await notified(domain.id, 1)).toMatchObject([{ type: 'domain.verified', verified: true }]);

  const other = await added();
  temporalIsAway = true;
  await ok('domains', 'confirm', '--account', other.account, '--name', other.name);
  temporalIsAway = false;
  expect(await notified(other.domain.id, 1)).toMatchObject([{ type: 'domain.verified' }]);
  await until('it is delivered', async () => {
    const [event] =
      await pipeline.sql`select state from webhook_events where subject_id = ${other.domain.id}`;
    return event?.['state'] === 'delivered';
  });
  expect(await reconcileOnce(pipeline)).toMatchObject({ repaired: 0 });
});
