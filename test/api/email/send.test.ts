import { expect, it } from 'vitest';
import { GROSZE_AN_ADDRESS } from '../../../domain/email/address.ts';
import {
  giveDomain,
  LEAST,
  newMailAccount,
  postEmail,
  rowsOf,
  takenFrom,
  takenMail,
  untilEmail,
} from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { books, database } from '../../support/factories.ts';

it('an e-mail is accepted, charged one grosz for each address, handed over as it was asked for, and delivered', async () => {
  const account = await newMailAccount();
  const answer = await postEmail(account.v1, {
    to: ['jan@klient.example', 'Ola.Nowak@KLIENT.example'],
    cc: ['kopia@klient.example'],
    bcc: ['ukryty@klient.example'],
    subject: 'Zażółć gęślą jaźń 😀',
    html: '<p>Dzień dobry</p>',
    text: 'Dzień dobry',
    from: `zamowienia@${account.domain}`,
    from_name: 'Sklep „Przykład”',
    reply_to: 'biuro@inny.example',
    idx: 'zam-1',
    headers: { 'x-entity-ref-id': 'zam-1' },
  });
  expect(answer).toMatchObject({
    status: 200,
    body: {
      success: true,
      data: { to: 'jan@klient.example, Ola.Nowak@klient.example', status: 'queued', cost: 4 },
    },
  });
  const { id } = answer.body.data as unknown as { id: string };
  expect(id).toMatch(/^em_[0-9a-z]{26}$/);
  const email = await untilEmail(account, id, ({ status }) => status === 'delivered');
  expect(email.recipients.map(({ kind, state }) => [kind, state])).toEqual([
    ['to', 'delivered'],
    ['to', 'delivered'],
    ['cc', 'delivered'],
    ['bcc', 'delivered'],
  ]);
  expect(await takenMail(id)).toMatchObject({
    id,
    from: { address: `zamowienia@${account.domain}`, name: 'Sklep „Przykład”' },
    to: ['jan@klient.example', 'Ola.Nowak@klient.example'],
    cc: ['kopia@klient.example'],
    bcc: ['ukryty@klient.example'],
    subject: 'Zażółć gęślą jaźń 😀',
    html: '<p>Dzień dobry</p>',
    text: 'Dzień dobry',
    replyTo: 'biuro@inny.example',
    headers: [['X-Entity-Ref-ID', 'zam-1']],
    listUnsubscribe: null,
    domain: account.domain,
    tries: 1,
  });
  expect(await books(account.id)).toMatchObject({ balance: 10_000 - 4, ledger: 10_000 - 4 });
});

it('without `from` it leaves from noreply at the default domain; a domain that is not verified is 422', async () => {
  const account = await newMailAccount();
  const email = LEAST;
  const { body } = await postEmail(account.v1, email);
  const { id } = body.data as unknown as { id: string };
  await untilEmail(account, id, ({ status }) => status !== 'queued');
  expect(await takenMail(id)).toMatchObject({ from: { address: `noreply@${account.domain}`, name: null } });

  const pending = await giveDomain(account.id, { isDefault: false, confirmed: false });
  const stranger = await newMailAccount();
  for (const domain of [pending, stranger.domain, 'nieznana.example', `pod.${account.domain}`]) {
    const refused = await postEmail(account.v1, { ...email, from: `a@${domain}` });
    expect(refused).toMatchObject({ status: 422, body: { error: { details: { field: 'from' } } } });
    const byKey = await postEmail(account.api, { ...email, from: `a@${domain}` });
    expect(byKey).toMatchObject({ status: 422, body: { error: { code: 'invalid_request', param: 'from' } } });
  }
  expect(await rowsOf(account.id)).toMatchObject({ emails: 1 });
});

it('with too little money it is 402, and nothing is left of it', async () => {
  const account = await newMailAccount({ balance: 2 });
  const email = { subject: 'Hej', text: 'Hej' };
  const refused = await postEmail(account.v1, {
    ...email,
    to: ['a@klient.example', 'b@klient.example', 'c@klient.example'],
    idx: 'raz',
    attachments: [{ filename: 'a.txt', content: Buffer.from('a').toString('base64') }],
  });
  expect(refused.status).toBe(402);
  expect(await rowsOf(account.id)).toMatchObject({ emails: 0 });
  // The idx is free: what was refused stands for nothing.
  const sent = await postEmail(account.v1, {
    ...email,
    to: ['a@klient.example', 'b@klient.example'],
    idx: 'raz',
  });
  expect(sent.status).toBe(200);
  expect(await books(account.id)).toMatchObject({ balance: 0, ledger: 0 });
});

it('a dozen at once spend all that there is, and no more', async () => {
  const account = await newMailAccount({ balance: 6 });
  const affordable = 6 / GROSZE_AN_ADDRESS;
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => {
      const email = { ...LEAST, to: `jan${index}@klient.example`, idx: `nr ${index}` };
      return eventually(
        () => postEmail(account.v1, email),
        ({ status }) => status !== 429,
      );
    }),
  );
  const statuses = answers.map(({ status }) => status);
  const accepted = statuses.filter((status) => status === 200).length;
  expect(statuses.filter((status) => status === 402)).toHaveLength(12 - accepted);
  // What one had reserved that was not decided in time is there for others, to the last of it.
  for (let late = accepted; late < affordable; late += 1) await takenFrom(account, {});
  expect((await account.v1.post('/v1/email', LEAST)).status).toBe(402);
  expect(await books(account.id)).toMatchObject({ balance: 0, ledger: 0 });
  expect(await rowsOf(account.id)).toMatchObject({ emails: affordable });
});

it('the same idx repeats the first answer without a charge, also by another kind of key; other content is refused', async () => {
  const account = await newMailAccount();
  const email = { ...LEAST, idx: 'zam-7' };
  const first = await Promise.all([postEmail(account.v1, email), postEmail(account.v1, email)]);
  const accepted = first.find(({ status }) => status === 200)!;
  for (const { status } of first) expect([200, 429]).toContain(status);
  const again = await postEmail(account.v1, email);
  expect(again.body).toEqual(accepted.body);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  const byKey = await postEmail(account.api, email);
  expect(byKey).toMatchObject({ status: 200, body: accepted.body });
  const other = await postEmail(account.v1, { ...email, subject: 'Inny' });
  expect(other).toMatchObject({ status: 422 });
  const file = { filename: 'a.txt', content: 'YQ==' };
  expect(await postEmail(account.v1, { ...email, attachments: [file] })).toMatchObject({ status: 422 });
  const conflict = await postEmail(account.api, { ...email, subject: 'Inny' });
  expect(conflict).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } });
  // An idx is of its account alone.
  const stranger = await newMailAccount();
  expect((await postEmail(stranger.v1, email)).body.data).not.toMatchObject({
    id: (accepted.body.data as unknown as { id: string }).id,
  });
  expect(await books(account.id)).toMatchObject({ balance: 9_999, ledger: 9_999 });
});

it('an idx is free again after 24 hours', async () => {
  const account = await newMailAccount();
  const email = { ...LEAST, idx: 'zam-11' };
  const first = await takenFrom(account, email);
  const age = (by: string) => database()`
    update idempotency_keys set created_at = created_at - ${by}::interval where account_id = ${account.id}`;
  await age('23 hours 59 minutes');
  expect(await takenFrom(account, email)).toEqual(first);
  expect((await postEmail(account.v1, { ...email, subject: 'Inny' })).status).toBe(422);
  await age('1 minute');
  const second = await takenFrom(account, { ...email, subject: 'Inny' });
  expect(second.id).not.toBe(first.id);
  expect(await takenFrom(account, { ...email, subject: 'Inny' })).toEqual(second);
  expect((await postEmail(account.v1, email)).status).toBe(422);
  expect(await books(account.id)).toMatchObject({ balance: 9_998, ledger: 9_998 });
});

it('the same idx with its headers in another order or null is a replay; with another value it is not', async () => {
  const account = await newMailAccount();
  const email = { ...LEAST, idx: 'zam-9' };
  const [list, campaign] = [{ 'List-Id': 'sklep' }, { 'X-Campaign-ID': 'wiosna' }];
  const first = await postEmail(account.v1, { ...email, headers: { ...list, ...campaign } });
  expect(first.status).toBe(200);
  for (const headers of [
    { ...campaign, ...list },
    { References: null, ...campaign, ...list },
    { 'x-campaign-id': 'wiosna', 'LIST-ID': 'sklep' },
  ]) {
    const again = await postEmail(account.v1, { ...email, headers });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(again.body).toEqual(first.body);
  }
  for (const headers of [{ ...list, 'X-Campaign-ID': 'lato' }, { ...list, 'X-Campaign-ID': null }, {}])
    expect((await postEmail(account.v1, { ...email, headers })).status).toBe(422);
  expect(await books(account.id)).toMatchObject({ balance: 9_999, ledger: 9_999 });
});

it('a test account pays in test credits, and writes to its own domains alone', async () => {
  const account = await newMailAccount({ mode: 'test', balance: 0, testCredits: 2 });
  const email = { subject: 'Hej', text: 'Hej' };
  const stranger = await postEmail(account.v1, { ...email, to: 'jan@klient.example' });
  expect(stranger).toMatchObject({ status: 403, body: { error: { details: { field: 'to' } } } });
  const other = await newMailAccount();
  expect((await postEmail(account.v1, { ...email, to: `a@${other.domain}` })).status).toBe(403);
  const own = { ...email, to: [`a@${account.domain}`, `b@${account.domain}`] };
  const { body } = await postEmail(account.v1, own);
  expect(body.data).toMatchObject({ cost: 0, status: 'queued' });
  const { id } = body.data as unknown as { id: string };
  expect((await account.v1.get(`/v1/email/${id}`)).body.data).toMatchObject({ id, cost: 0 });
  expect((await account.v1.get('/v1/email')).body.data).toMatchObject({ emails: [{ id, cost: 0 }] });
  expect((await postEmail(account.v1, { ...own, to: `a@${account.domain}` })).status).toBe(402);
  expect(await books(account.id)).toMatchObject({ balance: 0, ledger: 0, credits: 0 });
});
