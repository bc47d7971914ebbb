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

it('what the provider reports is forwarded to the webhook of the earlier interface, signed in its form', async () => {
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

it('a permanent bounce and a complaint put the address on the suppression list: the next e-mail leaves it out, free', async () => {
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

it('nobody to send it to: it is suppressed, costs nothing, and nothing of its content is kept', async () => {
  const account = await newMailAccount({ balance: 0 });
  await account.v1.post('/v1/email/suppressions', { addresses: ['jan@klient.example'] });
  const id = await send(account, 'Jan@klient.example');
  const email = await untilEmail(account, id, () => true);
  expect(email).toMatchObject({ status: 'suppressed', cost: 0, events: [{ kind: 'suppressed' }] });
  expect(await database()`select html, text from email_contents where email_id = ${id}`).toEqual([
    { html: null, text: null },
  ]);
});

it('a hand-over without an answer is settled by the provider’s key: handed over twice, taken and charged once', async () => {
  const account = await newMailAccount();
  const id = await send(account, 'unanswered@klient.example', {
    attachments: [{ filename: 'faktura.pdf', content: Buffer.alloc(500_000, 7).toString('base64') }],
  });
  await untilEmail(account, id, ({ status }) => status === 'delivered');
  expect(await takenMail(id)).toMatchObject({
    tries: 2,
    attachments: [{ filename: 'faktura.pdf', bytes: 500_000 }],
  });
  expect(await books(account.id)).toMatchObject({ balance: 9_999, ledger: 9_999 });
  // The file is not kept any longer.
  expect(await database()`select from email_attachment_pieces where email_id = ${id}`).toHaveLength(0);
});

it('throttled it waits as long as the provider asks; refused it has failed and is refunded, once', async () => {
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

it('events in any order, of strangers and repeated, change what they may and nothing twice', async () => {
  const account = await newMailAccount();
  const calls = await receiverOf(account);
  const id = await send(account, ['silent@klient.example', 'silent+2@klient.example']);
  await untilEmail(account, id, ({ status }) => status === 'sent');
  const sql = database();
  const bring = (eventId: string, kind: string, addresses: string[], permanent: boolean | null = null) => sql`
    insert into provider_email_events (route, event_id, email_id, kind, permanent, addresses, at, payload)
    values ('simulator', ${`${id}${eventId}`}, ${id}, ${kind}, ${permanent}, ${addresses}, now(), '{}')
    on conflict do nothing`;
  await bring('a', 'complained', ['silent@klient.example']);
  await untilEmail(account, id, ({ status }) => status === 'complained');
  await bring('b', 'delivered', ['silent@klient.example']);
  await bring('a', 'complained', ['silent@klient.example']);
  await bring('c', 'bounced', ['obcy@klient.example'], true);
  await bring('d', 'opened', ['SILENT+2@klient.example']);
  const email = await untilEmail(
    account,
    id,
    ({ events, recipients }) => events.length === 2 + 4 && recipients[1]?.state === 'delivered',
  );
  expect(email.recipients.map(({ state }) => state)).toEqual(['complained', 'delivered']);
  expect(email.status).toBe('complained');
  expect((await account.v1.get('/v1/email/suppressions')).body.data).toMatchObject({ count: 1 });
  await eventually(
    () => Promise.resolve(calls.length),
    (count) => count === 6,
  );
});

it('without a route that works it is 503, and nothing is left of it', async () => {
  const account = await newMailAccount();
  const [added] = await database()<{ name: string }[]>`
    insert into routes (name, kind, state) values (${`mail-${account.domain.split('.')[0]!.slice(-8)}`}, 'simulator', 'disabled')
    returning name`;
  const { name } = added!;
  await database()`insert into route_rules (route, account_id, type) values (${name}, ${account.id}, 'email')`;
  // Verified by its DNS for that route alone: one that staff answer for is taken by every route.
  await database()`
    update sender_domain_routes set route = ${name}, verified_at = now() where domain_id in (
      select id from sender_domains where account_id = ${account.id})`;
  await database()`update sender_domains set confirmed_at = null where account_id = ${account.id}`;
  const email = { to: 'jan@klient.example', subject: 'Hej', text: 'Hej', idx: 'raz' };
  const refused = await postEmail(account.v1, email);
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 503 } } });
  expect((await postEmail(account.api, email)).status).toBe(503);
  expect(await database()`select from emails where account_id = ${account.id}`).toHaveLength(0);
});
