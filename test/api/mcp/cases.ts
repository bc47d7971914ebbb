import { expect } from 'vitest';
import type { TestAccount } from '../../support/factories.ts';
import type { Belongings } from '../access/cases.ts';

/** How a tool is called in the tests of all tools. */
interface ToolCase {
  /** Its scope, stated here apart from the declaration. */
  scope: 'send' | 'read' | 'manage';
  /** Arguments that succeed, naming things of `of`. */
  args: (of: Belongings) => Record<string, unknown>;
  /** Names an id: called with another account's, it has to find nothing. */
  names?: 'message' | 'contact' | 'group' | 'template' | 'listed';
  /** Compares the answer with what the REST interface shows afterwards. */
  same: (account: TestAccount, of: Belongings, body: Record<string, unknown>) => Promise<void>;
}

const later = new Date(Date.now() + 86_400_000).toISOString();

/** Compares with the answer of a GET. */
const get =
  (path: (of: Belongings) => string): ToolCase['same'] =>
  async ({ api }, of, body) => {
    const answer = await api.get(path(of));
    expect(answer.status).toBe(200);
    // Notes and local times stand beside it.
    expect(body).toMatchObject(answer.body);
  };

const account =
  (field: string, value: unknown): ToolCase['same'] =>
  async ({ api }, _of, body) => {
    expect(body[field]).toEqual(value);
    expect((await api.get('/v1/account')).body).toMatchObject({ [field]: value });
  };

const sent: ToolCase['same'] = async ({ api }, _of, body) => {
  const [{ id, send_at_local, ...message }] = body['messages'] as [{ id: string; send_at_local: string }];
  expect(send_at_local).toMatch(/^[0-9-]{10} [0-9:]{5} Europe\/Warsaw$/);
  const { reference } = body as { reference: string };
  expect((await api.get(`/v1/messages/${id}`)).body).toMatchObject({ ...message, reference });
};

/** One for each tool; a tool without one fails `tools.test.ts`. */
export const toolCases: Readonly<Record<string, ToolCase>> = {
  send_sms: {
    scope: 'send',
    args: () => ({ to: '500100200', text: 'Dzień dobry', send_at: later }),
    same: sent,
  },
  send_voice: {
    scope: 'send',
    args: () => ({ to: ['500100200'], text: 'Dzień dobry', voice: 'maja', send_at: later }),
    same: sent,
  },
  cancel_message: {
    scope: 'send',
    args: ({ message }) => ({ id: message }),
    names: 'message',
    async same({ api }, { message }, body) {
      expect(body).toMatchObject({ id: message, status: 'cancelled' });
      expect((await api.get(`/v1/messages/${message}`)).body).toMatchObject({ status: 'cancelled' });
    },
  },
  get_message: {
    scope: 'read',
    args: ({ message }) => ({ id: message }),
    names: 'message',
    same: get(({ message }) => `/v1/messages/${message}`),
  },
  list_messages: {
    scope: 'read',
    args: () => ({ status: 'scheduled', to: '+48500100777', limit: 5 }),
    same: get(() => '/v1/messages?status=scheduled&to=%2B48500100777&limit=5'),
  },
  list_replies: {
    scope: 'read',
    args: () => ({ unread: true, limit: 10 }),
    same: get(() => '/v1/inbound?unread=true&limit=10'),
  },
  list_links: { scope: 'read', args: () => ({ clicked: false }), same: get(() => '/v1/links?clicked=false') },
  count_sms_parts: {
    scope: 'read',
    args: () => ({ text: 'ą'.repeat(71) }),
    same: (_account, _of, body) => {
      const non_gsm7 = { character: 'ą', code_point: 'U+0105', position: 1 };
      expect(body).toEqual({ parts: 2, encoding: 'ucs2', characters: 71, non_gsm7 });
      return Promise.resolve();
    },
  },
  list_templates: { scope: 'read', args: () => ({}), same: get(() => '/v1/templates') },
  save_template: {
    scope: 'manage',
    args: ({ template }) => ({ id: template, body: 'Dzień dobry {{imie}}' }),
    names: 'template',
    same: get(({ template }) => `/v1/templates/${template}`),
  },
  check_number: {
    scope: 'send',
    args: () => ({ msisdn: '500100200' }),
    async same({ api }, _of, body) {
      const { body: again } = await api.get('/v1/numbers/500100200/lookup');
      expect(again).toEqual({ ...body, cached: true, cost_grosze: 0 });
    },
  },
  get_account: { scope: 'read', args: () => ({}), same: get(() => '/v1/account') },
  list_senders: { scope: 'read', args: () => ({}), same: get(() => '/v1/senders') },
  set_default_sender: {
    scope: 'manage',
    args: () => ({ sender_name: 'SKLEP' }),
    same: account('sender_name', 'SKLEP'),
  },
  set_send_window: {
    scope: 'manage',
    args: () => ({ send_window: '09:00-17:00' }),
    same: account('send_window', '09:00-17:00'),
  },
  set_inbound_keyword: {
    scope: 'manage',
    args: ({ keyword }) => ({ inbound_prefix: keyword }),
    same: ({ api }, of, body) => account('inbound_prefix', of['keyword'])({ api } as TestAccount, of, body),
  },
  list_blacklist: { scope: 'read', args: () => ({}), same: get(() => '/v1/blacklist') },
  add_to_blacklist: {
    scope: 'manage',
    args: () => ({ msisdns: ['500100201', 'x'], reason: 'skarga' }),
    async same({ api }, _of, body) {
      expect(body).toEqual({ added: 1, invalid: ['x'], expires_at: null });
      const { data } = (await api.get('/v1/blacklist')).body;
      expect(data).toContainEqual(expect.objectContaining({ msisdn: '+48500100201', reason: 'skarga' }));
    },
  },
  remove_from_blacklist: {
    scope: 'manage',
    args: ({ listed }) => ({ msisdn: listed }),
    names: 'listed',
    async same({ api }, { listed }, body) {
      expect(body).toEqual({ removed: listed });
      expect((await api.get('/v1/blacklist')).body.data).toEqual([]);
    },
  },
  list_contacts: {
    scope: 'read',
    args: () => ({ q: 'Ofiara', limit: 1 }),
    same: get(() => '/v1/contacts?q=Ofiara&limit=1'),
  },
  upsert_contacts: {
    scope: 'manage',
    args: () => ({
      contacts: [
        { msisdn: '500100300', first_name: 'Ewa', fields: { miasto: 'Łódź' }, groups: ['Nowi'] },
        { msisdn: 'x' },
      ],
    }),
    async same({ api }, _of, body) {
      expect(body).toMatchObject({ created: 1, updated: 0, invalid: [{ index: 1 }] });
      expect((await api.get('/v1/contacts?q=500100300')).body.data).toMatchObject([
        { first_name: 'Ewa', fields: { miasto: 'Łódź' }, groups: [{ name: 'Nowi' }] },
      ]);
    },
  },
  delete_contact: {
    scope: 'manage',
    args: ({ contact }) => ({ id: contact }),
    names: 'contact',
    async same({ api }, { contact }, body) {
      expect(body).toEqual({ deleted: contact });
      expect((await api.get(`/v1/contacts/${contact}`)).status).toBe(404);
    },
  },
  list_groups: { scope: 'read', args: () => ({}), same: get(() => '/v1/groups') },
  add_to_group: {
    scope: 'manage',
    args: ({ group }) => ({ id: group, msisdns: ['500100301'] }),
    names: 'group',
    async same({ api }, { group }, body) {
      expect(body).toMatchObject({ id: group, added: 1 });
      expect((await api.get(`/v1/groups/${group}`)).body.members).toBe(body['members']);
    },
  },
  get_report: {
    scope: 'read',
    args: () => ({ group_by: 'status' }),
    same: get(() => '/v1/reports?group_by=status'),
  },
};
