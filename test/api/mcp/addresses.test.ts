import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { freePort } from '../../../bin/ports.ts';
import { newAccount } from '../../support/factories.ts';
import { type ServiceProcess, spawnProcess } from '../../support/service.ts';

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

let api: ServiceProcess;
let key: string;
let port: number;
beforeAll(async () => {
  port = await freePort();
  const settings = {
    PORT: String(port),
    PUBLIC_URL: 'https://api.example.pl',
    MCP_URL: 'https://tools.example.com/',
  };
  [api, { key }] = await Promise.all([spawnProcess('api', inject('service'), settings), newAccount()]);
});
afterAll(() => api.stop());

/** What a list of tools is answered with that is asked for at this host, from a page of this origin. */
async function answerAt(headers: { Host: string; Origin?: string }): Promise<[number, string]> {
  const asking = request({
    ...{ host: '127.0.0.1', port, path: '/mcp', method: 'POST' },
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${key}`,
      ...headers,
    },
  });
  asking.end(LIST);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return [answer.statusCode!, await text(answer)];
}

it.each([
  [200, { Host: 'api.example.pl' }],
  [200, { Host: 'tools.example.com' }],
  [200, { Host: 'tools.example.com', Origin: 'https://tools.example.com' }],
  [200, { Host: 'localhost:3000' }],
  [403, { Host: 'tools.example.org' }],
  [403, { Host: 'tools.example.com', Origin: 'https://tools.example.org' }],
  [403, { Host: 'sub.tools.example.com' }],
])('%i for %o', async (status, headers) => {
  expect((await answerAt(headers))[0]).toBe(status);
});

it('says which address it was asked at, and what sets it', async () => {
  const [, refusal] = await answerAt({ Host: 'tools.example.org', Origin: 'https://a.example' });
  for (const word of ['tools.example.org', 'https://a.example', 'MCP_URL']) expect(refusal).toContain(word);
});
