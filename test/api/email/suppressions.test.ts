import { describe, expect, it } from 'vitest';
import { idFloor, newId } from '../../../db/ids.ts';
import {
  LEAST,
  type MailAccount,
  newMailAccount,
  refusedTo,
  takenFrom,
  takenMail,
  untilEmail,
  postEmail,
} from '../../support/email.ts';
import { books, database } from '../../support/factories.ts';

const PATH = '/v1/email/suppressions';

interface Listed {
  count: number;
  next_cursor: string | null;
  suppressions: { address: string; reason: string; email_id: string | null; created_at: string }[];
}

async function list({ v1 }: Pick<MailAccount, 'v1'>, query = ''): Promise<Listed> {
  const { status, body } = await v1.get(`${PATH}${query}`);
  expect(status).toBe(200);
  return body.data as unknown as Listed;
}

const add = async ({ v1 }: MailAccount, ...addresses: unknown[]) => await v1.post(PATH, { addresses });
const names = ({ suppressions }: Listed) => suppressions.map(({ address }) => address);
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => `a${String(i).padStart(4, '0')}@klient.example`);

describe('the suppression list', () => {
  it('takes up to 1000 addresses, each once, in small letters and in ASCII', async () => {
    const account = await newMailAccount();
    const added = await add(account, 'Jan@Klient.Example', 'jan@klient.example', 'ola@żółw.pl');
    expect(added).toMatchObject({ status: 200, body: { success: true, data: { added: 2 } } });
    expect((await add(account, 'JAN@klient.example')).body.data).toEqual({ added: 0 });
    expect((await list(account)).suppressions).toMatchObject([
      { address: 'jan@klient.example', reason: 'manual', email_id: null },
      { address: 'ola@xn--w-uga1v8h.pl', reason: 'manual', email_id: null },
    ]);
    expect((await add(account, ...numbered(1000))).body.data).toEqual({ added: 1000 });
    for (const wrong of [numbered(1001), [], 'jan@klient.example', null, {}])
      expect(await account.v1.post(PATH, { addresses: wrong })).toMatchObject({
        status: 422,
        body: { error: { details: { field: 'addresses' } } },
      });
  });

  it('takes all or none: one that is no address refuses the whole and is named by its place', async () => {
    const account = await newMailAccount();
    const refused = await add(account, 'jan@klient.example', 'Jan <ola@klient.example>');
    expect(refused).toMatchObject({ status: 422, body: { error: { details: { field: 'addresses.1' } } } });
    const byKey = await account.api.post(PATH, { addresses: ['jan'] });
    expect(byKey).toMatchObject({ status: 400, body: { error: { param: 'addresses' } } });
    expect(await list(account)).toEqual({ count: 0, next_cursor: null, suppressions: [] });
  });

  it('is paged by address, also while others are added', async () => {
    const account = await newMailAccount();
    const all = numbered(25);
    await add(account, ...all);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(
        account,
        `?limit=7${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      expect(page.count).toBe(page.suppressions.length);
      seen.push(...names(page));
      cursor = page.next_cursor;
      await add(account, `a-before${seen.length}@klient.example`);
    }
    expect(seen.filter((address) => all.includes(address))).toEqual(all);
    expect(new Set(seen).size).toBe(seen.length);
    for (const cursor of ['jan', 'Jan@klient.example', '', "' or 1=1 --@b.pl"])
      expect((await account.v1.get(`${PATH}?cursor=${encodeURIComponent(cursor)}`)).status).toBe(422);
  });

  it('is narrowed by reason', async () => {
    const account = await newMailAccount();
    await add(account, 'manual@klient.example');
    const { id } = await takenFrom(account, { to: 'bounced@klient.example' });
    await untilEmail(account, id, ({ status }) => status === 'bounced');
    expect((await list(account, '?reason=bounce')).suppressions).toMatchObject([
      { address: 'bounced@klient.example', reason: 'bounce', email_id: id },
    ]);
    expect(names(await list(account, '?reason=manual'))).toEqual(['manual@klient.example']);
    expect(names(await list(account, '?reason=complaint'))).toEqual([]);
    expect((await account.v1.get(`${PATH}?reason=x`)).status).toBe(422);
  });

  it('is taken off by the address in the path, percent-encoded, in any case', async () => {
    const account = await newMailAccount();
    const odd = "o'brien+a/b?c#d%e@klient.example";
    await add(account, odd, 'ola@żółw.pl');
    const remove = async (address: string) =>
      await account.v1.delete(`${PATH}/${encodeURIComponent(address)}`);
    expect(await remove(odd.toUpperCase())).toMatchObject({ status: 200, body: { data: { removed: odd } } });
    expect((await remove(odd)).status).toBe(404);
    expect((await remove('ola@żółw.pl')).status).toBe(200);
    expect(await remove('nie adres')).toMatchObject({
      status: 422,
      body: { error: { details: { field: 'address' } } },
    });
    expect((await list(account)).count).toBe(0);
  });

  it('is of its account alone', async () => {
    const [account, stranger] = [await newMailAccount(), await newMailAccount()];
    await add(account, 'jan@klient.example');
    expect((await list(stranger)).count).toBe(0);
    expect((await stranger.v1.delete(`${PATH}/jan@klient.example`)).status).toBe(404);
    expect((await takenFrom(stranger, { to: 'jan@klient.example' })).cost).toBe(1);
    expect(names(await list(account))).toEqual(['jan@klient.example']);
  });

  it('has a bound; a bounce is never refused', async () => {
    const account = await newMailAccount();
    await database()`update accounts set quotas = '{"suppressions": 2}' where id = ${account.id}`;
    expect((await add(account, ...numbered(3))).status).toBe(422);
    expect((await list(account)).count).toBe(0);
    expect((await add(account, ...numbered(2))).status).toBe(200);
    expect((await add(account, ...numbered(2))).body.data).toEqual({ added: 0 });
    expect(await add(account, 'x@klient.example')).toMatchObject({
      status: 422,
      body: { error: { details: { field: 'addresses' } } },
    });
    const { id } = await takenFrom(account, { to: 'bounced@klient.example' });
    await untilEmail(account, id, ({ status }) => status === 'bounced');
    expect((await list(account)).count).toBe(3);
    await account.v1.delete(`${PATH}/bounced@klient.example`);
    await account.v1.delete(`${PATH}/a0000@klient.example`);
    expect((await add(account, 'x@klient.example')).body.data).toEqual({ added: 1 });
  });
});

describe('an e-mail to suppressed addresses', () => {
  it('leaves them out, free, and says so', async () => {
    const account = await newMailAccount();
    await add(account, 'jan@klient.example', 'kopia@klient.example');
    const { id, cost, status } = await takenFrom(account, {
      to: ['JAN@klient.example', 'ola@klient.example'],
      cc: ['kopia@klient.example'],
    });
    expect([cost, status]).toEqual([1, 'queued']);
    const email = await untilEmail(account, id, (now) => now.status === 'delivered');
    expect(email.recipients).toEqual([
      { kind: 'to', address: 'JAN@klient.example', state: 'suppressed' },
      { kind: 'to', address: 'ola@klient.example', state: 'delivered' },
      { kind: 'cc', address: 'kopia@klient.example', state: 'suppressed' },
    ]);
    expect(email.events.filter(({ kind }) => kind === 'suppressed').map(({ address }) => address)).toEqual([
      'JAN@klient.example',
      'kopia@klient.example',
    ]);
    expect(await takenMail(id)).toMatchObject({ to: ['ola@klient.example'], cc: [], bcc: [] });
    expect(await books(account.id)).toMatchObject({ balance: 9_999, ledger: 9_999 });
  });

  it('alone is over at once, costs nothing, and keeps no content', async () => {
    const account = await newMailAccount({ balance: 0 });
    await add(account, 'jan@klient.example');
    const attachments = [{ filename: 'a.pdf', content: 'YQ==' }];
    const sent = await takenFrom(account, { attachments, idx: 'raz', list_unsubscribe: true });
    expect(sent).toMatchObject({ status: 'suppressed', cost: 0 });
    const shown = await account.v1.get(`/v1/email/${sent.id}`);
    expect(shown.body.data).toMatchObject({
      ...{ status: 'suppressed', cost: 0, sent_at: null },
      events: [{ kind: 'suppressed', address: 'jan@klient.example' }],
    });
    const [kept] = await database()<
      { html: string | null; text: string | null; files: number; links: number }[]
    >`
      select c.html, c.text, (select count(*)::int from email_attachments where email_id = ${sent.id}) as files,
             (select count(*)::int from unsubscribe_links where email_id = ${sent.id}) as links
        from email_contents c where c.email_id = ${sent.id}`;
    expect(kept).toEqual({ html: null, text: null, files: 0, links: 0 });
    const again = await postEmail(account.v1, { ...LEAST, attachments, idx: 'raz', list_unsubscribe: true });
    expect(again.body.data).toEqual(sent);
    expect(await books(account.id)).toMatchObject({ balance: 0, ledger: 0 });
  });

  it('count by their addresses against the quota of what costs nothing, for a day', async () => {
    const account = await newMailAccount();
    await database()`update accounts set quotas = '{"unpaid_messages": 5}' where id = ${account.id}`;
    const listed = (count: number) =>
      Array.from({ length: count }, (_, index) => `nikt${index}@klient.example`);
    await add(account, ...listed(6));
    await refusedTo(account, { ...LEAST, to: listed(6) }, 'to');
    await takenFrom(account, { to: listed(2), bcc: ['nikt2@klient.example'] });
    await refusedTo(account, { ...LEAST, to: listed(3) }, 'to');
    const { id } = await takenFrom(account, { to: listed(2) });
    await refusedTo(account, { ...LEAST, to: listed(1) }, 'to');
    const yesterday = idFloor('em', Date.now() - 25 * 3_600_000) + newId('em').slice(-16);
    await database().begin(async (tx) => {
      for (const table of ['email_events', 'email_recipients', 'email_contents'])
        await tx`delete from ${tx(table)} where email_id = ${id}`;
      await tx`update emails set id = ${yesterday} where id = ${id}`;
    });
    await takenFrom(account, { to: listed(1) });
  });
});
