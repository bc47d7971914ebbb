import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { apiClient, call } from '../support/client.ts';
import { newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const base = () => inject('service').apiUrl;
let account: TestAccount;
beforeAll(async () => {
  account = await newAccount({ balance: 0 });
});

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  call(`${base()}/v1/messages`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json', ...headers },
  });

/** Speaks to the server as bytes, until it closes. */
async function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(base());
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(text);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

describe('routing', () => {
  it.each(['/v1/messages//', '/V1/messages', '/v1/nothing', '/%E0%A4%A'])(
    '%s is unknown: 404',
    async (path) => {
      expect(await account.api.get(path)).toMatchObject(refusal(404));
    },
  );

  it.each(['%00', '..', `msg_${'0'.repeat(26)}`])('message %s is unknown: 404', async (id) => {
    expect(await account.api.get(`/v1/messages/${id}`)).toMatchObject({ status: 404 });
  });

  it.each([
    ['PUT', '/v1/messages', 'GET, HEAD, OPTIONS, POST'],
    ['GET', '/v1/messages/estimate', 'OPTIONS, POST'],
    ['HEAD', '/v1/account/webhook', 'OPTIONS, PUT'],
    // These GETs charge and mark, which a HEAD must not.
    ['HEAD', '/v1/numbers/500100200/lookup', 'GET, OPTIONS'],
    ['HEAD', '/v1/inbound', 'GET, OPTIONS'],
    ['PROPFIND', '/v1/account', 'GET, HEAD, OPTIONS, PATCH'],
  ])('%s %s gives 405 with Allow: %s', async (method, path, allow) => {
    const answer = await call(base() + path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
    if (method !== 'HEAD') expect(answer.body.error).toMatchObject({ code: 'method_not_allowed' });
  });

  it('OPTIONS tells the methods; HEAD is a GET without its body', async () => {
    const options = await call(`${base()}/v1/account`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS, PATCH']);
    const headers = { authorization: `Bearer ${account.key}` };
    const head = await call(`${base()}/v1/account`, { method: 'HEAD', headers });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await call(`${base()}/v1/account`, { method: 'HEAD' })).status).toBe(401);
  });

  it('every answer carries the security headers and is not to be stored', async () => {
    for (const path of ['/v1/health', '/v1/nothing']) {
      const { headers } = await call(base() + path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });
});

describe('bodies', () => {
  it.each([
    ['', 'empty'],
    ['{', 'broken'],
    ['[]', 'an array'],
    ['null', 'null'],
    ['['.repeat(100_000), 'deep'],
  ])('body %# gives 400', async (body) => {
    expect(await post(body)).toMatchObject(refusal(400));
  });

  it('bytes that are no UTF-8 give 400', async () => {
    expect((await post(Buffer.from('{"to":"500100200","text":"\xff"}', 'latin1'))).status).toBe(400);
  });

  it.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/json; charset=iso-8859-2' }],
    [{ 'content-encoding': 'br' }],
  ])('%j gives 415', async (headers) => {
    expect(await post('{}', headers)).toMatchObject({
      status: 415,
      body: { error: { code: 'unsupported_media_type' } },
    });
  });

  it('application/json with charset utf-8 in any spelling is taken', async () => {
    for (const type of ['application/json; charset=UTF-8', 'Application/JSON;charset="utf-8"']) {
      expect((await post('{}', { 'content-type': type })).body.error).toMatchObject({ param: 'to' });
    }
  });

  it('more than 256 kB gives 413, announced or not, and only to who may send at all', async () => {
    const big = JSON.stringify({ to: '500100200', text: 'x'.repeat(256 * 1024) });
    expect(await post(big)).toMatchObject({ status: 413, body: { error: { code: 'payload_too_large' } } });
    expect((await post(big, { authorization: 'Bearer nothing' })).status).toBe(401);
    expect(await chunked(big)).toBe(413);
  });

  it('prototype keys are unknown fields and change nothing', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      const answer = await post(`{"to":"500100200","text":"x","${key}":{"priority":true}}`);
      expect(answer).toMatchObject(refusal(400, key));
    }
    expect(({} as Record<string, unknown>)['priority']).toBeUndefined();
  });

  function chunked(body: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
      const out = httpRequest(`${base()}/v1/messages`, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      out.on('error', reject);
      for (let i = 0; i < body.length; i += 65_536) out.write(body.slice(i, i + 65_536));
      out.end();
    });
  }
});

describe('query parameters', () => {
  it.each([
    ['limit=10&limit=20', 'limit'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['status=draft', 'status'],
    ['to=abc', 'to'],
    ['cursor=bXNnXw', 'cursor'],
    ['reference=a%00b', 'reference'],
    ['page=2', 'page'],
    ['__proto__=1', '__proto__'],
  ])('%s gives 400 with param %s', async (query, param) => {
    expect(await account.api.get(`/v1/messages?${query}`)).toMatchObject(refusal(400, param));
  });

  it('are called parameters, and a plus not encoded is pointed out', async () => {
    const message = async (query: string) =>
      (await account.api.get(`/v1/messages?${query}`)).body.error.message;
    expect(await message('page=2')).toBe('Nieznany parametr „page”.');
    expect(await message('to=+48500100200')).toContain('%2B');
    expect(await message('to=+48')).not.toContain('%2B');
    expect((await account.api.get('/v1/messages?to=%2B48500100200')).status).toBe(200);
    for (const path of [
      '/v1/inbound?since=2026-03-01T11:00:00+01:00',
      '/v1/blacklist?cursor=+48500100200',
      '/v1/email?to=jan+faktury@sklep.example',
      '/v1/inbound?from=+48500100200',
    ])
      expect((await account.api.get(path)).body.error.message, path).toContain('%2B');
  });
});

describe('authentication', () => {
  const key = () => account.key;
  it.each([
    ['no header', () => undefined],
    ['Basic', () => `Basic ${Buffer.from(`${key()}:`).toString('base64')}`],
    ['no scheme', () => key()],
    ['another key', () => `Bearer ${key().slice(0, -1)}${key().endsWith('0') ? '1' : '0'}`],
    ['two keys', () => `Bearer ${key()} ${key()}`],
    ['other case', () => `Bearer ${key().toUpperCase()}`],
  ])('%s: 401', async (_, header) => {
    const authorization = header();
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const answer = await call(`${base()}/v1/account`, { headers });
    expect(answer).toMatchObject(refusal(401));
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('a key in the query is none', async () => {
    expect((await apiClient(base()).get(`/v1/account?key=${key()}`)).status).toBe(401);
    expect((await apiClient(base()).get(`/v1/account?access_token=${key()}`)).status).toBe(401);
  });

  it('comes before anything that the request says', async () => {
    const answer = await call(`${base()}/v1/messages`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(401);
  });
});

describe('what HTTP leaves to the server', () => {
  it.each([
    ['GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
    [
      'POST /v1/messages HTTP/1.1\r\nHost: x\r\nExpect: foo\r\nConnection: close\r\n\r\n',
      417,
      'invalid_request',
    ],
  ])('%# is answered with the envelope', async (text, status, code) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const id = /\r\nX-Request-Id: (req_[0-9a-z]{26})\r\n/i.exec(answer)?.[1];
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      error: { code, message: expect.stringMatching(/\.$/) as string },
      request_id: id,
    });
  });

  it.each([
    'GET /v1/openapi.json HTTP/1.0\r\n\r\n',
    'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-Continue\r\n\r\n',
    'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n',
    'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ])('%# is served as usual', async (text) => {
    expect(await raw(text)).toMatch(
      /^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 [^]*\r\nX-Request-Id: req_/,
    );
  });
});

describe('what is no HTTP', () => {
  it.each([
    ['NONSENSE\r\n\r\n', 400],
    ['GET /v1/health HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n', 400],
    [`GET /v1/health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ])('%# is answered with the envelope', async (text, status) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nX-Request-Id: req_/i);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      error: { code: 'invalid_request' },
    });
  });

  it.each(['*', 'http://elsewhere/v1/nothing', '/v1/health?%'])(
    'request target %s does no harm',
    async (target) => {
      const answer = await raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1.1 4\d\d /);
      expect(answer).toMatch(/\r\nX-Request-Id: req_/i);
    },
  );
});
