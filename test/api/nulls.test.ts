import { beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { describeInterface } from '../../api/openapi/document.ts';
import type { JsonSchema } from '../../api/openapi/schemas.ts';
import type { ApiAnswer } from '../support/client.ts';
import { giveDomain } from '../support/email.ts';
import { newAccount, type TestAccount } from '../support/factories.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();

/** A body of each endpoint that takes one, with what it needs; `:id` in the path is the template, group or contact made below. */
const BODIES: Readonly<Record<string, { id?: 'template' | 'group' | 'contact'; body: object }>> = {
  'POST /v1/messages': { body: { to: '500100200', text: 'x', send_at: later } },
  'POST /v1/mms': {
    body: { to: '500100200', subject: 'x', smil: '<smil><body><text>x</text></body></smil>', send_at: later },
  },
  'POST /v1/voice': { body: { to: '500100200', text: 'x', send_at: later } },
  'POST /v1/messages/estimate': { body: { to: '500100200', text: 'x', send_at: later } },
  'POST /v1/mms/estimate': {
    body: { to: '500100200', subject: 'x', smil: '<smil><body><text>x</text></body></smil>', send_at: later },
  },
  'POST /v1/voice/estimate': { body: { to: '500100200', text: 'x', send_at: later } },
  // A landline, which is refused after all fields were read: a number gets only a few codes.
  'POST /v1/verifications': { body: { to: '221234567' } },
  'POST /v1/verifications/:id/check': { body: { code: '123456' } },
  'POST /v1/templates': { body: { name: 'x', body: 'y' } },
  'PATCH /v1/templates/:id': { id: 'template', body: { name: 'x', body: 'y', type: 'sms' } },
  'PATCH /v1/account': { body: { send_window: '08:00-20:00' } },
  'PUT /v1/account/webhook': { body: { url: null } },
  'POST /v1/blacklist': { body: { msisdn: '500100299', expires_at: later } },
  'POST /v1/contacts': { body: { msisdn: '500100201', first_name: 'Anna' } },
  'PATCH /v1/contacts/:id': { id: 'contact', body: { first_name: 'Anna' } },
  'POST /v1/groups': { body: { name: 'nowa' } },
  'PATCH /v1/groups/:id': { id: 'group', body: { name: 'Klienci' } },
  'POST /v1/groups/:id/contacts': { id: 'group', body: { msisdns: ['500100202'] } },
  'POST /v1/email': { body: { to: 'jan@klient.example', subject: 'x', text: 'x', html: '<p>x</p>' } },
  'POST /v1/email/suppressions': { body: { addresses: ['jan@lista.example'] } },
};

/** Fields whose null is something of its own: it clears the value, says that there is no end, or is refused. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  // "Any value other than true/false gives 400" (v2.3.0, Send).
  'POST /v1/messages': ['priority'],
  'POST /v1/mms': ['priority'],
  'POST /v1/voice': ['priority'],
  'POST /v1/messages/estimate': ['priority'],
  'POST /v1/mms/estimate': ['priority'],
  'POST /v1/voice/estimate': ['priority'],
  'PATCH /v1/account': [
    ...['sender_name', 'send_window', 'inbound_prefix', 'tool_confirm_recipients', 'tool_confirm_grosze'],
  ],
  'POST /v1/blacklist': ['expires_at'],
  'POST /v1/contacts': ['first_name', 'last_name', 'email', 'fields', 'groups'],
  // A contact cannot be without a number: null would clear it, and is refused.
  'PATCH /v1/contacts/:id': ['msisdn', 'first_name', 'last_name', 'email', 'fields', 'groups'],
  'POST /v1/templates': ['subject'],
  'PATCH /v1/templates/:id': ['subject'],
};

const document = describeInterface(endpoints);
const cases = endpoints
  .filter(({ body }) => body !== undefined)
  .flatMap(({ method, path }) => {
    const name = `${method} ${path}`;
    const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase() as 'post']!;
    const { schema } = operation.requestBody!.content['application/json']!;
    const { properties = {}, required = [] } = schema.properties === undefined ? schema.oneOf![0]! : schema;
    const optional = Object.entries(properties).filter(([field]) => !required.includes(field));
    return optional.map(([field, about]) => ({ name, method, path, field, about }));
  });

let account: TestAccount;
let ids: Record<'template' | 'group' | 'contact', string>;

beforeAll(async () => {
  account = await newAccount();
  const { api } = account;
  const template = (await api.post('/v1/templates', { name: 'x', body: 'y' })).body.id;
  const group = (await api.post('/v1/groups', { name: 'Klienci' })).body.id;
  const contact = (await api.post('/v1/contacts', { msisdn: '500100201' })).body.id;
  ids = { template, group, contact };
  await giveDomain(account.id);
});

describe('null for an optional field', () => {
  it('is looked at in every endpoint that takes a body', () => {
    const declared = endpoints
      .filter(({ body }) => body !== undefined)
      .map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(BODIES).sort()).toEqual(declared.sort());
    for (const [name, fields] of Object.entries(MEANT))
      expect(cases.filter((one) => one.name === name).map(({ field }) => field)).toEqual(
        expect.arrayContaining([...fields]),
      );
  });

  it.each(cases.filter(({ name, field }) => MEANT[name]?.includes(field) !== true))(
    '$name $field: says what leaving it out says, and the document allows it',
    async ({ name, method, path, field, about }) => {
      const { id, body } = BODIES[name]!;
      const rest = Object.fromEntries(Object.entries(body).filter(([key]) => key !== field));
      const ask = (given: object) =>
        account.api[method.toLowerCase() as 'post'](
          path.replace(':id', id === undefined ? '' : ids[id]),
          given,
        );
      const without = await ask(rest);
      expect(comparable(await ask({ ...rest, [field]: null }))).toEqual(comparable(without));
      expect(allowsNull(about)).toBe(true);
    },
  );

  it('is allowed for each header of an e-mail', () => {
    const { about } = cases.find(({ name, field }) => name === 'POST /v1/email' && field === 'headers')!;
    const named = [about, ...(about.anyOf ?? [])].flatMap(({ properties = {} }) =>
      Object.entries(properties),
    );
    expect(named.map(([name]) => name)).toContain('List-Id');
    for (const [name, header] of named) expect([name, allowsNull(header)]).toEqual([name, true]);
  });

  it('of a send makes no other request of it: the key of one without the fields repeats its answer', async () => {
    const { api } = account;
    const first = await api.send({ to: '500100200', text: 'x' }, 'nulls-1');
    expect(first.status).toBe(201);
    const fields = cases.filter(
      ({ name, field }) => name === 'POST /v1/messages' && field !== 'text' && field !== 'priority',
    );
    const nulls = Object.fromEntries(fields.map(({ field }) => [field, null]));
    const again = await api.send({ to: '500100200', text: 'x', ...nulls }, 'nulls-1');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const other = await api.send({ to: '500100200', text: 'x', priority: true }, 'nulls-1');
    expect(other.status).toBe(409);
  });

  it('of what a message was answered with can be sent back as it came', async () => {
    const { api } = account;
    const body = await api.accepted({ to: '500100200', text: 'x' });
    const { to, text, from, reference, send_at, expires_at, priority } = body as unknown as Record<
      string,
      unknown
    >;
    const again = await api.send({ to, text, from, reference, send_at, expires_at, priority });
    expect(again).toMatchObject({ status: 201, body: { send_at: null, reference: null } });
  });
});

/** What two answers to the same request have in common: ids, times and counts of what was there before differ. */
function comparable({ status, body }: ApiAnswer): unknown {
  const own = /^(id|name|created_at|updated_at|sent_at|request_id|added|message_id)$/;
  return JSON.parse(JSON.stringify({ status, body }), (key, value: unknown) =>
    own.test(key) ? undefined : value,
  );
}

function allowsNull({ type, anyOf = [] }: JsonSchema): boolean {
  return [type].flat().includes('null') || anyOf.some((one) => allowsNull(one));
}
