import { describe, expect, it } from 'vitest';
import { readUsage } from '../../db/accounts/quotas.ts';
import { newId } from '../../db/ids.ts';
import { QUOTA_NAMES, type Quotas } from '../../domain/money.ts';
import { quotaUsage } from '../../operations/accounts/quotas.ts';
import type { ApiAnswer } from '../support/client.ts';
import { LEAST, newMailAccount, refusedTo, rowsOf, takenFrom } from '../support/email.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();
const number = (i: number): string => `+48500${String(200_000 + i)}`;

async function accountWith(quotas: Partial<Quotas>): Promise<TestAccount> {
  const account = await newAccount();
  await database()`
    update accounts set quotas = ${JSON.stringify(quotas)}::text::jsonb where id = ${account.id}`;
  return account;
}

function expectRefused(answer: ApiAnswer, param: string, limit: number | string): void {
  expect(answer).toMatchObject(refusal(400, param));
  expect(answer.body.error.message).toContain(String(limit));
  expect(answer.body.error.message).toContain('poproś o wyższy limit');
}

/** An e-mail with one file, as its provider or its wait has left it. */
async function fileOf({ id: account }: { id: string }, status: string, bytes: number): Promise<string> {
  const id = newId('em');
  await database()`
    insert into emails (id, account_id, request_id, interface, status, route, domain, from_address, subject, cost_grosze, file_bytes,
                        give_up_at, created_at)
    values (${id}, ${account}, ${newId('req')}, 'v1', ${status}, 'simulator', 'd.example', 'a@d.example', 'x', 1, ${bytes},
            now() + interval '3 days', now() - interval '61 s')`;
  await database()`
    insert into email_attachments (email_id, number, filename, content_type, bytes)
    values (${id}, 0, 'a.pdf', 'application/pdf', ${bytes})`;
  return id;
}

/** An e-mail of no cost to this many addresses, as it is accepted or as it has ended. */
async function toNobodyOf({ id: account }: { id: string }, status: string, addresses: number): Promise<void> {
  const id = newId('em');
  await database()`
    insert into emails (id, account_id, request_id, interface, status, route, domain, from_address, subject, cost_grosze, give_up_at)
    values (${id}, ${account}, ${newId('req')}, 'v1', ${status}, 'simulator', 'd.example', 'a@d.example', 'x', 0,
            now() + interval '3 days')`;
  await database()`
    insert into email_recipients (email_id, account_id, position, kind, address)
    select ${id}, ${account}, i, 'to', 'nikt' || i || '@klient.example' from generate_series(0, ${addresses - 1}) i`;
}

/** Octets of an account's files of e-mails that wait. */
async function filesOf({ id }: { id: string }): Promise<number> {
  const [row] = await database()<{ bytes: number }[]>`
    select coalesce(sum(f.bytes), 0)::int as bytes from emails e join email_attachments f on f.email_id = e.id
     where e.account_id = ${id} and e.status = 'queued'`;
  return row!.bytes;
}

const usedBy = async ({ id }: TestAccount) => (await readUsage(database(), id)).used;
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();

describe('what an account keeps has bounds', () => {
  it('contacts: one by one, imported, as members; who is there can be changed', async () => {
    const account = await accountWith({ contacts: 3 });
    const { api } = account;
    const imported = await api.post(
      '/v1/contacts',
      [0, 1, 0, 2, 3, 4].map((i) => ({ msisdn: number(i) })),
    );
    expect(imported.body).toMatchObject({ created: 3, updated: 1 });
    expect(imported.body.invalid).toMatchObject([{ index: 4 }, { index: 5 }]);
    expectRefused(await api.post('/v1/contacts', { msisdn: number(9) }), 'msisdn', 3);
    expect((await api.post('/v1/contacts', { msisdn: number(0), first_name: 'Jan' })).status).toBe(200);
    const group = (await api.post('/v1/groups', { name: 'g' })).body.id;
    const path = `/v1/groups/${group}/contacts`;
    expectRefused(await api.post(path, { msisdns: [number(0), number(9)] }), 'msisdns', 3);
    expect((await api.post(path, { msisdns: [number(0)] })).body).toMatchObject({ added: 1, members: 1 });
    const { body } = await api.get('/v1/contacts');
    await api.delete(`/v1/contacts/${body.data[0]!.id}`);
    expect((await api.post('/v1/contacts', { msisdn: number(9) })).status).toBe(201);
    expect(await usedBy(account)).toMatchObject({ contacts: 3, groups: 1, memberships: 0 });
  });

  it('what contacts say, in octets', async () => {
    const account = await accountWith({ contact_bytes: 100 });
    const { api } = account;
    const long = { msisdn: number(0), fields: { miasto: 'ą'.repeat(60) } };
    expectRefused(await api.post('/v1/contacts', long), 'fields', '0,0001');
    const short = { msisdn: number(0), fields: { miasto: 'ą'.repeat(30) } };
    const { body: contact } = await api.post('/v1/contacts', short);
    expectRefused(
      await api.patch(`/v1/contacts/${contact.id}`, { first_name: 'ż'.repeat(20) }),
      'fields',
      '0,0001',
    );
    await api.patch(`/v1/contacts/${contact.id}`, { fields: null });
    expect(await usedBy(account)).toMatchObject({ contact_bytes: 2 });
    await api.delete(`/v1/contacts/${contact.id}`);
    expect(await usedBy(account)).toMatchObject({ contact_bytes: 0, contacts: 0 });
  });

  it('groups and memberships, whichever way they are made', async () => {
    const account = await accountWith({ groups: 2, memberships: 2 });
    const { api } = account;
    await api.post('/v1/contacts', { msisdn: number(0), groups: ['a', 'b'] });
    expectRefused(await api.post('/v1/groups', { name: 'c' }), 'name', 2);
    expectRefused(await api.post('/v1/contacts', { msisdn: number(1), groups: ['c'] }), 'groups', 2);
    expectRefused(await api.post('/v1/contacts', { msisdn: number(1), groups: ['a'] }), 'groups', 2);
    expectRefused(await api.post('/v1/contacts', [{ msisdn: number(1), groups: ['a'] }]), 'groups', 2);
    expect(await usedBy(account)).toMatchObject({ contacts: 1, memberships: 2 });
    const [group] = (await api.get('/v1/groups')).body.data;
    await api.delete(`/v1/groups/${group!.id}`);
    expect((await api.post('/v1/contacts', { msisdn: number(1), groups: ['b'] })).status).toBe(201);
    expect(await usedBy(account)).toMatchObject({ groups: 1, memberships: 2 });
  });

  it('numbers on the blacklist; an opt-out is never refused', async () => {
    const account = await accountWith({ blacklist: 2 });
    const { api } = account;
    const three = [0, 1, 2].map(number);
    expectRefused(await api.post('/v1/blacklist', { msisdns: three }), 'msisdns', 2);
    expect((await api.get('/v1/blacklist')).body.data).toEqual([]);
    expect((await api.post('/v1/blacklist', { msisdns: three.slice(1) })).status).toBe(201);
    expectRefused(await api.post('/v1/blacklist', { msisdn: three[0] }), 'msisdn', 2);
    expect((await api.post('/v1/blacklist', { msisdns: three.slice(1), reason: 'x' })).status).toBe(201);
    await api.delete(`/v1/blacklist/${three[1]!}`);
    expect((await api.post('/v1/blacklist', { msisdn: three[0] })).status).toBe(201);
  });

  it('tracked links: new ones are refused, those that there are go on', async () => {
    const account = await accountWith({ links: 2 });
    const { api } = account;
    const text = '{{link:https://example.com/a}} {{link:https://example.com/b}}';
    expect((await api.send({ to: number(0), text, send_at: later })).status).toBe(201);
    expectRefused(await api.send({ to: number(1), text, send_at: later }, 'k'), 'text', 2);
    expect((await api.send({ to: number(0), text, send_at: later }, 'k')).status).toBe(201);
    expect(await usedBy(account)).toMatchObject({ links: 2 });
  });

  it('files of e-mails, and e-mails to nobody, however many come at once', async () => {
    const [account, other] = [await newMailAccount(), await newMailAccount()];
    await toNobodyOf(other, 'suppressed', 5);
    await database()`
      update accounts set quotas = '{"email_file_bytes": 10, "unpaid_messages": 5}' where id = ${account.id}`;
    await account.v1.post('/v1/email/suppressions', { addresses: ['nikt@klient.example'] });
    const thirty = (email: object) =>
      Promise.all(Array.from({ length: 30 }, () => account.v1.post('/v1/email', { ...LEAST, ...email })));
    // Of the provider's first answers none comes: they wait for seconds.
    const attachments = [
      { filename: 'a.pdf', content: 'YQ==' },
      { filename: 'b.pdf', content: 'YQ==' },
    ];
    const withFiles = await thirty({ to: 'unanswered@klient.example', attachments });
    const toNobody = await thirty({ to: 'nikt@klient.example' });
    expect(statuses(toNobody)).toEqual([...Array<number>(5).fill(200), ...Array<number>(25).fill(422)]);
    // Where the machine is so slow that some have left meanwhile, as many more are taken.
    const taken = withFiles.filter(({ status }) => status === 200).length;
    expect(taken).toBeGreaterThanOrEqual(5);
    expect(withFiles.filter(({ status }) => status === 422)).toHaveLength(30 - taken);
    expect(await filesOf(account)).toBeLessThanOrEqual(10);
    expect(await rowsOf(account.id)).toMatchObject({ emails: taken + 5 });
  });

  it('files of e-mails that wait, of this account alone; what is refused leaves nothing', async () => {
    const other = await newMailAccount();
    await fileOf(other, 'queued', 100);
    const account = await newMailAccount();
    await database()`update accounts set quotas = '{"email_file_bytes": 10}' where id = ${account.id}`;
    for (const status of ['sent', 'delivered', 'failed', 'unknown']) await fileOf(account, status, 100);
    const waiting = await fileOf(account, 'queued', 6);
    const withFiles = (...bytes: number[]) => ({
      ...LEAST,
      attachments: bytes.map((count, index) => ({
        filename: `${index}.pdf`,
        content: Buffer.alloc(count).toString('base64'),
      })),
    });
    expect(await refusedTo(account, withFiles(5), 'attachments')).toContain('poproś o wyższy limit');
    await refusedTo(account, withFiles(2, 3), 'attachments');
    expect(await filesOf(account)).toBe(6);
    await takenFrom(account, { list_unsubscribe: true });
    // To nobody: nothing of it is kept.
    await account.v1.post('/v1/email/suppressions', { addresses: ['nikt@klient.example'] });
    expect(await takenFrom(account, { ...withFiles(50), to: 'nikt@klient.example' })).toMatchObject({
      status: 'suppressed',
    });
    const shown = await quotaUsage(database(), account.id);
    expect(shown).toMatchObject({ email_file_bytes: { limit: 10, used: 6 } });
    await takenFrom(account, withFiles(2, 2));
    await database()`update emails set status = 'sent' where id = ${waiting}`;
    await takenFrom(account, withFiles(6));
    await refusedTo(account, withFiles(11), 'attachments');
    await database()`update accounts set quotas = '{}' where id = ${account.id}`;
    await takenFrom(account, withFiles(11));
  });

  it('scheduled messages', async () => {
    const [{ api }, other] = [await accountWith({ scheduled_messages: 3 }), await newAccount()];
    await other.api.accepted({ to: [0, 1, 2].map(number), text: 'x', send_at: later });
    const body = await api.accepted({ to: [number(0), number(1)], text: 'x', send_at: later });
    expectRefused(await api.send({ to: [number(2), number(3)], text: 'x', send_at: later }, 'k'), 'to', 3);
    expect((await api.send({ to: number(2), text: 'x', send_at: later }, 'k')).status).toBe(201);
    expectRefused(await api.send({ to: number(3), text: 'x', send_at: later }), 'to', 3);
    await api.delete(`/v1/messages/${body.messages[0]!.id}`);
    expect((await api.send({ to: number(3), text: 'x', send_at: later })).status).toBe(201);
    expect((await api.send({ to: number(4), text: 'x' })).status).toBe(201);
  });

  it('messages that cost nothing: rejected ones, and scheduled ones that were cancelled', async () => {
    const [account, other] = [await accountWith({ unpaid_messages: 3 }), await newAccount()];
    await other.api.post('/v1/blacklist', { msisdns: [0, 1, 2].map(number) });
    await other.api.accepted({ to: [0, 1, 2].map(number), text: 'x' });
    const { api } = account;
    await api.post('/v1/blacklist', { msisdns: [0, 1, 2].map(number) });
    expect((await api.send({ to: [number(0), number(1)], text: 'x' })).status).toBe(201);
    expectRefused(await api.send({ to: [number(0), number(1)], text: 'x' }), 'to', 3);
    const body = await api.accepted({ to: number(5), text: 'x', send_at: later });
    await api.delete(`/v1/messages/${body.id}`);
    expectRefused(await api.send({ to: number(0), text: 'x' }), 'to', 3);
    expectRefused(await api.send({ to: number(5), text: 'x', send_at: later }), 'to', 3);
    expect((await api.send({ to: number(5), text: 'x' })).status).toBe(201);
  });

  it('octets of what costs nothing: its texts, as they were personalised', async () => {
    const [account, other] = [await accountWith({ unpaid_bytes: 100 }), await newAccount()];
    for (const { api } of [account, other]) await api.post('/v1/blacklist', { msisdns: [0, 1].map(number) });
    const { api } = account;
    const text = '{{imie}}ą';
    await api.post('/v1/contacts', { msisdn: number(0), first_name: 'ż'.repeat(19) });
    await other.api.accepted({ to: number(0), text: 'x'.repeat(200) });
    // 40 octets and 2 of them.
    expect((await api.send({ to: [number(0), number(1)], text })).status).toBe(201);
    expectRefused(await api.send({ to: number(1), text: 'ą'.repeat(30) }), 'to', '0,0001');
    expect((await api.send({ to: number(5), text: 'ą'.repeat(30) })).status).toBe(201);
    const body = await api.accepted({ to: number(5), text: 'ą'.repeat(28), send_at: later });
    expect(await quotaUsage(database(), account.id)).toMatchObject({
      unpaid_bytes: { limit: 100, used: 42 },
    });
    await api.delete(`/v1/messages/${body.id}`);
    expect((await api.send({ to: number(1), text: 'ą' })).status).toBe(201);
    // What is scheduled can be cancelled for nothing.
    expectRefused(await api.send({ to: number(5), text: 'x', send_at: later }), 'to', '0,0001');
    expectRefused(await api.send({ to: [number(1), number(5)], text: 'x' }), 'to', '0,0001');
    expect(await quotaUsage(database(), account.id)).toMatchObject({
      unpaid_bytes: { used: 100 },
      unpaid_messages: { used: 4 },
    });
  });

  it('of a hundred at once no more than there is room for is let in', async () => {
    const [account, other] = [
      await accountWith({ contacts: 5, groups: 5, blacklist: 5, templates: 5 }),
      await newAccount(),
    ];
    expect((await other.api.post('/v1/templates', { name: 't', body: 'x' })).status).toBe(201);
    const { api } = account;
    const hundred = (each: (i: number) => Promise<ApiAnswer>) =>
      Promise.all(Array.from({ length: 25 }, (_, i) => each(i)));
    const all = await Promise.all([
      hundred((i) => api.post('/v1/contacts', { msisdn: number(i) })),
      hundred((i) => api.post('/v1/groups', { name: `g${i}` })),
      hundred((i) => api.post('/v1/blacklist', { msisdn: number(i) })),
      hundred((i) => api.post('/v1/templates', { name: `t${i}`, body: 'x' })),
    ]);
    for (const answers of all) {
      expect(statuses(answers)).toEqual([...Array<number>(5).fill(201), ...Array<number>(20).fill(400)]);
    }
    expect(await usedBy(account)).toMatchObject({ contacts: 5, groups: 5, blacklist: 5 });
  });

  it('where a quota was lowered, what there is can be read, changed and removed', async () => {
    const account = await newAccount();
    const { api } = account;
    const { body: contact } = await api.post('/v1/contacts', { msisdn: number(0), groups: ['a', 'b'] });
    const { body: template } = await api.post('/v1/templates', { name: 't', body: 'xyz' });
    const none = Object.fromEntries(QUOTA_NAMES.map((name) => [name, 0]));
    await database()`update accounts set quotas = ${JSON.stringify(none)}::text::jsonb where id = ${account.id}`;
    expect((await api.patch(`/v1/contacts/${contact.id}`, { msisdn: number(1) })).status).toBe(200);
    expect((await api.patch(`/v1/contacts/${contact.id}`, { groups: ['a'] })).status).toBe(200);
    expect((await api.patch(`/v1/templates/${template.id}`, { name: 'u', body: 'xy' })).status).toBe(200);
    expect((await api.send({ to: number(0), text: 'x' })).status).toBe(201);
    for (const path of [`/v1/contacts/${contact.id}`, `/v1/templates/${template.id}`]) {
      expect((await api.delete(path)).status).toBe(200);
    }
  });

  it('every account has the usual quotas', async () => {
    const { limits } = await readUsage(database(), (await newAccount()).id);
    // As decided, not as the code has it.
    expect(limits).toEqual({
      ...{ contacts: 250_000, contact_bytes: 250_000_000, groups: 5_000, memberships: 1_000_000 },
      ...{ templates: 1_000, template_bytes: 5_000_000, blacklist: 500_000, scheduled_messages: 200_000 },
      ...{ links: 5_000_000, unpaid_messages: 20_000, suppressions: 500_000 },
      ...{ email_file_bytes: 500_000_000, unpaid_bytes: 50_000_000 },
    });
  });
});
