import { describe, expect, inject, it } from 'vitest';
import { eraseEmailsAfter } from '../../../db/emails/retention.ts';
import { type MailAccount, newMailAccount, takenFrom, takenMail, untilEmail } from '../../support/email.ts';
import { call } from '../../support/client.ts';
import { database } from '../../support/factories.ts';
import { unknownUnsubscribePath, unsubscribePath, visit } from '../../support/pages.ts';

const base = () => inject('service').apiUrl;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const listed = async ({ v1 }: MailAccount) =>
  ((await v1.get('/v1/email/suppressions')).body.data as unknown as { suppressions: object[] }).suppressions;

/** An e-mail that offers unsubscribing, once its provider has it, and where it leads. */
async function offered(account: MailAccount): Promise<{ id: string; path: string }> {
  const { id } = await takenFrom(account, { to: 'Silent@klient.example', list_unsubscribe: true });
  await untilEmail(account, id, ({ events }) => events.some(({ kind }) => kind === 'sent'));
  const { listUnsubscribe } = (await takenMail(id)) as { listUnsubscribe: string };
  return { id, path: new URL(listUnsubscribe).pathname };
}

/** What a mail program does (RFC 8058): a form with one field, no cookies, no key. */
const press = async (path: string) =>
  await fetch(base() + path, {
    method: 'POST',
    headers: FORM,
    body: 'List-Unsubscribe=One-Click',
    redirect: 'manual',
  });

const words = (text: string) =>
  text
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

describe('one-click unsubscribing', () => {
  it('puts the address on the list by the mail program’s POST, and ends e-mail to it', async () => {
    const account = await newMailAccount();
    const { id, path } = await offered(account);
    expect(path).toMatch(/^\/u\/[0-9A-Za-z]{20}$/);
    const answer = await press(path);
    expect([answer.status, answer.headers.get('set-cookie'), answer.headers.get('location')]).toEqual([
      200,
      null,
      null,
    ]);
    expect(await listed(account)).toMatchObject([
      { address: 'silent@klient.example', reason: 'unsubscribe', email_id: id },
    ]);
    expect(await takenFrom(account, { to: 'SILENT@klient.example' })).toMatchObject({
      status: 'suppressed',
      cost: 0,
    });
    const email = await untilEmail(account, id, () => true);
    expect(email).toMatchObject({ status: 'sent' });
    expect(email.events.map(({ kind }) => kind)).toEqual(['sent', 'unsubscribed']);
  });

  it('is the same again and again, also at once', async () => {
    const account = await newMailAccount();
    const { id, path } = await offered(account);
    const answers = await Promise.all(Array.from({ length: 10 }, () => press(path)));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect([new Set(answers.map(({ status }) => status)), new Set(texts).size]).toEqual([new Set([200]), 1]);
    expect((await press(path)).status).toBe(200);
    expect(await listed(account)).toHaveLength(1);
    const { events } = await untilEmail(account, id, () => true);
    expect(events.filter(({ kind }) => kind === 'unsubscribed')).toHaveLength(1);
  });

  it('works again for an address that was taken off the list', async () => {
    const account = await newMailAccount();
    const { path } = await offered(account);
    await press(path);
    await account.v1.delete('/v1/email/suppressions/silent@klient.example');
    await press(path);
    expect(await listed(account)).toHaveLength(1);
  });

  it.each([
    ['bounce', 'unsubscribe'],
    ['manual', 'unsubscribe'],
    ['complaint', 'complaint'],
  ])('of an address that is there for a %s counts, once, and the entry says %s', async (before, after) => {
    const account = await newMailAccount();
    const { id, path } = await offered(account);
    await database()`
      insert into suppressions (account_id, address, reason, created_at)
      values (${account.id}, 'silent@klient.example', ${before}, '2026-01-02T03:04:05Z')`;
    await Promise.all(Array.from({ length: 5 }, () => press(path)));
    expect(await listed(account)).toMatchObject([
      {
        reason: after,
        email_id: after === 'unsubscribe' ? id : null,
        created_at: expect.stringContaining('2026-01-02T03:04:05') as string,
      },
    ]);
    const { events } = await untilEmail(account, id, () => true);
    expect(events.filter(({ kind }) => kind === 'unsubscribed')).toMatchObject([
      { address: 'silent@klient.example' },
    ]);
  });

  it('from an e-mail that was erased meanwhile counts, and brings no address back to it', async () => {
    const account = await newMailAccount();
    const { id, path } = await offered(account);
    await untilEmail(account, id, ({ status }) => status === 'sent');
    // This one alone.
    expect(
      await eraseEmailsAfter(database(), { after: id.slice(0, -1), before: `${id}0`, limit: 1 }),
    ).toMatchObject({ done: 1 });
    expect((await press(path)).status).toBe(200);
    expect(await listed(account)).toMatchObject([{ address: 'silent@klient.example', email_id: id }]);
    const { events } = await untilEmail(account, id, () => true);
    expect(events.at(-1)).toMatchObject({ kind: 'unsubscribed', address: null });
    const named = await database()`
      select from email_events where email_id = ${id} and address like '%klient.example'`;
    expect(named).toHaveLength(0);
  });

  it('is of the account that sent it alone', async () => {
    const [account, other] = [await newMailAccount(), await newMailAccount()];
    const [first, second] = [await offered(account), await offered(account)];
    await press(first.path);
    expect(await listed(other)).toEqual([]);
    await database()`
      insert into suppressions (account_id, address, reason) values (${other.id}, 'silent@klient.example', 'complaint')`;
    await press(second.path);
    const { events } = await untilEmail(account, second.id, () => true);
    expect(events.filter(({ kind }) => kind === 'unsubscribed')).toEqual([]);
  });

  it('is never refused for a full list', async () => {
    const account = await newMailAccount();
    await database()`update accounts set quotas = '{"suppressions": 0}' where id = ${account.id}`;
    expect((await press((await offered(account)).path)).status).toBe(200);
    expect(await listed(account)).toHaveLength(1);
  });
});

describe('opening the link', () => {
  it('changes nothing, as programs open every link of an e-mail', async () => {
    const account = await newMailAccount();
    const { path } = await offered(account);
    for (const method of ['GET', 'HEAD', 'GET']) {
      const { status, text } = await visit(base() + path, { method });
      expect(status).toBe(200);
      if (method === 'GET') {
        expect(words(text)).toContain('Czy adres s…@klient.example ma już nie otrzymywać e-maili od Test ?');
        expect(text).toMatch(/<form method="post">\s*<button type="submit">/);
      }
    }
    expect(await listed(account)).toEqual([]);
    const pressed = await visit(base() + path, { method: 'POST' });
    expect(words(pressed.text)).toContain(
      'Na adres s…@klient.example nie będziemy już wysyłać e-maili od Test .',
    );
    expect(words((await visit(base() + path)).text)).toContain('nie będziemy już wysyłać');
  });

  it('shows neither the whole address nor markup of the account’s name, loads a style sheet, and is not kept', async () => {
    const account = await newMailAccount();
    await database()`update accounts set name = '<b>"A&' where id = ${account.id}`;
    const path = await unsubscribePath(account, 'silent@klient.example');
    const { headers, text } = await visit(base() + path);
    expect(text).toContain('&lt;b>&quot;A&amp;');
    expect(text).not.toContain('silent');
    expect(text).not.toMatch(/<script|<img|<style|<iframe|\bsrc=|\bstyle=|https?:|url\(|@import|\bon\w+=/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
    expect(headers.get('set-cookie')).toBeNull();
  });

  it('that was never sent is 404; other methods are 405', async () => {
    for (const path of [`/u/${'x'.repeat(4_000)}`, '/u/0000000000000000000%00', '/u/__proto__']) {
      for (const method of ['GET', 'HEAD', 'POST'])
        expect((await visit(base() + path, { method })).status).toBe(404);
    }
    const path = unknownUnsubscribePath();
    expect(words((await visit(base() + path)).text)).toContain('Link jest nieaktywny');
    expect((await press(path)).status).toBe(404);
    const other = await call(base() + path, { method: 'DELETE' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
  });
});
