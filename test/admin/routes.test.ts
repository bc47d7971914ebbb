import { describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { readRoute, routeCredentials } from '../../db/routes/routes.ts';
import { startSmsc } from '../smsc/smsc.ts';
import { PASSWORD, routeLine } from './routeLine.ts';
import { type Answer, listIn } from './support.ts';

const { run, ok, no, sql, secretsKey, file, smpp, lastAudit, everythingStored, seen } = routeLine();

const stored = async (name: string) => {
  const route = await readRoute(sql(), name);
  if (route === undefined) throw new Error(`no route ${name}`);
  return route;
};
const listed = async (name: string): Promise<Answer | undefined> =>
  listIn(await ok('routes', 'list')).find((route) => route['name'] === name);
async function removed(names: string[]): Promise<void> {
  for (const name of names) {
    await ok('routes', 'disable', name);
    await ok('routes', 'remove', name);
  }
}
const SECRET = /[A-Za-z0-9_-]{43}/;

describe('routes add', () => {
  test('stores settings as given, credentials encrypted, and leaves no secret anywhere', async () => {
    const added = await smpp('plus', '--port', '3550', '--tls', 'yes', '--sessions', '2', '--rate', '50');
    expect(added).toEqual({
      ...{ name: 'plus', kind: 'smpp', state: 'active', rate_per_second: 50, broken_after_s: 10 },
      settings: { host: 'smsc.example.pl', port: 3550, tls: true, sessions: 2 },
      credentials: 'stored',
    });
    const route = await stored('plus');
    expect(routeCredentials(secretsKey, route)).toEqual({ systemId: 'goniec', password: PASSWORD });
    expect(route.credentials?.includes(PASSWORD)).toBe(false);
    expect(await lastAudit()).toMatchObject({ action: 'routes add', subject: 'plus' });
    expect(await everythingStored()).not.toContain(PASSWORD);
    for (const command of ['show', 'callbacks', 'drain', 'enable']) {
      const { out, err } = await run('--json', 'routes', command, 'plus');
      expect(out + err).not.toContain(PASSWORD);
    }
  });

  test('takes credentials as JSON, from the environment, and settings from a file', async () => {
    process.env['TEST_ROUTE_CREDENTIALS'] = JSON.stringify({ systemId: 'a', password: 'b' });
    try {
      await ok(
        ...['routes', 'add', '--name', 'by-environment', '--kind', 'smpp', '--prefix', '+48'],
        ...['--credentials', 'env:TEST_ROUTE_CREDENTIALS', '--broken-after', '30', '--window', '5'],
        ...[
          '--settings',
          file('{"host": "smsc.example.pl", "ids": "hex-answer", "errors": {"0x58": "later:30"}}'),
        ],
      );
    } finally {
      delete process.env['TEST_ROUTE_CREDENTIALS'];
    }
    const route = await stored('by-environment');
    expect(route).toMatchObject({ brokenAfterS: 30, ratePerSecond: null, revision: 1 });
    expect(route.settings).toEqual({
      ...{ host: 'smsc.example.pl', ids: 'hex-answer', errors: { '0x58': 'later:30' }, window: 5 },
    });
    expect(routeCredentials(secretsKey, route)).toEqual({ systemId: 'a', password: 'b' });
    expect(listIn(await ok('routes', 'rules', 'list', '--route', 'by-environment'))).toMatchObject([
      { prefix: '48', account_id: null, type: null, priority: null, weight: 100 },
    ]);
    await removed(['by-environment']);
  });

  test('of smsapi: makes the secret of the callbacks, prints their addresses, and changes it only when told', async () => {
    const line = ['routes', 'add', '--name', 'smsapi', '--kind', 'smsapi'];
    const added = await ok(
      ...[...line, '--credentials', file('token-of-smsapi\n'), '--callback-url', 'https://sms.example.pl/'],
    );
    const secret = SECRET.exec(String(added['callback_reports']))?.[0] ?? '';
    const callbacks = Object.fromEntries(
      ['reports', 'replies', 'lookups'].map((kind) => [
        `callback_${kind}`,
        `https://sms.example.pl/callbacks/smsapi/${secret}/${kind}`,
      ]),
    );
    expect(added).toMatchObject(callbacks);
    expect(await ok('routes', 'callbacks', 'smsapi')).toEqual({ name: 'smsapi', ...callbacks });

    await ok('routes', 'credentials', 'smsapi', '--credentials', file('{"token": "another-token"}'));
    expect(routeCredentials(secretsKey, await stored('smsapi'))).toEqual({
      token: 'another-token',
      callbackSecret: secret,
    });
    const before = Date.now();
    const renewed = await ok('routes', 'callbacks', 'smsapi', '--secret', 'new');
    const after = Date.now();
    expect(String(renewed['callback_reports'])).toMatch(SECRET);
    expect(String(renewed['callback_reports'])).not.toContain(secret);
    expect((await stored('smsapi')).revision).toBe(3);
    const until = Date.parse(String(renewed['former_good_until']));
    expect(until).toBeGreaterThanOrEqual(before + 24 * 3_600_000);
    expect(until).toBeLessThanOrEqual(after + 24 * 3_600_000);
    const former = { former: { callbackSecret: secret, until } };
    expect(routeCredentials(secretsKey, await stored('smsapi'))).toMatchObject(former);
    // Another token changes nothing about who may call.
    await ok('routes', 'credentials', 'smsapi', '--credentials', file('token-number-three'));
    expect(routeCredentials(secretsKey, await stored('smsapi'))).toMatchObject({
      ...{ token: 'token-number-three', ...former },
      callbackSecret: SECRET.exec(String(renewed['callback_reports']))?.[0],
    });
    const replaced = await ok('routes', 'callbacks', 'smsapi', '--secret', 'replace');
    expect(routeCredentials(secretsKey, await stored('smsapi'))).toEqual({
      token: 'token-number-three',
      callbackSecret: SECRET.exec(String(replaced['callback_reports']))?.[0],
    });
    expect(replaced['callback_reports']).not.toBe(renewed['callback_reports']);
    expect(replaced).not.toHaveProperty('former_good_until');
    const everything = await everythingStored();
    for (const hidden of ['token-of-smsapi', 'another-token', secret])
      expect(everything).not.toContain(hidden);
    expect((await no('routes', 'callbacks', 'simulator')).code).toBe('refused');
  });
});

describe('routes change and credentials', () => {
  test('change what is named; null gives back a default; the log says from what to what', async () => {
    await smpp('changing', '--port', '3000', '--window', '20');
    const settings = '{"port": null, "ids": "insensitive"}';
    await ok('routes change changing', '--settings', settings, '--rate', '7');
    const route = await stored('changing');
    expect(route).toMatchObject({
      ...{ ratePerSecond: 7, revision: 2 },
      settings: { host: 'smsc.example.pl', window: 20, ids: 'insensitive' },
    });
    expect(await lastAudit()).toMatchObject({
      action: 'routes change',
      details: {
        changes: {
          port: { from: 3000, to: null },
          ids: { from: null, to: 'insensitive' },
          rate_per_second: { from: null, to: 7 },
        },
      },
    });
    await ok('routes', 'change', 'changing', '--rate', 'none');
    expect((await stored('changing')).ratePerSecond).toBeNull();
    expect((await no('routes', 'change', 'changing')).code).toBe('invalid_argument');
    expect((await no('routes', 'change', 'changing', '--settings', '{"host": null}')).message).toContain(
      'host',
    );
    expect(await ok('routes', 'show', 'changing')).toMatchObject({
      settings: { port: 2775, window: 20, responseSeconds: 10, ids: 'insensitive' },
    });
  });

  test('new credentials replace the old; another secrets key reads nothing', async () => {
    await smpp('rekeyed');
    await ok('routes', 'credentials', 'rekeyed', '--system-id', 'other', '--credentials', file('nowe'));
    const route = await stored('rekeyed');
    expect(routeCredentials(secretsKey, route)).toEqual({ systemId: 'other', password: 'nowe' });
    expect(route.revision).toBe(2);
    expect(() => routeCredentials(Buffer.alloc(32), route)).toThrow('does not match');
    // Bytes copied from one route to another are worth nothing.
    expect(() => routeCredentials(secretsKey, { ...route, name: 'other' })).toThrow('does not match');
    await sql()`update routes set credentials = ${Buffer.from('garbage')} where name = 'rekeyed'`;
    expect((await no('routes', 'test', 'rekeyed')).message).toContain('replace them');
  });
});

describe('states', () => {
  test('change the route once each, and say what no other route takes', async () => {
    await smpp('one', '--prefix', '49');
    expect((await run('routes', 'drain', 'one')).out).toContain(
      'No other active route takes all of: numbers +49',
    );
    await ok('routes', 'disable', 'one');
    expect(await lastAudit()).toMatchObject({ details: { from: 'draining', to: 'disabled' } });
    await ok('routes', 'disable', 'one');
    expect((await stored('one')).revision).toBe(3);
    await ok('routes', 'enable', 'one');
    expect(await listed('one')).toMatchObject({ state: 'active' });
    await removed(['one']);
  });

  test('a route goes only if it was never used', async () => {
    await smpp('used', '--prefix', '47');
    expect((await no('routes', 'remove', 'used')).message).toContain('Disable');
    await ok('routes', 'disable', 'used');
    await sql()`insert into delivery_reports (route, provider_message_id, state) values ('used', '1', 'delivered')`;
    expect((await no('routes', 'remove', 'used')).message).toContain('stays');
    await sql()`delete from delivery_reports where route = 'used'`;
    await seen('used', 'w');
    expect(await ok('routes', 'remove', 'used')).toEqual({ name: 'used', removed: true });
    for (const table of ['routes', 'route_rules', 'route_states', 'route_workers']) {
      const column = table === 'routes' ? 'name' : 'route';
      expect(await sql()`select from ${sql()(table)} where ${sql()(column)} = 'used'`).toHaveLength(0);
    }
  });
});

describe('rules', () => {
  test('are added with every condition, reweighted, listed, removed; which follows them', async () => {
    const account = String((await ok('accounts', 'create', '--name', 'Kwiaciarnia'))['id']);
    for (const name of ['left', 'right', 'own']) await smpp(name);
    const rule = async (route: string, ...more: string[]) =>
      Number((await ok('routes', 'rules', 'add', '--route', route, ...more))['id']);
    const left = await rule('left', '--prefix', '+4850', '--weight', '300');
    await rule('right', '--prefix', '4850');
    const own = await rule('own', '--account', account, '--type', 'sms', '--priority', 'yes');
    expect(await lastAudit()).toMatchObject({
      action: 'routes rules add',
      account_id: account,
      subject: 'own',
    });
    expect(await rule('left', '--prefix', '4850', '--weight', '100')).toBe(left);
    expect(listIn(await ok('routes', 'rules', 'list', '--route', 'own'))).toEqual([
      { id: own, route: 'own', prefix: 'all', account_id: account, type: 'sms', priority: true, weight: 100 },
    ]);

    await seen('left', 'w');
    await seen('right', 'w');
    const shares = listIn(await ok('routes', 'which', '--to', '500100200'));
    expect(shares.map((choice) => choice['route']).sort()).toEqual(['left', 'right']);
    for (const choice of shares) expect(Number(choice['first_choice_percent'])).toBeGreaterThan(35);
    expect(await lastAudit()).toMatchObject({ subject: '+48*****200' });
    expect(
      listIn(await ok('routes', 'which', '--to', '500100200', '--account', account, '--priority', 'yes')),
    ).toContainEqual({
      ...{ route: 'own', first_choice_percent: 0, working: false },
      ...{ rule: own, admits: `account ${account}, sms, priority` },
    });
    expect(listIn(await ok('routes', 'which', '--to', '+4915112345678'))).toMatchObject([
      { route: 'simulator' },
    ]);
    expect((await run('routes', 'which', '--to', '500100200', '--type', 'mms')).out).toContain(
      'No active route',
    );

    expect(await ok('routes', 'rules', 'remove', String(own))).toMatchObject({ id: own, removed: true });
    expect(await lastAudit()).toMatchObject({ action: 'routes rules remove', account_id: account });
    await removed(['left', 'right', 'own']);
  });
});

test('a rule may be for e-mail alone, where the route carries it', async () => {
  const credentials = file('re_12345678');
  await ok('routes', 'add', '--name', 'mail', '--kind', 'resend', '--credentials', credentials);
  const rule = await ok('routes', 'rules', 'add', '--route', 'mail', '--type', 'email');
  expect(rule).toMatchObject({ route: 'mail', type: 'email', prefix: 'all', account_id: null });
  await smpp('texts');
  const refused = await no('routes', 'rules', 'add', '--route', 'texts', '--type', 'email');
  expect(refused).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('carries no email') as string,
  });
  await removed(['mail', 'texts']);
});

describe('routes list and show', () => {
  test('add up what the workers say, and forget those that are gone', async () => {
    await smpp('watched', '--rate', '50');
    expect(await listed('watched')).toMatchObject({ working: false, sessions: 0, workers_seen: 0, queue: 0 });
    const at = new Date('2026-11-21T10:00:00Z');
    const busy = { sessions: 2, sessions_wanted: 2, window_size: 20, in_flight: 7, failures: 1 };
    await seen('watched', 'one', busy);
    await seen('watched', 'two', {
      ...{ sessions: 1, sessions_wanted: 2, window_size: 10, in_flight: 3 },
      ...{ last_error: 'reset\u001b[2J\n by \u202epeer', last_error_at: at },
    });
    const [narrow = '', wide = ''] = await Promise.all(
      [[], ['--wide']].map(async (more) => (await run('routes', 'list', ...more)).out),
    );
    expect(narrow.split('\n')[0]).toMatch(/^name +kind +state +working .* failures$/);
    for (const text of narrow.split('\n').slice(0, 3)) expect(text.length).toBeLessThan(110);
    expect(wide.split('\n')[0]).toMatch(/^name +kind .* last_error_at +last_error$/);
    await seen('watched', 'gone', { sessions: 9, seen_at: new Date(Date.now() - 60_000) });
    expect(await listed('watched')).toMatchObject({
      ...{ kind: 'smpp', working: true, workers_seen: 2, sessions: 3, sessions_wanted: 4 },
      ...{ window: 30, in_flight: 10 },
      ...{ rate_per_second: 50, failures: 1, queue: 0, unanswered: 0, reported_at: null },
      ...{ last_error_at: at.toISOString(), last_error: 'reset\u001b[2J\n by \u202epeer' },
    });
    const shown = await ok('routes', 'show', 'watched');
    expect(listIn(shown, 'workers')).toMatchObject([{ worker: 'one', in_flight: 7 }, { worker: 'two' }]);
    const table = (await run('routes', 'list')).out;
    expect(table).toMatch(/watched +smpp +active +true/);
    expect(table.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    await sql()`update route_states set working_at = now() - interval '11 seconds' where route = 'watched'`;
    expect(await listed('watched')).toMatchObject({ working: false });
  });

  test('e-mails that wait or have no answer count as messages do, also in what a drain says', async () => {
    await ok(
      ...['routes', 'add', '--name', 'relay', '--kind', 'smtp', '--host', 'relay.example'],
      ...['--mail-host', 'mail.example.pl', '--credentials', file('{}')],
    );
    const account = String((await ok('accounts', 'create', '--name', 'Kwiaciarnia'))['id']);
    for (const submission of ['waiting', 'submitting', 'unanswered'])
      await sql()`
        insert into emails (id, account_id, request_id, interface, status, submission, route, domain, from_address, subject, cost_grosze,
                            give_up_at)
        values (${newId('em')}, ${account}, 'r', 'v1', 'queued', ${submission}, 'relay', 'a.example', 'a@a.example', 'x', 1, now())`;
    const waiting = { queue: 2, unanswered: 1 };
    expect(await listed('relay')).toMatchObject(waiting);
    expect(await ok('routes', 'show', 'relay')).toMatchObject(waiting);
    expect(await ok('routes', 'drain', 'relay')).toMatchObject({ state: 'draining', ...waiting });
    expect(await ok('routes', 'disable', 'relay')).toMatchObject({ state: 'disabled', ...waiting });
  });

  test('a route of a kind that this release does not know is shown as it is, and nothing else is done with it', async () => {
    await smpp('later', '--prefix', '47');
    await sql()`update routes set kind = 'pigeon' where name = 'later'`;
    expect(await ok('routes', 'show', 'later')).toMatchObject({
      kind: 'pigeon',
      settings: { host: 'smsc.example.pl' },
    });
    expect((await run('routes', 'show', 'later')).out).toContain(
      'cannot be opened: This release does not know routes of kind pigeon.\n',
    );
    expect(await listed('later')).toMatchObject({ kind: 'pigeon' });
    const refused = { code: 'refused', message: 'This release does not know routes of kind pigeon.' };
    expect(await no('routes', 'test', 'later')).toEqual(refused);
    expect(await no('routes', 'callbacks', 'later')).toEqual(refused);
    expect(listIn(await ok('routes', 'which', '--to', '+4791234567'))).toMatchObject([
      { route: 'simulator' },
    ]);
    await removed(['later']);
  });
});

describe('routes test', () => {
  test('binds to the SMSC and says what came of it', async () => {
    const smsc = await startSmsc({ systemId: 'goniec', password: PASSWORD });
    try {
      await smpp('bound', '--settings', `{"host": "127.0.0.1", "port": ${smsc.port}, "bindSeconds": 2}`);
      await ok('routes', 'change', 'bound', '--host', '127.0.0.1');
    } catch (error) {
      await smsc.stop();
      throw error;
    }
    try {
      expect(await ok('routes', 'test', 'bound')).toMatchObject({ name: 'bound', works: true });
      expect(smsc.bindAnswers).toEqual([0]);
      expect(await lastAudit()).toMatchObject({ action: 'routes test', subject: 'bound' });
      smsc.password = 'inne';
      const refusal = await no('routes', 'test', 'bound');
      expect(refusal.code).toBe('unavailable');
      expect(refusal.message).not.toContain(PASSWORD);
    } finally {
      await smsc.stop();
    }
    expect((await no('routes', 'test', 'bound')).message).toContain('does not work from here');
    expect(smsc.problems).toEqual([]);
  });
});
