import { describe, expect, test } from 'vitest';
import { routeLine } from './routeLine.ts';

const { ok, no, sql, file, smppLine, everythingStored } = routeLine();

describe('hostile or mistyped values', () => {
  const incomplete = (...more: string[]) => [
    ...['routes', 'add', '--name', 'x', '--kind', 'smpp', '--host', 'h'],
    ...more,
  ];
  const complete = () => smppLine('--name', 'x');
  const deep = `{"errors":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

  test.each([
    ['a name with other characters', ['--name', 'X;drop'], '--name'],
    ['a long name', ['--name', 'a'.repeat(32)], '--name'],
  ])('%s', async (_, more, option) => {
    expect((await no(...smppLine(...more))).message).toContain(option);
  });

  test.each([
    [['--port', '65536'], '--port'],
    [['--tls', 'true'], '--tls'],
    [['--rate', '0'], '--rate'],
    [['--bind', 'receiver'], '--bind'],
    [['--prefix', '48a'], '--prefix'],
    [['--url', 'https://example.pl'], 'url'],
    [['--settings', '{'], 'not JSON'],
    [['--settings', '{"port": "2775"}'], 'port'],
    [['--settings', '{"tlsCa": "a password"}'], 'tlsCa: certificates in PEM'],
    [['--settings', '{"errors": {"nope": "refused"}}'], 'errors.nope: a command_status'],
    [['--settings', '{"nonsense\\u001b[2J": 1}'], 'nonsense'],
    [['--settings', '{"__proto__": {"port": 1}, "password": "p"}'], 'password'],
    [['--settings', '{"tlsServerName": "\\u0000"}'], 'characters'],
    [['--settings', deep], '--settings'],
    [['--settings', '/nonexistent/file'], 'ENOENT'],
  ])('%j', async (more, named) => {
    const host = more.some((word) => word.includes('"host"')) ? [] : ['--host', 'h'];
    const line = ['routes', 'add', '--name', 'x', '--kind', 'smpp', ...host, '--system-id', 's'];
    const { code, message } = await no(...line, '--credentials', file('p'), ...more);
    expect(code).toBe('invalid_argument');
    expect(message).toContain(named);
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(await sql()`select from routes where name = 'x'`).toHaveLength(0);
  });

  test.each([
    [['rules', 'add', '--route', 'simulator', '--weight', '0'], '--weight'],
    [['rules', 'add', '--route', 'simulator', '--prefix', '4'.repeat(16)], '--prefix'],
    [['rules', 'remove', '9'.repeat(19)], 'RULE'],
    [['which', '--to', '12'], '--to'],
    [['change', 'simulator', '--host', 'h'], 'host'],
  ])('routes %j', async (words, named) => {
    const { code, message } = await no('routes', ...words);
    expect(code).toBe('invalid_argument');
    expect(message).toContain(named);
    expect(await sql()`select from route_rules where route = 'simulator'`).toHaveLength(1);
  });

  test.each(['garbage', 'https://u:p@example.pl'])('of smsapi: --url %s', async (url) => {
    const line = ['routes', 'add', '--name', 'x', '--kind', 'smsapi', '--credentials', file('token-token')];
    for (const option of ['--url', '--callback-url'])
      expect(await no(...line, option, url)).toMatchObject({ code: 'invalid_argument' });
  });

  test('credentials that cannot be used are refused without a word of them', async () => {
    const hidden = 'hunter2-geheim';
    for (const content of [
      `{"systemId": "s", "password": "${hidden}`,
      `{"systemId": ["${hidden}"], "password": "x"}`,
      hidden.repeat(20),
      `{"${hidden}": "s"}`,
    ]) {
      const { code, message } = await no(...incomplete('--system-id', 's', '--credentials', file(content)));
      expect(code).toBe('invalid_argument');
      expect(message).toContain('--credentials');
      expect(message).not.toContain('hunter2');
    }
    for (const source of ['env:NO_SUCH_VARIABLE', '/nonexistent', file('')]) {
      expect((await no(...incomplete('--system-id', 's', '--credentials', source))).message).toContain(
        '--credentials',
      );
    }
    expect((await no(...incomplete())).message).toContain('--credentials');
    expect((await no(...incomplete('--credentials', file('p')))).message).toContain('systemId');
    expect(
      (await no('routes', 'add', '--name', 'x', '--kind', 'simulator', '--credentials', file('p'))).code,
    ).toBe('refused');
    expect(await everythingStored()).not.toContain('hunter2');
  });

  test('names that exist, or do not', async () => {
    await ok(...complete());
    expect((await no(...complete())).code).toBe('refused');
    await ok('routes', 'disable', 'x');
    await ok('routes', 'remove', 'x');
    for (const command of ['show', 'enable', 'drain', 'disable', 'remove', 'test', 'callbacks']) {
      expect((await no('routes', command, 'nowhere')).code).toBe('not_found');
    }
    expect((await no('routes', 'credentials', 'nowhere', '--credentials', file('p'))).code).toBe('not_found');
    expect((await no('routes', 'change', 'nowhere', '--rate', '1')).code).toBe('not_found');
    expect((await no('routes', 'rules', 'add', '--route', 'nowhere')).code).toBe('not_found');
    expect((await no('routes', 'rules', 'remove', '999999')).code).toBe('not_found');
    expect((await no('routes', 'rules', 'add', '--route', 'simulator', '--account', 'cl_x')).code).toBe(
      'not_found',
    );
  });
});
