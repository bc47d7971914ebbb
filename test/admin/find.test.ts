import { beforeAll, describe, expect, test } from 'vitest';
import { newApiKey } from '../../db/accounts/keys.ts';
import { byColumnName } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { ID_PREFIXES, type IdPrefix } from '../../domain/ids.ts';
import { commandLine, listIn, ownDatabase } from './support.ts';

const PHONE = '+48600100200';
const ADDRESS = 'jan.kowalski@example.com';
const HASH = Buffer.alloc(32);

const database = ownDatabase();
const { run, ok, no } = commandLine(database.url);

const id = Object.fromEntries(ID_PREFIXES.map((prefix) => [prefix, newId(prefix)])) as Record<
  IdPrefix,
  string
>;
const other = { cl: newId('cl'), msg: newId('msg') };
const { key, hash, hint } = newApiKey('live');

async function add(table: string, ...rows: object[]): Promise<void> {
  const sql = database.sql();
  for (const row of rows) await sql`insert into ${sql(table)} ${sql(byColumnName(row))}`;
}

beforeAll(async () => {
  const accountId = id.cl;
  const whose = { accountId, msisdn: PHONE };
  const now = new Date();
  await add(
    'accounts',
    {
      id: accountId,
      name: 'Żółta Kwiaciarnia',
      contactEmail: ADDRESS,
      inboundPrefix: 'KWIATY',
      inboundNumber: '+48664400100',
    },
    { id: other.cl, name: 'Apteka' },
  );
  const seller = { street: 'Polna 1', postalCode: '00-001', city: 'Warszawa', nip: '5260250995' };
  await add('company_profiles', { accountId, kind: 'company', name: 'Kwiaty Sp. z o.o.', ...seller });
  await add('routes', { name: 'carrier-a', kind: 'smpp' });
  const sms = {
    recipient: PHONE,
    status: 'failed',
    acceptedAs: 'queued',
    text: 'x',
    parts: 1,
    costGrosze: 15,
  };
  const sent = { giveUpAt: now, route: 'carrier-a' };
  await add(
    'messages',
    { id: id.msg, accountId, requestId: id.req, ...sms, ...sent, reference: 'order-1%', idx: 'zam_1' },
    {
      id: other.msg,
      accountId: other.cl,
      requestId: newId('req'),
      ...sms,
      ...sent,
      recipient: '+48600100201',
    },
  );
  const part = { part: 1, state: 'accepted', route: 'carrier-a' };
  await add(
    'message_parts',
    { messageId: id.msg, ...part, providerMessageId: '7f3a09' },
    { messageId: other.msg, ...part, providerMessageId: '123456789' },
  );
  await add('delivery_reports', { route: 'carrier-a', providerMessageId: 'unmatched-1', state: 'delivered' });
  const reply = { route: 'carrier-a', sender: PHONE, receivedText: 'TAK' };
  const matched = { state: 'matched', text: 'TAK', matchedBy: 'prefix' };
  await add(
    'inbound_messages',
    { id: id.in, providerReference: 'mo-1', ...reply, accountId, ...matched },
    { id: newId('in'), providerReference: 'mo-2', ...reply, state: 'unmatched' },
  );
  await add('webhook_events', {
    ...{ id: id.evt, accountId, subjectKind: 'message', subjectId: id.msg, type: 'message.failed' },
    snapshot: {},
  });
  await add('number_lookups', { id: id.hlr, ...whose, route: 'simulator', costGrosze: 5 });
  const code = {
    codeLength: 6,
    sentAt: `{${now.toISOString()}}`,
    costGrosze: 15,
    expiresAt: now,
    createdAt: now,
    updatedAt: now,
  };
  await add('verifications', { id: id.ver, ...whose, ...code });
  await add('contacts', { id: id.ct, ...whose, email: ADDRESS });
  await add('contact_groups', { id: id.gr, accountId, name: 'Stali' });
  await add('contact_imports', { id: id.imp, accountId, name: 'klienci.csv' });
  await add('templates', { id: id.tpl, accountId, name: 'Odbiór', type: 'sms', body: 'x' });
  await add('blacklist', { ...whose, reason: 'manual' });
  await add('verified_numbers', whose);
  await add('tracked_links', { accountId, recipient: PHONE, token: 'AbCd1234', url: 'https://example.com/' });
  await add('opt_out_links', { accountId, msisdn: PHONE, token: 'AbCd123456', sender: 'KWIATY' });
  await add('emails', {
    ...{ id: id.em, accountId, requestId: id.req, interface: 'v2', status: 'delivered', route: 'simulator' },
    ...{
      providerEmailId: 're-1',
      domain: 'kwiaty.pl',
      fromAddress: 'biuro@kwiaty.pl',
      subject: 'x',
      idx: 'mail_1',
    },
    ...{ costGrosze: 1, giveUpAt: now },
  });
  await add('email_recipients', {
    emailId: id.em,
    position: 0,
    accountId,
    kind: 'to',
    address: 'Jan.Kowalski@example.com',
  });
  await add('suppressions', { accountId, address: ADDRESS, reason: 'bounce' });
  const keys = { dkimSelector: 's', dkimPublicKey: 'k', dkimPrivateKey: HASH };
  await add('sender_domains', { id: id.dom, accountId, name: 'kwiaty.pl', ...keys });
  await add('people', { id: id.per, address: ADDRESS });
  await add('memberships', { personId: id.per, accountId, role: 'owner' });
  const proof = { browserHash: HASH, linkHash: HASH, codeHash: HASH };
  await add('sign_ins', { id: id.sin, address: ADDRESS, network: '192.0.2.1', ...proof });
  const session = { tokenHash: HASH, assurance: 'address', address: '192.0.2.1' };
  await add('sessions', { id: id.ses, personId: id.per, accountId, ...session });
  await add('invitations', { id: id.inv, accountId, address: ADDRESS, role: 'reader' });
  await add('api_keys', { id: id.key, accountId, hash, hint, mode: 'live', scopes: ['send'] });
  await add('api_tokens', { id: id.tok, accountId, hash: HASH, hint: 'tok_…abcd', label: 'Sklep' });
  await add('senders', { accountId, name: 'KWIATY' });
  await add('sender_requests', {
    ...{ id: id.snd, accountId, name: 'Kwiaty', purpose: 'x', applicant: 'x', requestedBy: id.per },
  });
  await add('statements', { id: id.st, accountId, month: '2026-10-01', amountGrosze: 0, dueAt: now });
  await add('payments', {
    ...{
      id: id.pay,
      accountId,
      netGrosze: 100,
      vatGrosze: 23,
      grossGrosze: 123,
      buyer: {},
      processor: 'stripe',
    },
    ...{ session: 'cs_test_1', reference: 'stripe:pi_1', state: 'paid', paidAt: now },
  });
  await add(
    'payment_reversals',
    { paymentId: id.pay, id: 're_1', kind: 'refund', grossGrosze: 10, netGrosze: 8 },
    { paymentId: id.pay, id: 'dp_1', kind: 'dispute', grossGrosze: 10, netGrosze: 8 },
  );
  await add('ledger_entries', { accountId, kind: 'topup', amountGrosze: 100, reference: 'FV 12/2026' });
  const invoice = { kind: 'ZAL', buyer: {}, number: 'FZ/1/2026', ksefNumber: '5260250995-20261101-1' };
  await add('invoices', { id: id.pay, accountId, subjectId: id.pay, ...invoice });
  const staff = {
    name: 'Ala',
    address: 'ala@staff.example',
    role: 'support',
    totpSecret: HASH,
    addedBy: 'x',
  };
  await add('staff', { id: id.stf, ...staff });
  await add('bulks', { id: id.bulk, action: 'resend', actor: 'Ala', grounds: {}, filter: {} });
  await add('approvals', { id: id.apr, command: 'topup', reason: 'x', askedBy: 'Ala' });
}, 60_000);

/** What is found, as `kind by what`, with the id where it is not the one of the row. */
async function found(...line: string[]): Promise<string[]> {
  const things = listIn(await ok('find', ...line));
  return [...new Set(things.map((thing) => `${String(thing['kind'])} by ${String(thing['by'])}`))];
}

const ALL_OF_NUMBER = [
  ...['message by recipient', 'reply by sender', 'reply by sender, of no account', 'contact by number'],
  ...['blacklist by number', 'lookup by number', 'verification by number', 'verified number by number'],
];
const ALL_OF_ADDRESS = [
  ...['email by recipient', 'person by address', 'sign-in by address', 'invitation by address'],
  ...['suppression by address', 'account by contact address', 'contact by address'],
];
const MESSAGE = "message by provider's id";

describe('find', () => {
  test.each(ID_PREFIXES.filter((prefix) => prefix !== 'req'))(
    'has a thing by its id %s_…',
    async (prefix) => {
      const things = listIn(await ok('find', id[prefix]));
      expect(things.map((thing) => [thing['id'], thing['by']])).toEqual([[id[prefix], 'id']]);
      if (!['sin', 'stf', 'apr', 'bulk'].includes(prefix))
        expect(things[0]).toMatchObject({ account_id: id.cl });
    },
  );

  test.each([
    ...[
      '600100200',
      '+48600100200',
      '48600100200',
      '0048 600-100-200',
      ' (+48) 600 100 200 ',
      '0 600 100 200',
    ],
    ...['tel:+48600100200', '600\u00a0100\u2011200', '600\t100\n200'],
  ])('has all of the number %j', async (typed) => {
    expect(await found(typed)).toEqual(ALL_OF_NUMBER);
  });

  test.each([ADDRESS, 'mailto:Jan.Kowalski@EXAMPLE.com', 'Jan Kowalski <jan.kowalski@example.com>'])(
    'has all of the address %j',
    async (typed) => {
      expect(await found(typed)).toEqual(ALL_OF_ADDRESS);
    },
  );

  test.each([
    [id.req, ['message by request', 'email by request']],
    [` ${id.msg.toUpperCase()}\n`, ['message by id']],
    [`${id.evt}-1`, ['event by id']],
    [`http://localhost:8233/namespaces/default/workflows/${id.pay}/019a/history`, ['payment by id']],
    [
      `{"msg":"accepted","request":"${id.req}","account":"${id.cl}"}`,
      ['account by id', 'message by request', 'email by request'],
    ],
    ['order-1%', ['message by reference']],
    ['zam_1', ['message by idx']],
    ['mail_1', ['email by idx']],
    ['7f3a09', [MESSAGE]],
    ['0x007F3A09', [MESSAGE]],
    ['8337929', [MESSAGE]],
    ['75bcd15', [MESSAGE]],
    ['unmatched-1', ["report by provider's id"]],
    ['mo-1', ["reply by provider's id"]],
    ['re-1', ["email by provider's id"]],
    ['cs_test_1', ["payment by processor's id"]],
    ['pi_1', ["payment by processor's id"]],
    ['re_1', ["payment by processor's id"]],
    ['dp_1', ["payment by processor's id"]],
    ['FV 12/2026', ['ledger entry by reference']],
    ['FZ/1/2026', ['invoice by number']],
    ['5260250995-20261101-1', ['invoice by number']],
    ['zolta kwia', ['account by name']],
    ['PL 526-025-09-95', ['account by name']],
    ['664400100', ['account by inbound number']],
    ['kwiaty', ['account by name', 'sender by name', 'sender request by name', 'keyword by word']],
    ['Kwiaty.PL', ['domain by name']],
    ['carrier-a', ['route by name']],
    [key, ['key by key']],
    [hint, ['key by key']],
    ['https://go.example/l/AbCd1234).', ['link by address']],
    ['https://go.example/o/AbCd123456', ['opt-out link by address']],
  ])('of %j has %j', async (typed, kinds) => {
    expect(await found(typed)).toEqual(kinds);
  });

  test.each([
    ...[
      '%',
      '_',
      "' or 1=1 --",
      '\0',
      '\ud800',
      '🌷'.repeat(100),
      'x'.repeat(10_000),
      '0'.repeat(255),
      '<@>',
      '\\',
    ],
    ...[newId('msg'), 'msg_', '+48', '600100299', 'nobody@example.com'],
  ])('of what is nowhere (%j) has nothing', async (typed) => {
    expect(await ok('find', typed)).toEqual({ data: [] });
  });

  test('refuses what is longer than a line of a log', async () => {
    expect(await no('find', 'x'.repeat(10_001))).toMatchObject({ code: 'invalid_argument' });
  });

  test('looks in one account only, where one is named', async () => {
    expect(await found('600100201', '--account', other.cl)).toEqual(['message by recipient']);
    expect(await found(PHONE, '--account', other.cl)).toEqual([]);
    expect(await found(other.msg, '--account', id.cl)).toEqual([]);
  });

  test('shows no number or address in full, and records none', async () => {
    for (const [typed, masked] of [
      [PHONE, '+48*****200'],
      [ADDRESS, 'j…@example.com'],
    ] as const) {
      const { out } = await run('find', typed);
      expect(out).toContain(masked);
      expect(out).not.toMatch(/600100200|kowalski/i);
      const audit = await database.lastAudit();
      expect(audit).toMatchObject({ action: 'find', details: { soughtAs: [masked, 'text'] } });
    }
    await ok('find', 'Jan Kowalski');
    expect(await database.lastAudit()).toMatchObject({ details: { soughtAs: ['text'] } });
  });

  test('has the newest of many, and says that there are more', async () => {
    await database.sql()`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route,
                            created_at)
      select 'msg_many' || n, ${id.cl}, 'req_many', 'failed', 'queued', '+48600100300', 'x', 1, 15, now(), 'simulator',
             now() + n * interval '1 s'
        from generate_series(10, 35) n`;
    const answer = await ok('find', '600100300');
    expect(answer).toMatchObject({ only_newest_of: ['message by recipient'] });
    expect(listIn(answer).map((thing) => thing['id'])).toEqual(
      Array.from({ length: 20 }, (_, n) => `msg_many${35 - n}`),
    );
  });
});
