import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  type MailAccount,
  newMailAccount,
  receiverOf,
  takenMail,
  untilEmail,
  WEBHOOK_SECRET,
  postEmail,
} from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { books, database } from '../../support/factories.ts';

async function send(account: MailAccount, to: string | string[], more: object = {}): Promise<string> {
  const { status, body } = await postEmail(account.v1, { to, subject: 'Temat', text: 'Treść', ...more });
  expect(status).toBe(200);
  return (body.data as unknown as { id: string }).id;
}

const refunds = async (id: string): Promise<number> => {
  const [row] = await database()<{ count: number }[]>`
    select count(*)::int as count from ledger_entries where subject_id = ${id} and kind = 'refund'`;
  return row!.count;
};

it('what the provider reports comes to the webhook, signed, in order, with exactly the fields of the document', async () => {
  const account = await newMailAccount();
  const calls = await receiverOf(account);
  const id = await send(account, 'clicked@klient.example', { idx: 'zam-3' });
  const email = await untilEmail(account, id, ({ events }) => events.some(({ kind }) => kind === 'clicked'));
  expect(email.events.map(({ kind }) => kind)).toEqual(['sent', 'delivered', 'opened', 'clicked']);
  await eventually(
    () => Promise.resolve(calls.length),
    (count) => count >= 4,
  );
  expect(calls.map(({ raw }) => JSON.parse(raw) as object)).toEqual(
    ['sent', 'delivered', 'opened', 'clicked'].map((kind) => ({
      event: 'email_event',
      kind,
      email_id: id,
      to: 'clicked@klient.example',
      from: `noreply@${account.domain}`,
      subject: 'Temat',
      idx: 'zam-3',
      received_at: expect.stringMatching(/Z$/) as string,
      provider_payload: expect.objectContaining({ type: `email.${kind}` }) as object,
    })),
  );
  for (const { headers, raw } of calls) {
    const [, t, sig] = /^v1,t=(\d+),sig=([0-9a-f]{64})$/.exec(String(headers['x-service-signature'])) ?? [];
    expect(sig).toBe(createHmac('sha256', WEBHOOK_SECRET).update(`v1.${t}.${raw}`).digest('hex'));
    expect(headers['user-agent']).toBe('Service-Webhook/1.0');
  }
});

it('a permanent bounce and a complaint suppress the address: the next e-mail leaves it out, free', async () => {
  const account = await newMailAccount();
  const first = await send(account, [
    'bounced@klient.example',
    'Complained+1@klient.example',
    'soft-bounced@klient.example',
  ]);
  const email = await untilEmail(account, first, ({ status }) => status === 'complained');
  expect(email.events).toContainEqual(
    expect.objectContaining({ kind: 'bounced', address: 'bounced@klient.example', permanent: true }),
  );
  const list = await account.v1.get('/v1/email/suppressions');
  expect(list.body.data).toMatchObject({
    suppressions: [
      { address: 'bounced@klient.example', reason: 'bounce', email_id: first },
      { address: 'complained+1@klient.example', reason: 'complaint', email_id: first },
    ],
  });
  const { body } = await postEmail(account.v1, {
    to: ['BOUNCED@klient.example', 'jan@klient.example'],
    cc: ['soft-bounced@klient.example'],
    subject: 'Znowu',
    text: 'Treść',
  });
  expect(body.data).toMatchObject({ status: 'queued', cost: 2 });
  const { id } = body.data as unknown as { id: string };
  const second = await untilEmail(account, id, ({ status }) => status === 'bounced');
  expect(second.recipients.map(({ state }) => state)).toEqual(['suppressed', 'delivered', 'bounced']);
  expect(second.events).toContainEqual({
    kind: 'suppressed',
    address: 'BOUNCED@klient.example',
    permanent: null,
    at: expect.any(String) as string,
  });
  expect(await takenMail(id)).toMatchObject({
    to: ['jan@klient.example'],
    cc: ['soft-bounced@klient.example'],
  });
  expect(await books(account.id)).toMatchObject({ balance: 10_000 - 5, ledger: 10_000 - 5 });
});

it('a throttled e-mail waits and is delivered; a refused one has failed and is refunded once', async () => {
  const account = await newMailAccount();
  const [throttled, refused] = [
    await send(account, 'throttled@klient.example'),
    await send(account, 'refused@klient.example'),
  ];
  await untilEmail(account, throttled, ({ status }) => status === 'delivered');
  expect(await untilEmail(account, refused, ({ status }) => status === 'failed')).toMatchObject({
    error: 'provider_refused',
    recipients: [{ state: 'failed' }],
    events: [{ kind: 'failed' }],
  });
  expect([await refunds(throttled), await refunds(refused)]).toEqual([0, 1]);
  expect(await books(account.id)).toMatchObject({ balance: 9_999, ledger: 9_999 });
});
