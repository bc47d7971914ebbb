import { describe, expect, test } from 'vitest';
import { ALL_COMMANDS } from '../../commands/all.ts';
import { ATTENTION } from '../../commands/attention.ts';
import { newId } from '../../db/ids.ts';
import { reportFinding } from '../../db/maintenance/findings.ts';
import { ATTENTION_KINDS } from '../../operations/support/attention.ts';
import { type Answer, commandLine, listIn, ownDatabase } from './support.ts';

const database = ownDatabase();
const { ok } = commandLine(database.url);
const sql = () => database.sql();
const OLD = new Date('2026-01-02T03:04:05.000Z');

async function attention(): Promise<Record<string, Answer>> {
  const found = listIn(await ok('attention'));
  return Object.fromEntries(found.map((one) => [String(one['kind']), one]));
}

/** The list that a kind names, as typed. */
const listed = async ({ list }: Answer) => listIn(await ok(...String(list).split(' ')));

async function signIn(network: string): Promise<string> {
  const account = await database.account();
  const [id, address] = [`p_${account}`, `${account}@example.com`];
  await sql()`insert into people (id, address) values (${id}, ${address})`;
  await sql()`insert into memberships (person_id, account_id, role) values (${id}, ${account}, 'owner')`;
  await sql()`
    insert into sign_ins (id, address, network, browser_hash, link_hash, code_hash, opened_account, created_at)
    values (${id}, ${address}, ${network}, '', ${Buffer.from(id)}, '', true, now() - interval '1 minute')`;
  return account;
}

describe('attention', () => {
  test('counts every kind from nothing, and knows the age of the oldest', async () => {
    const before = await attention();
    expect(Object.keys(before).sort()).toEqual([...ATTENTION_KINDS].sort());
    const known = Object.values(before).filter(({ kind }) => kind !== 'task' && kind !== 'timer');
    for (const one of known) expect(one).toMatchObject({ count: 0, oldest: null });
    expect(before['task']).toMatchObject({ count: 'unknown: Temporal does not answer' });

    const account = await database.account({ webhook_url: 'https://example.com/', webhook_secret: 'x' });
    for (const [id, at] of [
      ['in_0', OLD],
      ['in_1', new Date()],
    ] as const)
      await sql()`
        insert into inbound_messages (id, route, provider_reference, sender, received_text, state, received_at)
        values (${id}, 'r', ${id}, '+48500100200', 'x', 'unmatched', ${at})`;
    await sql()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, exhausted_at)
      values ('evt_0', ${account}, 'message', 'msg_0', 'message.failed', '{}', 'exhausted', ${OLD})`;
    await sql()`
      insert into sender_requests (id, account_id, name, purpose, applicant, requested_by, created_at)
      values (${newId('snd')}, ${account}, 'SKLEP', 'x', 'x', 'x', ${OLD})`;
    await database.account({ inbound_prefix: 'START' });
    await database.account({ inbound_prefix: 'SKLEP' });
    for (const kind of ['payment_disputed', 'ledger_differs'] as const)
      await reportFinding(sql(), { kind, subject: account, accountId: account, details: {} });
    await sql()`update findings set first_seen_at = ${OLD} where kind = 'ledger_differs'`;

    const oldest = OLD.toISOString();
    const after = await attention();
    expect(after).toMatchObject({
      reply: { count: 2, oldest },
      webhook: { count: 1, oldest },
      sender_request: { count: 1, oldest },
      keyword: { count: 1, oldest: null },
      ledger_differs: { count: 1, oldest },
      payment_disputed: { count: 1 },
      payment_differs: { count: 0 },
    });
    for (const kind of ['reply', 'webhook', 'sender_request', 'keyword', 'ledger_differs'])
      expect(await listed(after[kind]!), kind).toHaveLength(Number(after[kind]!['count']));
  });

  test('names commands that exist, with options that they have', () => {
    const commands = new Map(ALL_COMMANDS.map((one) => [one.name, one]));
    for (const { command, options, acts } of Object.values(ATTENTION)) {
      expect(acts.filter((name) => !commands.has(name))).toEqual([]);
      for (const [name, value] of Object.entries(options))
        expect(commands.get(command)!.options[name]!.schema.safeParse(value)).toMatchObject({
          success: true,
        });
    }
  });
});

describe('accounts suspicious', () => {
  test('lists networks that opened three accounts, and numbers of two, these masked', async () => {
    const [, one, two, three] = [
      await signIn('192.0.2.1'),
      await signIn('2001:db8::/64'),
      await signIn('2001:db8::/64'),
      await signIn('2001:db8::/64'),
    ];
    for (const account of [one, two])
      await sql()`insert into verified_numbers (account_id, msisdn) values (${account}, '+48500100200')`;
    await sql()`insert into verified_numbers (account_id, msisdn) values (${one}, '+48500100201')`;
    const found = listIn(await ok('accounts', 'suspicious'));
    expect(found).toMatchObject([
      { signal: 'network', subject: '2001:db8::/64', accounts: [one, two, three].sort() },
      { signal: 'number', subject: '+48*****200', accounts: [one, two] },
    ]);
    expect((await attention())['sign_up']).toMatchObject({ count: 2, oldest: found[0]!['since'] });
    const full = listIn(await ok('accounts', 'suspicious', '--numbers', 'yes'));
    expect(full[1]).toMatchObject({ subject: '+48500100200' });
    expect(await database.lastAudit()).toMatchObject({ details: { numbers: true } });
  });
});

describe('findings list', () => {
  test('shows one kind, what is open the oldest first', async () => {
    const account = await database.account();
    for (const subject of ['pay_new', 'pay_old'])
      await reportFinding(sql(), { kind: 'payment_unowed', subject, accountId: account, details: {} });
    await reportFinding(sql(), { kind: 'domain_lost', subject: 'x', accountId: account, details: {} });
    await sql()`update findings set first_seen_at = ${OLD} where subject = 'pay_old'`;
    const found = listIn(await ok('findings', 'list', '--account', account, '--kind', 'payment_unowed'));
    expect(found.map(({ subject }) => subject)).toEqual(['pay_old', 'pay_new']);
  });
});
