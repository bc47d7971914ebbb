import { randomBytes } from 'node:crypto';
import { Resend } from 'resend';
import { describe, expect, it } from 'vitest';
import { email, file, leaves, openClient, openResend } from './resendClient.ts';

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
});
