import { describe, expect, it } from 'vitest';
import { EMAIL_STATUSES } from '../../../domain/email/statuses.ts';
import { newId } from '../../../db/ids.ts';
import {
  type MailAccount,
  newMailAccount,
  type ShownEmail,
  takenFrom,
  untilEmail,
} from '../../support/email.ts';
import { database } from '../../support/factories.ts';

interface Page {
  count: number;
  next_cursor: string | null;
  emails: Omit<ShownEmail, 'events'>[];
}

async function page({ v1 }: MailAccount, query = ''): Promise<Page> {
  const { status, body } = await v1.get(`/v1/email${query}`);
  expect(status).toBe(200);
  return body.data as unknown as Page;
}

const ids = ({ emails }: Page) => emails.map(({ id }) => id);

/** E-mails that are over, oldest first, as their provider would have left them. */
async function addEmails({ id: account }: MailAccount, count: number): Promise<string[]> {
  const added = Array.from({ length: count }, () => newId('em'));
  await database()`
    insert into emails (id, account_id, request_id, interface, route, domain, from_address, subject, cost_grosze, status, give_up_at)
    select i, ${account}, i, 'v1', 'simulator', 'a.example', 'a@a.example', 'x', 1, 'delivered', now() from unnest(${added}::text[]) i`;
  await database()`
    insert into email_recipients (email_id, account_id, position, kind, address, state)
    select i, ${account}, 0, 'to', 'Jan@klient.example', 'delivered' from unnest(${added}::text[]) i`;
  return added;
}

describe('GET /v1/email', () => {
  it('lists the newest first, and loses and repeats none of a page while others are added', async () => {
    const account = await newMailAccount();
    const before = await addEmails(account, 25);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const read: Page = await page(account, `?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...ids(read));
      cursor = read.next_cursor;
      await addEmails(account, 2);
    }
    expect(seen).toEqual(before.reverse());
    expect((await page(account)).count).toBe(33);
    expect((await page(account, '?limit=33')).next_cursor).toBeNull();
    await addEmails(account, 30);
    expect((await page(account)).count).toBe(50);
  });

  it('is narrowed by status, idx and recipient, in any case and all together', async () => {
    const account = await newMailAccount();
    const one = await takenFrom(account, {
      to: 'silent@klient.example',
      cc: ['Kopia@klient.example'],
      idx: 'a',
    });
    const two = await takenFrom(account, { to: 'refused@klient.example', bcc: ['kopia@klient.example'] });
    await untilEmail(account, one.id, ({ status }) => status === 'sent');
    await untilEmail(account, two.id, ({ status }) => status === 'failed');
    expect(ids(await page(account, '?status=sent'))).toEqual([one.id]);
    expect(ids(await page(account, '?status=failed'))).toEqual([two.id]);
    expect(ids(await page(account, '?status=delivered'))).toEqual([]);
    expect(ids(await page(account, '?idx=a'))).toEqual([one.id]);
    expect(ids(await page(account, '?idx=A'))).toEqual([]);
    expect(ids(await page(account, '?to=KOPIA@Klient.example'))).toEqual([two.id, one.id]);
    expect(ids(await page(account, '?to=kopia@klient.example&status=sent&idx=a'))).toEqual([one.id]);
    const { next_cursor: cursor } = await page(account, '?to=kopia@klient.example&limit=1');
    expect(ids(await page(account, `?to=kopia@klient.example&cursor=${cursor}`))).toEqual([one.id]);
    for (const status of EMAIL_STATUSES) await page(account, `?status=${status}`);
  });

  it.each([
    ...['?status=draft', '?limit=201', '?cursor=x', '?cursor=msg_01', '?to=jan', '?idx='],
    ...['?a=1', '?to=a@b.pl&to=b@b.pl', '?idx=%00'],
  ])('%s is refused and names the parameter', async (query) => {
    const account = await newMailAccount();
    const field = /\?(\w+)/.exec(query)![1]!;
    expect(await account.v1.get(`/v1/email${query}`)).toMatchObject({
      status: 422,
      body: { error: { details: { field } } },
    });
    expect(await account.api.get(`/v1/email${query}`)).toMatchObject({
      status: 400,
      body: { error: { param: field } },
    });
  });
});

describe('GET /v1/email/{id}', () => {
  it.each([
    ['jan@klient.example', 'delivered', ['sent', 'delivered']],
    ['bounced@klient.example', 'bounced', ['sent', 'bounced']],
    ['soft-bounced+x@klient.example', 'bounced', ['sent', 'bounced']],
    ['complained@klient.example', 'complained', ['sent', 'delivered', 'complained']],
    ['delayed@klient.example', 'delivered', ['sent', 'delayed', 'delivered']],
    ['clicked@klient.example', 'delivered', ['sent', 'delivered', 'opened', 'clicked']],
  ])('of one to %s says that it ended %s, and how', async (to, status, kinds) => {
    const account = await newMailAccount();
    const { id } = await takenFrom(account, { to });
    const { events } = await untilEmail(
      account,
      id,
      (email) => email.status === status && email.events.length >= kinds.length,
    );
    expect(events.map(({ kind }) => kind)).toEqual(kinds);
    for (const { kind, address, permanent } of events) {
      expect(address).toBe(to);
      expect(permanent).toBe(kind === 'bounced' ? !to.startsWith('soft') : null);
    }
  });

  it.each(['msg_01k00000000000000000000000', '%00', 'em_01k00000000000000000000000'])(
    '%s is 404',
    async (id) => {
      const account = await newMailAccount();
      expect((await account.v1.get(`/v1/email/${id}`)).status).toBe(404);
      expect((await account.api.get(`/v1/email/${id}`)).status).toBe(404);
    },
  );
});
