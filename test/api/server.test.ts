import { once } from 'node:events';
import { connect } from 'node:net';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { apiClient } from '../support/client.ts';
import { newAccount, storedMessages } from '../support/factories.ts';
import { eventually } from '../support/eventually.ts';
import { startOwnApi } from '../support/ownApi.ts';

const start = (port = 0, write: (line: string) => void = () => undefined): Promise<RunningApi> =>
  startOwnApi({ port, log: pino({ level: 'info' }, { write }) });

describe('an API process', () => {
  it('says so when its port is taken', async () => {
    const api = await start();
    await expect(start(api.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await api.stop();
  });

  it('stops when its last request is answered, and closes idle connections', async () => {
    const api = await start();
    const account = await newAccount();
    const idle = connect(api.port, '127.0.0.1');
    idle.write('GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    idle.resume();
    const to = Array.from({ length: 100 }, (_, i) => `+48500${300_000 + i}`);
    const send = apiClient(api.url, account.key).send({ to, text: 'x', send_at: new Date(Date.now() + 1e8) });
    await eventually(
      () => storedMessages(account.id),
      (stored) => stored.length > 0,
    );
    const closed = once(idle, 'close');
    await Promise.all([api.stop(), closed]);
    expect((await send).body.count).toBe(100);
    await expect(fetch(`${api.url}/v1/health`)).rejects.toThrow();
  });

  it('logs every request without a word of what is in it', async () => {
    const lines: string[] = [];
    const api = await start(0, (line) => lines.push(line));
    const account = await newAccount();
    const client = apiClient(api.url, account.key);
    const sent = await client.send({ to: '500100211', text: 'poufne', reference: 'sekret' });
    const answers = [
      sent,
      await client.get(`/v1/messages/${sent.body.id}`),
      await client.get('/v1/messages?to=500100211&reference=sekret'),
      await client.get('/v1/numbers/500100211/lookup'),
      await client.get('/v1/numbers/500100211/sekret'),
      await client.send({ to: '500100211', text: 'poufne', sekret: 1 }),
    ];
    await api.stop();
    const log = lines.join('');
    expect(log).not.toMatch(/500100211|poufne|sekret/);
    expect(log).not.toContain(account.key);
    const requests = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'request');
    expect(requests.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
    expect(requests.map(({ method, route }) => [method, route])).toEqual([
      ['POST', '/v1/messages'],
      ['GET', '/v1/messages/:id'],
      ['GET', '/v1/messages'],
      ['GET', '/v1/numbers/:msisdn/lookup'],
      ['GET', null],
      ['POST', '/v1/messages'],
    ]);
    for (const request of requests.filter(({ route }) => route !== null)) {
      expect(request).toMatchObject({
        accountId: account.id,
        requestId: expect.stringMatching(/^req_/) as string,
      });
    }
  });
});
