import { describe, expect, inject, it } from 'vitest';
import { newAccount } from '../../support/factories.ts';
import { GENERATIONS, mcpClient } from '../../support/mcpClient.ts';
import { using } from './using.ts';

// Stated here on its own, as the document names them (v2.3.0, What the service does).
const READING = words(`get_message list_messages list_replies list_links count_sms_parts list_templates
  get_account list_senders list_blacklist list_contacts list_groups get_report`);
const CHANGING = words(`send_sms send_voice cancel_message save_template set_default_sender set_send_window
  set_inbound_keyword add_to_blacklist remove_from_blacklist upsert_contacts delete_contact`);
const NAMED = [...READING, ...CHANGING, 'check_number', 'add_to_group'].sort();
const { apiUrl } = inject('service');

// About four bytes a token (o200k).
const TOOLS_BYTES = 20_600;
// What Go's regular expressions, google-genai, Python's jsonschema, strict OpenAI models and grammar builders all take.
const KEYWORDS = words('type description enum minimum maximum items properties required');

/** The places of a schema that some gateway or model refuses. */
function keywordsOf(schema: object, place: string): string[] {
  return Object.entries(schema).flatMap(([keyword, value]: [string, unknown]) => {
    const at = `${place}.${keyword}`;
    if (!KEYWORDS.includes(keyword)) return [at];
    if (keyword === 'type') return typeof value === 'string' ? [] : [at];
    if (keyword === 'items') return keywordsOf(value as object, at);
    if (keyword !== 'properties') return [];
    return Object.entries(value as Record<string, object>).flatMap(([name, field]) =>
      'type' in field ? keywordsOf(field, `${at}.${name}`) : [`${at}.${name}`],
    );
  });
}

function words(text: string): string[] {
  return text.split(/\s+/).sort();
}

describe.each(GENERATIONS)('the assistant-tool server, %s', (generation) => {
  it('has the 25 tools of the document, each with schemas, texts and hints', async () => {
    const { key } = await newAccount();
    const { tools } = await using(key, ({ client }) => client.listTools(), { generation });
    expect(tools).toHaveLength(25);
    expect(tools.map(({ name }) => name).sort()).toEqual(NAMED);
    for (const tool of tools) {
      expect(tool.title).toBeTruthy();
      expect(tool.description!.length).toBeGreaterThan(60);
      expect(tool.inputSchema.type).toBe('object');
      expect(keywordsOf(tool.inputSchema, tool.name)).toEqual([]);
      // A hint that is left out would count as its default, which for destructive is true.
      for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'])
        expect(tool.annotations).toHaveProperty(hint);
    }
    const hinted = (hint: 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint') =>
      tools.filter(({ annotations }) => annotations![hint]!).map(({ name }) => name);
    // Listing replies may mark them as read.
    expect(hinted('readOnlyHint').sort()).toEqual(READING.filter((name) => name !== 'list_replies'));
    expect(hinted('destructiveHint').sort()).toEqual(CHANGING);
    expect(NAMED.filter((name) => !hinted('idempotentHint').includes(name))).toEqual([
      'list_replies',
      'save_template',
    ]);
    expect(hinted('openWorldHint').sort()).toEqual(['check_number', 'send_sms', 'send_voice']);
    // At most 5,000 tokens (o200k): clients hold all tools in every request.
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(TOOLS_BYTES);
  });

  it('serves each tool in a subset', async () => {
    const { key } = await newAccount();
    const listed: string[] = [];
    for (const subset of ['sms', 'account', 'reports', 'contacts'])
      listed.push(...(await using(key, ({ list }) => list(), { generation, path: `/mcp/${subset}` })));
    expect([...new Set(listed)].sort()).toEqual(NAMED);
    const several = listed.filter((name, index) => listed.indexOf(name) !== index).sort();
    expect(several).toEqual(['list_links', 'list_messages', 'list_replies']);
  });

  it('lists what the key may use, and says which scope is missing', async () => {
    const { key } = await newAccount({ scopes: ['read'] });
    await using(
      key,
      async ({ list, call }) => {
        expect((await list()).sort()).toEqual(READING);
        expect(await call('send_sms', { to: '+48500100200', text: 'Cześć' })).toMatchObject({
          isError: true,
          refusal: { error: { code: 'forbidden' }, next: expect.stringContaining('"send"') as string },
        });
      },
      { generation },
    );
  });

  it('names in descriptions and prompts only tools that are there', async () => {
    const reader = await newAccount({ scopes: ['read'] });
    const { key } = await newAccount();
    for (const [of, path] of [
      [reader.key, '/mcp'],
      ...['sms', 'account', 'reports', 'contacts'].map((subset) => [key, `/mcp/${subset}/`] as const),
    ] as const)
      await using(
        of,
        async ({ client }) => {
          const { tools } = await client.listTools();
          const there = tools.map(({ name }) => name);
          const absent = NAMED.filter((name) => !there.includes(name));
          const { prompts } = await client.listPrompts();
          const said = JSON.stringify([tools.map(({ description }) => description), prompts]);
          expect(absent.filter((name) => said.includes(`\`${name}\``))).toEqual([]);
          expect(prompts.map(({ name }) => name).includes('reminder')).toBe(there.includes('send_sms'));
        },
        { generation, path },
      );
  });

  it('refuses an unknown tool and another subset’s as the protocol says', async () => {
    const { key } = await newAccount();
    await using(
      key,
      async ({ call }) => {
        await expect(call('send_sms')).rejects.toMatchObject({ code: -32602 });
        await expect(call('nothing')).rejects.toMatchObject({ code: -32602 });
      },
      { generation, path: '/mcp/reports' },
    );
  });

  it('shows prices, limits and templates of the account alone', async () => {
    const account = await newAccount({ price: 17 });
    await account.api.post('/v1/templates', { name: 'Moje', body: 'Dzień dobry' });
    const { client, close } = await mcpClient(apiUrl, account.key, { generation });
    const { resources } = await client.listResources();
    const shown = await Promise.all(
      resources.map(async ({ uri }) => {
        const [content] = (await client.readResource({ uri })).contents;
        return JSON.parse((content as { text: string }).text) as Record<string, unknown>;
      }),
    );
    expect(shown).toMatchObject([
      { price_per_part_grosze: 17, balance_grosze: 10_000 },
      { rate_limit_per_minute: 100_000, mode: 'live' },
      { data: [{ name: 'Moje' }] },
    ]);
    expect(shown[0]).not.toHaveProperty('webhook_url');
    await expect(client.readResource({ uri: 'goniec://nothing' })).rejects.toThrow();
    await close();
  });

  it('lists no resource to a key that may not read, and reads none', async () => {
    const { key } = await newAccount({ scopes: ['send'] });
    const { client, close } = await mcpClient(apiUrl, key, { generation });
    expect((await client.listResources()).resources).toEqual([]);
    await expect(client.readResource({ uri: 'goniec://templates' })).rejects.toThrow('read');
    await close();
  });

  it('offers prompts, and quotes their arguments', async () => {
    const { key } = await newAccount();
    const { client, close } = await mcpClient(apiUrl, key, { generation });
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['campaign', 'reminder', 'why_failed']);
    const { messages } = await client.getPrompt({ name: 'why_failed', arguments: { message_id: 'a" b' } });
    expect(messages[0]!.content).toMatchObject({ text: expect.stringContaining('"a\\" b"') as string });
    for (const name of ['why_failed', 'nothing'])
      await expect(client.getPrompt({ name })).rejects.toMatchObject({ code: -32602 });
    await close();
  });
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

function post(path: string, body: unknown, headers: Record<string, string>): Promise<Response> {
  return fetch(apiUrl + path, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

describe('the door of the assistant-tool server', () => {
  it.each([
    ['no key', {}],
    ['no such key', { Authorization: `Bearer pk_live_${'x'.repeat(40)}` }],
    ['a token of the earlier interface', { Authorization: `Bearer goniec_${'a'.repeat(40)}` }],
  ])('answers 401 without a place to sign in: %s', async (_name, headers) => {
    const answer = await post('/mcp', INITIALIZE, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await answer.json()).toMatchObject({ error: { code: 'unauthorized' } });
  });

  it('has no metadata of a place to sign in', async () => {
    for (const name of ['oauth-protected-resource', 'oauth-authorization-server/mcp', 'openid-configuration'])
      expect((await fetch(`${apiUrl}/.well-known/${name}`)).status).toBe(404);
  });

  it('refuses a browser that comes from elsewhere', async () => {
    const { key } = await newAccount();
    const headers = { Authorization: `Bearer ${key}` };
    expect((await post('/mcp', INITIALIZE, { ...headers, Origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('/mcp', INITIALIZE, { ...headers, Origin: 'null' })).status).toBe(403);
    expect((await post('/mcp', INITIALIZE, { ...headers, Origin: apiUrl })).status).toBe(200);
  });

  it.each([
    ['no JSON', '{', 400, -32700],
    ['a batch', [INITIALIZE, INITIALIZE], 400, -32600],
    ['too deep', '['.repeat(20), 400, -32700],
    ['a key twice', '{"jsonrpc":"2.0","jsonrpc":"2.0"}', 400, -32700],
    ['too large', JSON.stringify({ text: 'x'.repeat(1_100_000) }), 413, -32600],
  ])('refuses %s in the form of the protocol', async (_name, body, status, code) => {
    const { key } = await newAccount();
    const answer = await post('/mcp', body, { Authorization: `Bearer ${key}` });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it.each([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['one that it does not know', { jsonrpc: '2.0', method: 'notifications/x', params: {} }],
    ['an answer', { jsonrpc: '2.0', id: 7, result: {} }],
  ])('takes %s with 202, at the rate limit too', async (_name, body) => {
    const { key } = await newAccount({ rateLimit: 1 });
    const headers = { Authorization: `Bearer ${key}`, 'MCP-Protocol-Version': '2025-11-25' };
    for (let index = 0; index < 2; index += 1) {
      const answer = await post('/mcp/', body, headers);
      expect([answer.status, await answer.text()]).toEqual([202, '']);
    }
  });

  it('takes null for no arguments', async () => {
    const { key } = await newAccount();
    const params = { name: 'get_account', arguments: null };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const answer = await post('/mcp', call, { Authorization: `Bearer ${key}` });
    expect(await answer.text()).toContain('now_local');
  });

  it('keeps no stream open', async () => {
    const { key } = await newAccount();
    const headers = { Authorization: `Bearer ${key}`, Accept: 'text/event-stream' };
    expect((await fetch(`${apiUrl}/mcp`, { headers })).status).toBe(405);
    expect((await fetch(`${apiUrl}/mcp`, { method: 'DELETE', headers })).status).toBe(405);
  });

  it('counts requests against the rate limit of the account', async () => {
    const account = await newAccount({ rateLimit: 3 });
    const asked = (method: string, params: object = {}) =>
      post('/mcp', { jsonrpc: '2.0', id: 1, method, params }, { Authorization: `Bearer ${account.key}` });
    for (let index = 0; index < 3; index += 1) expect((await asked('tools/list')).status).toBe(200);
    const listed = await asked('tools/list');
    expect([listed.status, Number(listed.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await listed.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } });
    const called = await asked('tools/call', { name: 'get_account' });
    expect([called.status, await called.text()]).toEqual([200, expect.stringContaining('rate_limited')]);
    expect((await account.api.get('/v1/account')).status).toBe(429);
  });
});
