import { describe, expect, inject, it } from 'vitest';
import { apiClient } from '../support/client.ts';
import { database, newAccount } from '../support/factories.ts';

interface Trace {
  actor: string;
  action: string;
  subject: string | null;
  details: unknown;
  request_id: string | null;
  address: string | null;
}

const tracesOf = async (accountId: string): Promise<Trace[]> => [
  ...(await database()<Trace[]>`
    select l.actor, l.action, l.subject, l.details, l.request_id, host(a.address) as address
      from audit_log l left join audit_addresses a on a.audit_id = l.id
     where l.account_id = ${accountId} order by l.id`),
];
const keyOf = async (accountId: string): Promise<string> => {
  const [key] = await database()<{ id: string }[]>`select id from api_keys where account_id = ${accountId}`;
  return key!.id;
};

describe('changes through the API', () => {
  it('of settings say who made them, from where, in which request, and what was before', async () => {
    const { id, api } = await newAccount({ senders: ['SKLEP'] });
    const first = await api.patch('/v1/account', { sender_name: 'SKLEP', send_window: '08:00-20:00' });
    const second = await api.patch('/v1/account', { sender_name: null, send_window: '08:00-20:00' });
    const common = { actor: await keyOf(id), action: 'account settings', subject: null };
    expect(await tracesOf(id)).toEqual([
      {
        ...{ ...common, request_id: first.headers.get('x-request-id'), address: '127.0.0.1' },
        details: {
          sender_name: { from: null, to: 'SKLEP' },
          send_window: { from: null, to: '08:00-20:00' },
        },
      },
      {
        ...{ ...common, request_id: second.headers.get('x-request-id'), address: '127.0.0.1' },
        details: { sender_name: { from: 'SKLEP', to: null } },
      },
    ]);
  });

  it('of the webhook have neither secrets nor the query of its address', async () => {
    const { id, api } = await newAccount();
    const put = async (body: object) => (await api.put('/v1/account/webhook', body)).body.webhook_secret;
    const secrets = [
      await put({ url: 'https://example.com/hook?token=abc123' }),
      await put({ url: 'https://example.com/hook?token=def456' }),
      await put({ url: 'https://example.com/hook?token=def456', rotate_secret: true }),
      await put({ url: null }),
    ];
    const traces = await tracesOf(id);
    expect(traces.map(({ action, details }) => [action, details])).toEqual([
      [
        'webhook',
        { url: { from: null, to: 'https://example.com/hook?…' }, secret: { from: null, to: 'new' } },
      ],
      [
        'webhook',
        { url: { from: 'https://example.com/hook?…', to: 'https://example.com/hook?… (other query)' } },
      ],
      ['webhook', { secret: { from: 'former', to: 'new' } }],
      ['webhook', { url: { from: 'https://example.com/hook?…', to: null } }],
    ]);
    for (const secret of [...secrets, 'abc123', 'def456'])
      expect(JSON.stringify(traces)).not.toContain(secret);
  });

  it('that change nothing, or are refused, leave nothing', async () => {
    const [{ id, api }, other] = await Promise.all([newAccount(), newAccount()]);
    const prefix = `P${other.id.slice(-7)}`;
    await other.api.patch('/v1/account', { inbound_prefix: prefix });
    expect((await api.patch('/v1/account', { send_window: null })).status).toBe(200);
    expect((await api.patch('/v1/account', { inbound_prefix: prefix })).status).toBe(409);
    expect((await api.patch('/v1/account', { sender_name: 'OBCY' })).status).toBe(422);
    const reader = await newAccount({ scopes: ['read'] });
    expect((await reader.api.patch('/v1/account', { send_window: '08:00-20:00' })).status).toBe(403);
    expect((await reader.api.put('/v1/account/webhook', { url: 'https://example.com' })).status).toBe(403);
    const stranger = apiClient(inject('service').apiUrl);
    expect((await stranger.patch('/v1/account', { send_window: '08:00-20:00' })).status).toBe(401);
    expect(await tracesOf(id)).toEqual([]);
    expect(await tracesOf(reader.id)).toEqual([]);
  });

  it('made at once each say what the one before them left', async () => {
    const { id, api } = await newAccount();
    const windows = Array.from({ length: 20 }, (_, hour) => `0${hour % 10}:00-2${hour % 4}:30`);
    await Promise.all(windows.map((window) => api.patch('/v1/account', { send_window: window })));
    const steps = (await tracesOf(id)).map(
      ({ details }) => (details as { send_window: { from: string | null; to: string } }).send_window,
    );
    steps.forEach(({ from }, index) => expect(from).toBe(steps[index - 1]?.to ?? null));
    expect((await api.get('/v1/account')).text).toContain(steps.at(-1)!.to);
  });
});
