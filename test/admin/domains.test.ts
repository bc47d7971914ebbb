import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { dueDomains } from '../../db/emails/domains.ts';
import { listFindings } from '../../db/maintenance/findings.ts';
import type * as registry from '../../providers/registry.ts';
import { list, prove } from '../providers/listedKind.ts';
import { type DnsServer, startDnsServer } from '../support/dnsServer.ts';
import { setRecords, type ShownDomain, signingKeyOf, usableDomain } from '../support/senderDomains.ts';
import { commandLine, noTools, ownDatabase } from './support.ts';

vi.mock('../../providers/registry.ts', async (original) => {
  const { providerKinds } = await original<typeof registry>();
  const { createRegistry } = await import('../../providers/kindRegistry.ts');
  const { listed } = await import('../providers/listedKind.ts');
  return { providerKinds: createRegistry([...providerKinds.all, listed]) };
});

const database = ownDatabase();
const key = randomBytes(32);
let dns: DnsServer;
const { run, ok, no } = commandLine(database.url, () => ({
  ...noTools(),
  secretsKey: () => Promise.resolve(key),
  dnsServers: () => Promise.resolve([dns.address]),
}));

beforeAll(async () => {
  dns = await startDnsServer();
  await database.sql()`insert into routes (name, kind) values ('simulator', 'simulator') on conflict do nothing`;
});
afterAll(() => dns?.close());

let made = 0;
const newName = (): string => `sklep${(made += 1)}.example`;

type Word = 'add' | 'check' | 'confirm' | 'default' | 'remove';
const line = (word: Word, account: string, name: string) => [
  ...['domains', word, '--account', account, '--name', name],
];
const ask = async (word: Word, account: string, name: string) =>
  (await ok(...line(word, account, name))) as unknown as ShownDomain;
const refusal = (word: Word, account: string, name: string) => no(...line(word, account, name));

async function added(): Promise<{ account: string; name: string; domain: ShownDomain }> {
  const account = await database.account();
  const name = newName();
  return { account, name, domain: await ask('add', account, name) };
}

async function verified() {
  const one = await added();
  setRecords(dns, one.domain.records);
  expect(await ask('check', one.account, one.name)).toMatchObject({ status: 'verified' });
  return one;
}

const age = (id: string, days: number) =>
  database.sql()`update sender_domains set created_at = now() - make_interval(secs => ${days * 86_400}::float8) where id = ${id}`;
const missLongAgo = (id: string) =>
  database.sql()`
    update sender_domain_routes set missing_since = missing_since - interval '10 minutes' where domain_id = ${id}`;
const findings = async (id: string) =>
  (await listFindings(database.sql(), { account: null, state: null }, 1000))
    .filter(({ subject }) => subject === id)
    .map(({ kind, state }) => ({ kind, state }));

describe('a sender domain', () => {
  it('is added with a key of its own, and shown with its records', async () => {
    const account = await database.account();
    const domain = await ask('add', account, 'ŻÓŁW.Example');
    const name = 'xn--w-uga1v8h.example';
    expect(domain).toMatchObject({ name, status: 'pending', is_default: false });
    const selector = `goniec-${domain.id.slice(-8)}`;
    const { privateKey, ...rest } = (await signingKeyOf(database.sql(), key, account, name))!;
    expect(rest).toEqual({ name, selector });
    expect(createPrivateKey(privateKey).asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
    const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
    const records = [
      {
        ...{ type: 'TXT', name: `${selector}._domainkey.${name}`, value: `v=DKIM1; k=rsa; p=${publicKey}` },
        ...{ priority: null, purpose: 'dkim', seen: false },
      },
      {
        ...{ type: 'TXT', name: `send.${name}`, value: 'v=spf1 a:mail.simulator.invalid ~all' },
        ...{ priority: null, purpose: 'spf', seen: false },
      },
      {
        ...{ type: 'MX', name: `send.${name}`, value: 'mail.simulator.invalid' },
        ...{ priority: 10, purpose: 'return_path', seen: false },
      },
    ];
    expect(domain.records).toEqual(records);
    expect(domain.routes).toMatchObject([{ route: 'simulator', verified: false, problem: null, records }]);
    const listed = await ok('domains', 'list', '--account', account);
    const inList: Partial<ShownDomain> = { ...domain };
    delete inList.records;
    expect(listed).toEqual({ data: [inList] });
    const { out } = await run(...line('check', account, name));
    expect(out).toContain('mail.simulator.invalid');
    expect(out).not.toContain('[object');
    const audit = await database.sql()`
      select action, subject, details from audit_log where account_id = ${account} order by id`;
    expect(audit).toMatchObject([
      { action: 'domains add', subject: domain.id, details: { name } },
      { action: 'domains list' },
      { action: 'domains check', subject: domain.id, details: { status: 'pending' } },
    ]);
    expect(JSON.stringify(await database.sql()`select * from audit_log`)).not.toContain('PRIVATE');
  });

  it('is refused to an account that has it, has 100, is closed or is none', async () => {
    const { account, name } = await added();
    expect((await refusal('add', account, name.toUpperCase())).message).toContain('has this sender domain');
    const sql = database.sql();
    await sql`
      insert into sender_domains (id, account_id, name, dkim_selector, dkim_public_key, dkim_private_key)
      select 'dom_many' || n, ${account}, 'many' || n || '.example', 's', 'p', '' from generate_series(2, 100) n`;
    expect((await refusal('add', account, newName())).message).toContain('100 sender domains already');
    await ask('remove', account, name);
    await ask('add', account, newName());
    await sql`delete from sender_domains where id like 'dom_many%'`;
    await sql`update accounts set status = 'closed' where id = ${account}`;
    expect((await refusal('add', account, newName())).message).toContain('closed');
    expect((await refusal('add', 'cl_none', newName())).code).toBe('not_found');
  });

  it('is nobody’s but its account’s', async () => {
    const { name, account } = await verified();
    const other = await database.account();
    for (const word of ['check', 'confirm', 'default', 'remove'] as const) {
      expect((await refusal(word, other, name)).code).toBe('not_found');
    }
    expect(await ok('domains', 'list', '--account', other)).toEqual({ data: [] });
    expect(await usableDomain(database.sql(), other, name)).toBeUndefined();
    expect(await signingKeyOf(database.sql(), key, other, name)).toBeUndefined();
    expect(await usableDomain(database.sql(), account, name)).toMatchObject({ name, routes: ['simulator'] });
  });
});

describe('its records in DNS', () => {
  it('verify it once all are there, in chunks and beside others', async () => {
    const { account, name, domain } = await added();
    const [dkim, spf, mx] = domain.records;
    setRecords(dns, [dkim!, mx!]);
    const partly = await ask('check', account, name);
    expect(partly).toMatchObject({ status: 'pending', is_default: false });
    expect(partly.records.map(({ seen }) => seen)).toEqual([true, false, true]);
    expect(await usableDomain(database.sql(), account, name)).toBeUndefined();
    const wider = { ...spf!, value: 'v=spf1 include:_spf.other.example a:mail.simulator.invalid -all' };
    setRecords(dns, [wider, { ...spf!, value: 'another text' }]);
    const whole = await ask('check', account, name);
    expect(whole).toMatchObject({ status: 'verified', is_default: true, routes: [{ verified: true }] });
    // Each look asks once, and once more over TCP, as the answer is long.
    expect(dns.questions.filter((asked) => asked === `TXT ${dkim!.name}`)).toHaveLength(4);
  });

  it.each(['servfail', 'refused', 'silence'] as const)('conclude nothing at %s', async (trouble) => {
    const { account, name, domain } = await verified();
    dns.zone.set(`send.${name}`, trouble);
    for (let time = 0; time < 2; time += 1) {
      const { status, routes } = await ask('check', account, name);
      expect(status).toBe('verified');
      expect(routes[0]!.problem).toContain(`DNS gives no answer about send.${name} (E`);
      expect(routes[0]!.records.every(({ seen }) => seen)).toBe(true);
      await missLongAgo(domain.id);
    }
    const fresh = await added();
    dns.zone.set(`send.${fresh.name}`, trouble);
    expect(await ask('check', fresh.account, fresh.name)).toMatchObject({ status: 'pending' });
  });

  it.each(['nxdomain', 'nodata'] as const)('lose it when they are gone twice: %s', async (trouble) => {
    const { account, name, domain } = await verified();
    const before = dns.zone.get(`send.${name}`)!;
    dns.zone.set(`send.${name}`, trouble);
    for (let time = 0; time < 2; time += 1) {
      expect(await ask('check', account, name)).toMatchObject({ status: 'verified' });
      expect(await findings(domain.id)).toEqual([]);
    }
    await missLongAgo(domain.id);
    const lost = await ask('check', account, name);
    expect(lost).toMatchObject({ status: 'lost', is_default: true, routes: [{ verified: false }] });
    expect(lost.records.map(({ seen }) => seen)).toEqual([true, false, false]);
    expect(await findings(domain.id)).toEqual([{ kind: 'domain_lost', state: 'open' }]);
    expect(await usableDomain(database.sql(), account, null)).toBeUndefined();
    dns.zone.set(`send.${name}`, before);
    expect(await ask('check', account, name)).toMatchObject({ status: 'verified' });
    expect(await findings(domain.id)).toEqual([{ kind: 'domain_lost', state: 'gone' }]);
    expect(await usableDomain(database.sql(), account, null)).toMatchObject({ name });
  });
});

describe('a claim', () => {
  const isTaken = async (name: string) => {
    expect((await refusal('add', await database.account(), name)).message).toContain('another account');
  };

  it('that is not proven gives way after seven days', async () => {
    const { account, name, domain } = await added();
    await age(domain.id, 6.99);
    await isTaken(name);
    await age(domain.id, 7.01);
    const other = await database.account();
    const theirs = await ask('add', other, name);
    expect(theirs).toMatchObject({ name, status: 'pending' });
    expect(theirs.records[0]!.value).not.toBe(domain.records[0]!.value);
    expect((await refusal('check', account, name)).code).toBe('not_found');
    const audit = await database.sql()`
      select details from audit_log where subject = ${domain.id} order by id desc limit 1`;
    expect(audit).toEqual([{ details: { name, gave_way: true } }]);
  });

  it('that is proven, or answered for, stays; that of a closed account does not', async () => {
    const proven = await verified();
    await age(proven.domain.id, 100);
    await isTaken(proven.name);
    const confirmed = await added();
    await ask('confirm', confirmed.account, confirmed.name);
    await age(confirmed.domain.id, 100);
    await database.sql()`delete from sender_domain_routes where domain_id = ${confirmed.domain.id}`;
    await isTaken(confirmed.name);
    await database.sql()`update accounts set status = 'closed' where id = ${proven.account}`;
    await ask('add', await database.account(), proven.name);
  });

  it('of several at once is one’s alone', async () => {
    const fresh = newName();
    const stale = await added();
    await age(stale.domain.id, 8);
    for (const name of [fresh, stale.name]) {
      const accounts = await Promise.all(Array.from({ length: 4 }, () => database.account()));
      const runs = await Promise.all(accounts.map((account) => run('--json', ...line('add', account, name))));
      expect(runs.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1]);
      for (const { code, err } of runs) if (code === 1) expect(err).toContain('another account');
      expect(await database.sql()`select from sender_domains where name = ${name}`).toHaveLength(1);
    }
  });

  it('is free at once when it is removed', async () => {
    const { account, name, domain } = await verified();
    expect(await ok(...line('remove', account, name))).toEqual({
      ...{ id: domain.id, name, removed: true, default: null, left_at: [] },
    });
    await ask('add', await database.account(), name);
  });
});

describe('the default', () => {
  it('is the first that is verified, another when asked, the oldest verified when it is removed', async () => {
    const [{ account, name: first }, other] = [await verified(), await verified()];
    const [second, third] = [newName(), newName()];
    for (const name of [second, third]) await ask('add', account, name);
    const refused = await refusal('default', account, second);
    expect(refused.message).toContain('not verified');
    expect(await ask('confirm', account, third)).toMatchObject({ status: 'verified', is_default: false });
    expect(await ask('default', account, third)).toMatchObject({ is_default: true });
    const defaults = (of = account) =>
      database.sql()<{ name: string }[]>`
        select name from sender_domains where account_id = ${of} and is_default`;
    expect(await defaults()).toEqual([{ name: third }]);
    expect(await usableDomain(database.sql(), account, null)).toMatchObject({
      name: third,
      routes: ['simulator'],
    });
    expect(await ok(...line('remove', account, third))).toMatchObject({ default: first });
    expect(await defaults()).toEqual([{ name: first }]);
    expect(await ok(...line('remove', account, first))).toMatchObject({ default: null });
    expect(await defaults()).toEqual([]);
    expect(await defaults(other.account)).toEqual([{ name: other.name }]);
  });
});

describe('a domain that staff answer for', () => {
  it('is verified on every route, and no look undoes it', async () => {
    const { account, name, domain } = await added();
    expect(await ask('confirm', account, name)).toMatchObject({
      ...{ status: 'verified', is_default: true, routes: [{ verified: true }] },
    });
    for (let time = 0; time < 3; time += 1) {
      expect(await ask('check', account, name)).toMatchObject({ status: 'verified' });
      await missLongAgo(domain.id);
    }
    expect(await findings(domain.id)).toEqual([]);
    const [row] = await database.sql()`select confirmed_at from sender_domains where id = ${domain.id}`;
    await ask('confirm', account, name);
    expect(await database.sql()`select confirmed_at from sender_domains where id = ${domain.id}`).toEqual([
      row,
    ]);
  });
});

describe('where the provider keeps a list', () => {
  const sql = () => database.sql();
  beforeAll(async () => {
    await sql()`insert into routes (name, kind) values ('relay', 'listed')`;
  });
  afterAll(async () => {
    await sql()`update routes set state = 'disabled' where name = 'relay'`;
  });
  const relay = ({ routes }: ShownDomain) => routes.find(({ route }) => route === 'relay');

  it('a domain is added there, and verified by its word, lost by it too', async () => {
    const { account, name, domain } = await added();
    expect(relay(domain)).toMatchObject({
      ...{ verified: false, problem: null },
      records: [{ type: 'CNAME', name: `key.${name}`, purpose: 'dkim', seen: false }],
    });
    expect(domain.records).toHaveLength(4);
    prove(name, true);
    expect(await ask('check', account, name)).toMatchObject({ status: 'verified' });
    expect(await usableDomain(sql(), account, name)).toMatchObject({ routes: ['relay'] });
    list.isAway = true;
    const away = await ask('check', account, name);
    list.isAway = false;
    expect(relay(away)).toMatchObject({ verified: true, problem: 'the provider is away' });
    prove(name, false);
    await ask('check', account, name);
    await missLongAgo(domain.id);
    expect(relay(await ask('check', account, name))).toMatchObject({ verified: false });
    expect(await ask('check', account, name)).toMatchObject({ status: 'lost' });
  });

  it('one that cannot be added yet is added at the next look, one that is gone there again', async () => {
    list.isAway = true;
    const { account, name, domain } = await added();
    list.isAway = false;
    expect(relay(domain)).toMatchObject({ problem: 'the provider is away', records: [] });
    expect(relay(await ask('check', account, name))).toMatchObject({ problem: null, records: [{}] });
    list.domains.clear();
    expect(relay(await ask('check', account, name))).toMatchObject({ problem: null, verified: false });
    expect(list.domains.size).toBe(1);
  });

  it('what somebody else proved there proves nothing', async () => {
    const { account, name } = await added();
    prove(name, true);
    list.isAway = true;
    expect(await ok(...line('remove', account, name))).toMatchObject({ left_at: ['relay'] });
    list.isAway = false;
    const other = await database.account();
    expect(relay(await ask('add', other, name))?.problem).toContain('remove it there');
    const checked = await ask('check', other, name);
    expect(checked.status).toBe('pending');
    expect(relay(checked)).toMatchObject({ verified: false, records: [] });
  });

  it('a claim gives way only once the provider has nothing of it any more', async () => {
    const former = await added();
    await age(former.domain.id, 8);
    const other = await database.account();
    list.isAway = true;
    const left = await refusal('add', other, former.name);
    list.isAway = false;
    expect([left.code, left.message]).toEqual([
      'refused',
      expect.stringMatching(/provider of relay: try again/),
    ]);
    expect(await ask('check', former.account, former.name)).toMatchObject({ id: former.domain.id });
    const own = await refusal('add', former.account, former.name);
    expect(own.message).toContain('has this sender domain');
    const theirs = relay(await ask('add', other, former.name))!;
    expect(theirs).toMatchObject({ problem: null, verified: false });
    expect(theirs.records[0]!.value).not.toBe(relay(former.domain)!.records[0]!.value);
  });
});

it('is due the less often the longer it is not verified', async () => {
  const sql = database.sql();
  const { domain } = await added();
  const isDue = async (days: number, checkedMinutes: number | null) => {
    await age(domain.id, days);
    await sql`
      update sender_domains set checked_at = now() - make_interval(mins => ${checkedMinutes}) where id = ${domain.id}`;
    return (await dueDomains(sql, 10_000)).includes(domain.id);
  };
  expect(await isDue(0, null)).toBe(true);
  expect([await isDue(0, 49), await isDue(0, 51)]).toEqual([false, true]);
  expect([await isDue(1, 140), await isDue(1, 150)]).toEqual([false, true]);
  expect([await isDue(90, 1_430), await isDue(90, 1_450)]).toEqual([false, true]);
  await sql`update sender_domains set confirmed_at = now() where id = ${domain.id}`;
  expect(await isDue(90, 51)).toBe(true);
  await sql`update accounts set status = 'closed' where id = (select account_id from sender_domains where id = ${domain.id})`;
  expect(await isDue(90, 51)).toBe(false);
});
