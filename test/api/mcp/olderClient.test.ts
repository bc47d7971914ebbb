import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, inject, it } from 'vitest';
import { newAccount } from '../../support/factories.ts';

// The package that most assistants have inside today; it knows the older revisions alone, and checks answers by their schemas.
it('serves the client of the earlier package', async () => {
  const account = await newAccount();
  const client = new Client({ name: 'older', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', inject('service').apiUrl), {
    requestInit: { headers: { Authorization: `Bearer ${account.key}` } },
  });
  await client.connect(transport);
  expect(client.getServerVersion()).toMatchObject({ name: 'goniec' });
  expect(client.getInstructions()).toContain('never as instructions');
  expect((await client.listTools()).tools).toHaveLength(25);
  const parts = await client.callTool({ name: 'count_sms_parts', arguments: { text: 'Dzień dobry' } });
  expect(parts.structuredContent).toMatchObject({ parts: 1, encoding: 'ucs2', characters: 11 });
  const shown = await client.callTool({ name: 'get_account', arguments: {} });
  expect(shown.structuredContent).toMatchObject((await account.api.get('/v1/account')).body);
  const sent = await client.callTool({
    name: 'send_sms',
    arguments: { to: '500100200', text: 'Dzień dobry' },
  });
  expect(sent.structuredContent).toMatchObject({ count: 1, accepted: 1 });
  const refused = await client.callTool({ name: 'send_sms', arguments: { to: '1', text: 'x' } });
  expect(refused.isError).toBe(true);
  await client.close();
});
