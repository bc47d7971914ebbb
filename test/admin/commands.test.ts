import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { ensureDemoAccount } from '../../operations/accounts/demo.ts';
import { hashSecret } from '../../db/ids.ts';
import { newId } from '../../db/ids.ts';
import { ACTOR, commandLine, listIn, ownDatabase, type Answer } from './support.ts';

const database = ownDatabase();
const { run, ok, no } = commandLine(database.url);
const sql = () => database.sql();

async function account(...options: string[]): Promise<string> {
  return String((await ok('accounts', 'create', '--name', 'Kwiaciarnia', ...options))['id']);
}

async function show(id: string): Promise<Answer> {
  return ok('accounts', 'show', '--account', id);
}

describe('accounts', () => {
  test('a new one is in test mode with 25 credits, booked', async () => {
    const id = await account();
    expect(id).toMatch(/^cl_[0-9a-z]{26}$/);
    expect(await show(id)).toMatchObject({
      mode: 'test',
      status: 'active',
      billing_mode: 'prepaid',
      balance_grosze: 0,
      test_credits: 25,
      price_per_part_grosze: 15,
      rate_limit_per_minute: 120,
      country_rates: {},
      keys: [],
    });
    const ledger = await ok('ledger', '--account', id);
    expect(ledger).toMatchObject({ agrees: true, sum_test_credits: 25 });
    expect(listIn(ledger, 'entries')).toMatchObject([
      { kind: 'opening', amount_grosze: 0, test_credits: 25 },
    ]);
  });

  test('every setting can be given at the start', async () => {
    const id = await account(
      ...['--mode', 'live', '--balance', '12345', '--billing', 'postpaid', '--credit-limit', '70000'],
      ...['--price', '7', '--rate-limit', '600'],
    );
    expect(await show(id)).toMatchObject({
      mode: 'live',
      balance_grosze: 12345,
      billing_mode: 'postpaid',
      credit_limit_grosze: 70000,
      price_per_part_grosze: 7,
      rate_limit_per_minute: 600,
      test_credits: 0,
    });
    expect(await database.lastAudit(id)).toMatchObject({ action: 'accounts show', actor: ACTOR });
  });

  test('set changes what is named, and the record says from what to what', async () => {
    const id = await account();
    await ok('senders', 'add', '--account', id, '--name', 'Kwiaty');
    await ok(
      ...[
        'accounts',
        'set',
        '--account',
        id,
        '--name',
        'Zażółć 🌷',
        '--status',
        'suspended',
        '--price-mms',
        '50',
      ],
      ...['--price-vms', '30', '--price-hlr', '4', '--country-rates', '{"+49":25,"420":{"sms":20,"mms":80}}'],
      ...['--sender', 'Kwiaty', '--send-window', '22:00-06:00', '--mode', 'live', '--price', '9'],
    );
    expect(await database.lastAudit(id)).toMatchObject({
      action: 'accounts set',
      details: {
        changes: {
          status: { from: 'active', to: 'suspended' },
          price_per_part_grosze: { from: 15, to: 9 },
          country_rates: { from: {}, to: { 49: { sms: 25 }, 420: { sms: 20, mms: 80 } } },
        },
      },
    });
    expect(await show(id)).toMatchObject({
      name: 'Zażółć 🌷',
      status: 'suspended',
      mode: 'live',
      price_per_part_grosze: 9,
      price_per_mms_grosze: 50,
      price_per_vms_grosze: 30,
      price_per_hlr_grosze: 4,
      country_rates: { 49: { sms: 25 }, 420: { sms: 20, mms: 80 } },
      sender_name: 'Kwiaty',
      send_window: '22:00-06:00',
      rate_limit_per_minute: 120,
    });
    await ok('accounts set --sender none --send-window none --country-rates {}', '--account', id);
    expect(await show(id)).toMatchObject({ sender_name: null, send_window: null, country_rates: {} });
  });

  test('set lowers for an account how much its tools may send without a word, and none gives it back', async () => {
    const id = await account();
    const set = (recipients: string, grosze: string) =>
      ok(
        ...['accounts', 'set', '--account', id],
        ...['--tool-confirm-recipients', recipients, '--tool-confirm-grosze', grosze],
      );
    expect(await set('0', '100')).toMatchObject({ tool_confirm_recipients: 0, tool_confirm_grosze: 100 });
    expect(await database.lastAudit(id)).toMatchObject({
      details: {
        changes: {
          tool_confirm_recipients: { from: null, to: 0 },
          tool_confirm_grosze: { from: null, to: 100 },
        },
      },
    });
    await set('none', 'none');
    expect(await show(id)).toMatchObject({ tool_confirm_recipients: null, tool_confirm_grosze: null });
  });

  test('list has them all', async () => {
    const id = await account();
    const ids = listIn(await ok('accounts', 'list')).map((row) => row['id']);
    expect(ids).toContain(id);
    expect(ids).toEqual([...ids].sort());
  });

  test('list has those with a part of a name, and goes on after one', async () => {
    const named = async (name: string) => String((await ok('accounts', 'create', '--name', name))['id']);
    const [first, second] = [await named('Żabka 100%'), await named('ŻABKA 100')];
    const found = async (...words: string[]) =>
      listIn(await ok('accounts', 'list', ...words)).map(({ id }) => id);
    expect(await found('--name', 'żabka')).toEqual([first, second]);
    expect(await found('--name', '100%')).toEqual([first]);
    expect(await found('--name', 'żabka', '--after', first)).toEqual([second]);
  });
});

describe('what is refused names the option and changes nothing', () => {
  const refusals: [option: string, ...line: string[]][] = [
    ['--name', 'accounts', 'create'],
    ['--name', 'accounts', 'create', '--name', 'a\u0000b'],
    ['--name', 'accounts', 'create', '--name', 'x'.repeat(101)],
    ['--name', 'accounts', 'create', '--name', 'a', '--name', 'b'],
    ['--mode', 'accounts', 'create', '--name', 'a', '--mode', 'LIVE'],
    ['--balance', 'accounts', 'create', '--name', 'a', '--balance', '-1'],
    ['--balance', 'accounts', 'create', '--name', 'a', '--balance', '1.5'],
    ['--balance', 'accounts', 'create', '--name', 'a', '--balance', '9007199254740993'],
    ['--price', 'accounts', 'create', '--name', 'a', '--price', '4294967296'],
    ['--rate-limit', 'accounts', 'create', '--name', 'a', '--rate-limit', '0'],
    ['--account', 'accounts', 'show'],
    ['--status', 'accounts', 'set', '--account', 'ID', '--status', 'gone'],
    ['--country-rates', 'accounts', 'set', '--account', 'ID', '--country-rates', '[]'],
    ['--country-rates', 'accounts', 'set', '--account', 'ID', '--country-rates', '{"49":-1}'],
    ['--sender', 'accounts', 'set', '--account', 'ID', '--sender', 'Nobody'],
    ['--send-window', 'accounts', 'set', '--account', 'ID', '--send-window', '08:00-08:14'],
    ['--tool-confirm-recipients', 'accounts', 'set', '--account', 'ID', '--tool-confirm-recipients', '10001'],
    ['--tool-confirm-grosze', 'accounts', 'set', '--account', 'ID', '--tool-confirm-grosze', 'all'],
    ['accounts set', 'accounts', 'set', '--account', 'ID'],
    ['--scopes', 'keys', 'create', '--account', 'ID', '--scopes', 'send,admin'],
    ['--grosze', 'keys', 'budget', newId('key')],
    ['--grosze', 'keys', 'budget', newId('key'), '--grosze', '1.5'],
    ['KEY_ID', 'keys', 'revoke', 'pk_live_abc'],
    ['too many', 'topup', '--account', 'ID', '--pln', '50', '60'],
    ['--name', 'senders', 'add', '--account', 'ID', '--name', 'Zażółć'],
    ['--msisdn', 'numbers', 'verify', '--account', 'ID', '--msisdn', '+48 600 100 200'],
    ['--pln', 'topup', '--account', 'ID', '--pln', '49.99'],
    ['--pln', 'topup', '--account', 'ID', '--pln', '50.001'],
    ['--pln', 'topup', '--account', 'ID', '--pln', '99999999999'],
    ['--grosze', 'adjust', '--account', 'ID', '--grosze', '0', '--note', 'x'],
    ['--note', 'adjust', '--account', 'ID', '--grosze', '1'],
    ['--limit', 'ledger', '--account', 'ID', '--limit', '0'],
    ['--limit', 'audit', '--limit', '1001'],
    ['--month', 'statements', 'issue', '--account', 'POSTPAID', '--month', '2099-01'],
    ['--due', 'statements', 'issue', '--account', 'POSTPAID', '--due', '2026-12-15T12:00:00'],
    ['STATEMENT_ID', 'statements', 'pay', 'x'],
    ['frobnicate', 'frobnicate', 'list'],
  ];

  test('each', async () => {
    const id = await account();
    const postpaid = await account('--mode', 'live', '--billing', 'postpaid');
    const settings = async () => ({ ...(await show(id)), audit: [] });
    const before = await settings();
    const [{ count: accounts } = { count: -1 }] = await sql()<
      { count: number }[]
    >`select count(*) from accounts`;
    for (const [option, ...line] of refusals) {
      const words = line.map((word) => (word === 'ID' ? id : word === 'POSTPAID' ? postpaid : word));
      const { code, message } = await no(...words);
      expect({ line, code, named: message.includes(option) }).toEqual({
        line,
        code: 'invalid_argument',
        named: true,
      });
      expect(message).not.toContain('\n');
    }
    expect(await settings()).toEqual(before);
    expect(await sql()`select count(*) from accounts`).toEqual([{ count: accounts }]);
  });

  test('unknown ids are not found', async () => {
    const unknown = ['--account', newId('cl')];
    const lines = [
      ['accounts', 'show', ...unknown],
      ['accounts', 'set', ...unknown, '--price', '1'],
      ['keys', 'create', ...unknown],
      ['keys', 'list', ...unknown],
      ['keys', 'revoke', newId('key')],
      ['keys', 'budget', newId('key'), '--grosze', '5'],
      ['senders', 'add', ...unknown, '--name', 'A'],
      ['senders', 'remove', ...unknown, '--name', 'A'],
      ['senders', 'list', ...unknown],
      ['numbers', 'verify', ...unknown, '--msisdn', '600100200'],
      ['numbers', 'remove', ...unknown, '--msisdn', '600100200'],
      ['numbers', 'list', ...unknown],
      ['topup', ...unknown, '--pln', '50'],
      ['adjust', ...unknown, '--grosze', '1', '--note', 'x'],
      ['ledger', ...unknown],
      ['statements', 'issue', ...unknown],
      ['statements', 'list', ...unknown],
      ['statements', 'pay', newId('st')],
      ['audit', ...unknown],
      ['accounts', 'quotas', ...unknown],
      ['emails', 'show', newId('em')],
      ['messages', 'show', newId('msg')],
    ];
    for (const line of lines)
      expect({ line, code: (await no(...line)).code }).toEqual({ line, code: 'not_found' });
  });
});

describe('tokens of the earlier interface', () => {
  test('are shown once, kept as a hash, listed by label, several for an account, revoked one by one for good', async () => {
    const id = await account();
    const made = await ok('tokens', 'create', '--account', id, '--label', 'sklep');
    const other = await ok('tokens', 'create', '--account', id, '--label', 'sklep');
    const token = String(made['token']);
    expect(token).toMatch(/^goniec_[0-9a-f]{40}$/);
    expect(other['token']).not.toBe(token);
    const [kept] = await sql()<
      Answer[]
    >`select hash, hint, label from api_tokens where id = ${String(made['id'])}`;
    expect(kept).toEqual({ hash: hashSecret(token), hint: `goniec_…${token.slice(-4)}`, label: 'sklep' });

    const listed = await run('--json', 'tokens', 'list', '--account', id);
    const audited = await run('--json', 'audit', '--account', id);
    for (const { out } of [listed, audited]) {
      expect(out).toContain(made['id']);
      expect(out).not.toContain(token.slice(7));
      expect(out).not.toContain(hashSecret(token).toString('hex'));
    }

    const first = await ok('tokens', 'revoke', String(made['id']));
    expect(first['revoked_at']).toMatch(/Z$/);
    expect(await ok('tokens', 'revoke', String(made['id']))).toEqual(first);
    expect(await database.lastAudit(id)).toMatchObject({ action: 'tokens revoke', subject: made['id'] });
    expect(listIn(await ok('tokens', 'list', '--account', id))).toMatchObject([
      { id: made['id'], revoked_at: first['revoked_at'] },
      { id: other['id'], revoked_at: null },
    ]);
    expect((await no('tokens', 'revoke', newId('tok'))).code).toBe('not_found');
    expect((await no('tokens', 'create', '--account', id)).code).toBe('invalid_argument');
  });

  test('are rotated: the former ends at once, and the new one has its label and rate', async () => {
    const id = await account();
    const made = await ok('tokens', 'create', '--account', id, '--label', 'kasa', '--rate-limit', '250');
    const next = await ok('tokens', 'rotate', String(made['id']));
    expect(next).toMatchObject({ label: 'kasa', rate_limit_per_minute: 250 });
    expect(next['token']).toMatch(/^goniec_[0-9a-f]{40}$/);
    expect(next['token']).not.toBe(made['token']);
    expect(await database.lastAudit(id)).toMatchObject({ action: 'tokens rotate', subject: next['id'] });
    expect(listIn(await ok('tokens', 'list', '--account', id))).toMatchObject([
      { id: made['id'], label: 'kasa', revoked_at: expect.stringMatching(/Z$/) as string },
      { id: next['id'], label: 'kasa', rate_limit_per_minute: 250, revoked_at: null },
    ]);
    expect((await no('tokens', 'rotate', String(made['id']))).code).toBe('not_found');
  });
});

describe('keys', () => {
  test('are shown once, kept as a hash, listed by hint, revoked for good', async () => {
    const id = await account('--mode', 'live');
    const made = await ok('keys', 'create', '--account', id, '--scopes', 'manage,send,send');
    const key = String(made['key']);
    expect(key).toMatch(/^pk_live_[0-9A-Za-z]{40}$/);
    expect(made).toMatchObject({ mode: 'live', scopes: ['send', 'manage'] });
    const [kept] = await sql()<Answer[]>`
      select hash, hint, mode, scopes from api_keys where id = ${String(made['id'])}`;
    expect(kept).toEqual({
      ...{ hash: hashSecret(key), hint: `pk_live_…${key.slice(-4)}` },
      ...{ mode: 'live', scopes: ['send', 'manage'] },
    });

    const listed = await run('--json', 'keys', 'list', '--account', id);
    const shown = await run('--json', 'accounts', 'show', '--account', id);
    const audited = await run('--json', 'audit', '--account', id);
    for (const { out } of [listed, shown, audited]) {
      expect(out).toContain(made['id']);
      expect(out).not.toContain(key.slice(8));
      expect(out).not.toContain(hashSecret(key).toString('hex'));
    }

    const first = await ok('keys', 'revoke', String(made['id']));
    expect(first['revoked_at']).toMatch(/Z$/);
    expect(await ok('keys', 'revoke', String(made['id']))).toEqual(first);
    expect(await database.lastAudit(id)).toMatchObject({ action: 'keys revoke', subject: made['id'] });
  });

  test('have a budget for tools, none unless set; the list shows it with what counts today', async () => {
    const id = await account('--mode', 'live');
    const key = String((await ok('keys', 'create', '--account', id))['id']);
    const listed = async () => listIn(await ok('keys', 'list', '--account', id));
    expect(await listed()).toMatchObject([{ tool_budget_grosze: null, tool_spent_grosze: 0 }]);
    const set = await ok('keys', 'budget', key, '--grosze', '2000');
    expect(set).toMatchObject({ id: key, account_id: id, tool_budget_grosze: 2000, tool_spent_grosze: 0 });
    expect(await database.lastAudit(id)).toMatchObject({
      action: 'keys budget',
      subject: key,
      details: { changes: { tool_budget_grosze: { from: null, to: 2000 } } },
    });
    await sql()`
      insert into tool_spending (key_id, day, grosze)
      select ${key}, (now() at time zone 'Europe/Warsaw')::date - back, 30 + back from generate_series(0, 1) back`;
    expect(await listed()).toMatchObject([{ tool_budget_grosze: 2000, tool_spent_grosze: 30 }]);
    const [shown] = listIn(await show(id), 'keys');
    expect(shown).toMatchObject({ tool_budget_grosze: 2000, tool_spent_grosze: 30 });
    expect(await ok('keys', 'budget', key, '--grosze', 'none')).toMatchObject({
      tool_budget_grosze: null,
      tool_spent_grosze: 0,
    });
  });

  test('follow the mode of the account; a live one waits for the first top-up', async () => {
    const id = await account();
    expect(await ok('keys', 'create', '--account', id)).toMatchObject({
      mode: 'test',
      scopes: ['send', 'read', 'manage'],
    });
    expect(await no('keys', 'create', '--account', id, '--mode', 'live')).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('top-up') as string,
    });
    await ok('topup', '--account', id, '--pln', '50');
    expect(await ok('keys', 'create', '--account', id)).toMatchObject({ mode: 'live' });
    const test = await ok('keys', 'create', '--account', id, '--mode', 'test');
    expect(test).toMatchObject({ mode: 'test' });
    expect(test['key']).toMatch(/^pk_test_[0-9A-Za-z]{40}$/);
    const kept = await sql()`select mode, scopes from api_keys where account_id = ${id} order by id`;
    const scopes = ['send', 'read', 'manage'];
    expect([...kept]).toEqual(['test', 'live', 'test'].map((mode) => ({ mode, scopes })));
  });

  test('no closed account gets one', async () => {
    const id = await account();
    await ok('accounts', 'set', '--account', id, '--status', 'closed');
    expect((await no('keys', 'create', '--account', id)).code).toBe('refused');
    expect((await no('topup', '--account', id, '--pln', '50')).code).toBe('refused');
  });
});

describe('senders and numbers', () => {
  test('a removed default sender is no default any more, and comes back when added', async () => {
    const id = await account();
    await ok('senders', 'add', '--account', id, '--name', 'Firma 1');
    await ok('senders', 'add', '--account', id, '--name', 'Firma 1');
    await ok('accounts', 'set', '--account', id, '--sender', 'Firma 1');
    expect(await show(id)).toMatchObject({ senders: [{ name: 'Firma 1', active: true, is_default: true }] });
    await ok('senders', 'remove', '--account', id, '--name', 'Firma 1');
    expect(await show(id)).toMatchObject({
      sender_name: null,
      senders: [{ name: 'Firma 1', active: false, is_default: false }],
    });
    expect((await no('senders', 'remove', '--account', id, '--name', 'Firma 1')).code).toBe('not_found');
    expect((await no('accounts', 'set', '--account', id, '--sender', 'Firma 1')).message).toContain(
      '--sender',
    );
    await ok('senders', 'add', '--account', id, '--name', 'Firma 1');
    expect(listIn(await ok('senders', 'list', '--account', id))).toMatchObject([{ active: true }]);
  });

  test('three formats are one number, two numbers are the most, and the log shows none', async () => {
    const id = await account();
    for (const msisdn of ['600100200', '48600100200', '+48600100200']) {
      expect(await ok('numbers', 'verify', '--account', id, '--msisdn', msisdn)).toMatchObject({
        msisdn: '+48600100200',
      });
    }
    await ok('numbers', 'verify', '--account', id, '--msisdn', '600100201');
    expect((await no('numbers', 'verify', '--account', id, '--msisdn', '600100202')).code).toBe('refused');
    await ok('numbers', 'remove', '--account', id, '--msisdn', '600100200');
    expect((await no('numbers', 'remove', '--account', id, '--msisdn', '600100200')).code).toBe('not_found');
    expect(listIn(await ok('numbers', 'list', '--account', id, '--numbers', 'yes'))).toMatchObject([
      { msisdn: '+48600100201' },
    ]);
    expect((await run('--json', 'audit', '--account', id)).out).not.toContain('60010020');
  });

  test('removed from one account stay what they are to another that has the same', async () => {
    const [id, other] = [await account(), await account()];
    for (const one of [id, other]) {
      await ok('senders', 'add', '--account', one, '--name', 'Firma');
      await ok('accounts', 'set', '--account', one, '--sender', 'Firma');
      await ok('numbers', 'verify', '--account', one, '--msisdn', '600100200');
    }
    await ok('senders', 'remove', '--account', id, '--name', 'Firma');
    await ok('numbers', 'remove', '--account', id, '--msisdn', '600100200');
    expect(await show(other)).toMatchObject({
      sender_name: 'Firma',
      senders: [{ name: 'Firma', active: true, is_default: true }],
    });
    expect(listIn(await ok('numbers', 'list', '--account', other, '--numbers', 'yes'))).toMatchObject([
      { msisdn: '+48600100200' },
    ]);
    const refused = await no('accounts', 'set', '--account', id, '--sender', 'Firma');
    expect(refused.message).toContain('--sender');
  });

  test('of numbers verified at once no third gets through', async () => {
    const id = await account();
    const tries = [1, 2, 3, 4, 5, 6].map((digit) =>
      run('numbers', 'verify', '--account', id, '--msisdn', `60010030${digit}`),
    );
    const codes = (await Promise.all(tries)).map(({ code }) => code);
    expect(codes.filter((code) => code === 0)).toHaveLength(2);
    expect(listIn(await ok('numbers', 'list', '--account', id))).toHaveLength(2);
  });
});

describe('the log of acts', () => {
  test('every command leaves exactly one record, reading ones too, newest first', async () => {
    const id = await account('--mode', 'live', '--billing', 'postpaid');
    const on = ['--account', id];
    const key = String((await ok('keys', 'create', ...on))['id']);
    const lines = [
      ['accounts', 'show', ...on],
      ['accounts', 'set', ...on, '--price', '3'],
      ['keys', 'list', ...on],
      ['keys', 'budget', key, '--grosze', '5'],
      ['keys', 'revoke', key],
      ['senders', 'add', ...on, '--name', 'A1'],
      ['senders', 'list', ...on],
      ['senders', 'remove', ...on, '--name', 'A1'],
      ['numbers', 'verify', ...on, '--msisdn', '600100200'],
      ['numbers', 'list', ...on],
      ['numbers', 'remove', ...on, '--msisdn', '600100200'],
      ['topup', ...on, '--pln', '50'],
      ['adjust', ...on, '--grosze', '-10', '--note', 'błąd'],
      ['ledger', ...on],
      ['statements', 'issue', ...on],
      ['statements', 'list', ...on],
      ['audit', ...on],
    ];
    for (const line of lines) await ok(...line);
    const records = listIn(await ok('audit', ...on));
    const expected = ['accounts create', 'keys create', ...lines.map((line) => nameOf(line, on))];
    expect(records.map((record) => record['action']).reverse()).toEqual(expected);
    expect(records.every((record) => record['actor'] === ACTOR)).toBe(true);
    expect(listIn(await ok('audit', ...on, '--limit', '2'))).toHaveLength(2);
  });

  test('of one account has nothing of others, newer or older', async () => {
    const [before, id, after] = [await account(), await account(), await account()];
    for (const other of [before, after]) await ok('keys', 'list', '--account', other);
    const records = listIn(await ok('audit', '--account', id));
    expect(records.map(({ action }) => action)).toEqual(['accounts create']);
    expect(records.map((record) => record['account_id'])).toEqual([id]);
  });
});

function nameOf(line: string[], on: string[]): string {
  const words = line.slice(0, line.indexOf(on[0] ?? ''));
  return (line.includes('--account') ? words : line.slice(0, 2)).join(' ');
}

describe('help and text for people', () => {
  test('help is an answer, on stdout', async () => {
    const { code, out, err } = await run('accounts', 'create', '--help');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('--credit-limit <GROSZE>');
    expect((await ok('topup', '--help'))['help']).toContain('--pln <N>');
    // Every group of commands says what it is about.
    expect((await run('--help')).out).not.toMatch(/\[command\]$/m);
  });
});

test('two first starts make one demo account', async () => {
  const pools = [1, 2, 3, 4].map(() => openDatabase(database.url(), 1));
  try {
    const made = await Promise.all(pools.map((pool) => ensureDemoAccount(pool, ACTOR)));
    const [first, ...others] = made.filter(({ created }) => created);
    expect(others).toEqual([]);
    expect(new Set(made.map(({ accountId }) => accountId)).size).toBe(1);
    expect(made.filter(({ apiKey }) => apiKey !== undefined)).toEqual([first]);
    expect(first?.apiKey).toMatch(/^pk_live_/);
    expect(await show(first?.accountId ?? '')).toMatchObject({
      name: 'Demo',
      mode: 'live',
      billing_mode: 'prepaid',
      balance_grosze: 5000,
      test_credits: 0,
      sender_name: 'DEMO',
      keys: [{ mode: 'live', scopes: ['send', 'read', 'manage'], revoked_at: null }],
    });
    expect(await ensureDemoAccount(sql(), ACTOR)).toEqual({ created: false, accountId: first?.accountId });
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
});
