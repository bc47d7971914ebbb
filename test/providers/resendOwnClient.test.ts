import { randomBytes } from 'node:crypto';
import { Resend } from 'resend';
import { describe, expect, it } from 'vitest';
import { email, file, leaves, openClient, openResend } from './resendClient.ts';
import { errorAnswer, write } from './resendServer.ts';

/**
 * The provider's own client, which nobody here wrote, at the local server that stands for the provider in our tests: what that
 * server takes and answers is what the client sends and reads.
 */
describe('the provider’s own JavaScript client at our local server', () => {
  const open = async () => {
    const resend = await openResend();
    return { resend, client: new Resend(resend.apiKey, { baseUrl: resend.url }) };
  };
  const simple = {
    from: 'Sklep <kontakt@sklep.example>',
    to: ['jan@poczta.example'],
    subject: 'Dzień dobry',
    html: '<p>Hej</p>',
  };

  it('sends what ours sends, byte for byte the same fields', async () => {
    const { resend, client } = await open();
    const content = randomBytes(1000);
    const { data, error } = await client.emails.send(
      {
        ...simple,
        ...{
          cc: ['a@poczta.example'],
          bcc: ['b@poczta.example'],
          replyTo: 'biuro@sklep.example',
          text: 'Hej',
        },
        headers: { 'X-Order': '17' },
        tags: [{ name: 'goniec_id', value: 'em_01kaj000000000000000000017' }],
        attachments: [{ filename: 'a.pdf', content, contentType: 'application/pdf', contentId: 'a' }],
      },
      { idempotencyKey: 'em_01kaj000000000000000000017' },
    );
    expect(error).toBeNull();
    expect(data).toEqual({ id: resend.sent[0]!.id });
    const ours = await openClient({ url: resend.url }, { apiKey: resend.apiKey });
    const given = email({
      ...{ cc: ['a@poczta.example'], bcc: ['b@poczta.example'], replyTo: 'biuro@sklep.example', text: 'Hej' },
      ...{ subject: simple.subject, html: simple.html, headers: [['X-Order', '17']] },
      attachments: [file(content, 90, { filename: 'a.pdf', contentId: 'a' })],
    });
    await ours.client.email!.submit(given, leaves);
    const [theirs, mine] = resend.sent;
    const tags = [{ name: 'goniec_id', value: given.id }];
    expect(mine!.body).toEqual({ ...theirs!.body, tags });
    expect(mine!.key).toBe(given.id);
    expect(theirs!.key).toBe('em_01kaj000000000000000000017');
    expect(theirs!.files).toEqual(mine!.files);
  });

  it('is answered the same for the same key, and refused another body', async () => {
    const { resend, client } = await open();
    const first = await client.emails.send(simple, { idempotencyKey: 'key-1' });
    expect((await client.emails.send(simple, { idempotencyKey: 'key-1' })).data).toEqual(first.data);
    const other = await client.emails.send({ ...simple, subject: 'Inny' }, { idempotencyKey: 'key-1' });
    expect(other.error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
    expect(resend.sent).toHaveLength(1);
  });

  it('reads errors and limits', async () => {
    const { resend, client } = await open();
    const stranger = await client.emails.send({ ...simple, from: 'a@obcy.example' });
    expect(stranger.error).toMatchObject({ statusCode: 403, name: 'validation_error' });
    expect((await client.emails.send({ ...simple, to: 'jan' })).error).toMatchObject({ statusCode: 422 });
    resend.next((response) =>
      write(response, { ...errorAnswer(429, 'rate_limit_exceeded'), headers: { 'retry-after': '1' } }),
    );
    const throttled = await client.emails.send(simple);
    expect(throttled.error).toMatchObject({ statusCode: 429, name: 'rate_limit_exceeded' });
    expect(throttled.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-limit': '5' });
    const wrong = new Resend('re_wrong_key', { baseUrl: resend.url });
    expect((await wrong.emails.send(simple)).error).toMatchObject({
      name: 'validation_error',
      message: 'API key is invalid',
    });
    const sending = new Resend(resend.sendingKey, { baseUrl: resend.url });
    expect((await sending.emails.send(simple)).error).toBeNull();
    expect((await sending.domains.list()).error).toMatchObject({
      statusCode: 401,
      name: 'restricted_api_key',
    });
  });

  it('adds, verifies, reads, lists and removes domains', async () => {
    const { client } = await open();
    const created = await client.domains.create({ name: 'news.firma.example', region: 'eu-west-1' });
    const id = created.data!.id;
    expect(created.data).toMatchObject({
      name: 'news.firma.example',
      status: 'not_started',
      region: 'eu-west-1',
    });
    expect(
      created.data!.records.map(({ record, type, name, status }) => [record, type, name, status]),
    ).toEqual([
      ['SPF', 'MX', 'send.news', 'not_started'],
      ['SPF', 'TXT', 'send.news', 'not_started'],
      ['DKIM', 'TXT', 'resend._domainkey.news', 'not_started'],
    ]);
    expect((await client.domains.create({ name: 'news.firma.example' })).error).toMatchObject({
      statusCode: 403,
    });
    expect((await client.domains.verify(id)).data).toEqual({ object: 'domain', id });
    expect((await client.domains.get(id)).data).toMatchObject({ status: 'verified' });
    const first = await client.domains.list({ limit: 1 });
    expect(first.data).toMatchObject({ has_more: true, object: 'list' });
    const rest = await client.domains.list({ limit: 100, after: first.data!.data[0]!.id });
    expect(rest.data).toMatchObject({ has_more: false, data: [{ id, name: 'news.firma.example' }] });
    expect((await client.domains.remove(id)).data).toEqual({ object: 'domain', id, deleted: true });
    expect((await client.domains.get(id)).error).toMatchObject({ statusCode: 404 });
  });

  it('takes an address off the list of those that nothing is sent to', async () => {
    const { resend, client } = await open();
    resend.suppressions.add('jan+a@poczta.example');
    expect((await client.suppressions.remove('jan+a@poczta.example')).data).toMatchObject({
      ...{ object: 'suppression', deleted: true },
    });
    expect((await client.suppressions.remove('jan+a@poczta.example')).error).toMatchObject({
      ...{ statusCode: 404, name: 'not_found' },
    });
    expect(resend.suppressions.size).toBe(0);
  });

  it('finds our server’s calls signed, and not those that were altered', async () => {
    const { resend, client } = await open();
    await client.emails.send(simple);
    const { headers, body } = resend.event(resend.sent[0]!, 'email.delivered');
    const signed = {
      ...{ id: headers['svix-id']!, timestamp: headers['svix-timestamp']! },
      signature: headers['svix-signature']!,
    };
    const asked = { payload: body, headers: signed, webhookSecret: resend.webhookSecret };
    expect(client.webhooks.verify(asked)).toMatchObject({
      type: 'email.delivered',
      data: { email_id: resend.sent[0]!.id, to: ['jan@poczta.example'] },
    });
    expect(() => client.webhooks.verify({ ...asked, payload: `${body} ` })).toThrow();
  });
});
