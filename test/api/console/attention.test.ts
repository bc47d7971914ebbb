import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { reportFinding } from '../../../db/maintenance/findings.ts';
import { ATTENTION_KINDS } from '../../../operations/support/attention.ts';
import { type ConsoleUnderTest, newStaff, openConsole } from '../../support/console.ts';
import { database, newAccount } from '../../support/factories.ts';

let opened: ConsoleUnderTest;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(() => opened.api.stop());

type Kind = Parameters<typeof reportFinding>[1]['kind'];

async function finding(kind: Kind, accountId: string): Promise<string> {
  const subject = newId('pay');
  await reportFinding(database(), { kind, subject, accountId, details: {} });
  const [row] = await database()<{ id: number }[]>`select id from findings where subject = ${subject}`;
  return String(row!.id);
}

async function unmatched(): Promise<string> {
  const id = newId('in');
  await database()`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state, received_at)
    values (${id}, 'r', ${id}, '+48500100987', 'Poufne', 'unmatched', now() - interval '3 days')`;
  return id;
}

describe('what needs a person', () => {
  it('is the front page, with each kind and the age of the oldest', async () => {
    await unmatched();
    const { browser } = await newStaff(opened, 'support');
    const { status, text } = await browser.get('/console');
    expect(status).toBe(200);
    for (const kind of ATTENTION_KINDS) expect(text).toContain(`href="/console/attention/${kind}"`);
    expect(text).toMatch(/oldest: [0-9]+ days/);
  });

  it('has a page for each kind, and none for others', async () => {
    const { browser } = await newStaff(opened, 'operator');
    for (const kind of ATTENTION_KINDS)
      expect((await browser.get(`/console/attention/${kind}`)).status, kind).toBe(200);
    expect((await browser.get('/console/attention/nothing')).status).toBe(404);
    expect((await browser.get('/console/attention/overdue?account=x')).status).toBe(422);
  });
});

describe('a list of what needs a person', () => {
  it('is filtered, and hands what is ticked, or all of its kind, to a bulk', async () => {
    const [{ id: account }, { id: other }] = [await newAccount(), await newAccount()];
    const [one, two] = [
      await finding('payment_disputed', account),
      await finding('payment_disputed', account),
    ];
    const elsewhere = [await finding('payment_disputed', other), await finding('payment_unowed', account)];
    const { browser } = await newStaff(opened, 'support');
    const { text } = await browser.get(`/console/attention/payment_disputed?account=${account}`);
    for (const id of [one, two]) expect(text).toContain(`name="${id}"`);
    for (const id of elsewhere) expect(text).not.toContain(`name="${id}"`);
    expect(text).toContain(`href="/console/accounts/${account}"`);
    expect(text).toContain('All that match (2)');
    const [, sent = ''] =
      /<form method="post" action="\/console\/bulks\/new">([\s\S]*?)<\/form>/.exec(text) ?? [];
    const hidden = [...sent.matchAll(/type="hidden" name="(\w+)" value="(\w+)"/g)];
    const form = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
    expect(form).toEqual({ account, kind: 'payment_disputed' });
    const all = await browser.post('/console/bulks/new', { ...form, all: 'yes', action: 'dismiss' });
    expect(all.text.replace(/<[^>]+>/g, ' ')).toMatch(/Can be done for\s+2\s+Of\s+2/);
    const ticked = await browser.post('/console/bulks/new', { ...form, [one]: 'on', action: 'dismiss' });
    expect(ticked.text).toContain(`name="id" value="${one}"`);
  });

  it('masks numbers and texts until asked for, and leads to the acts that the role may ask for', async () => {
    const id = await unmatched();
    const [support, finance] = [await newStaff(opened, 'support'), await newStaff(opened, 'finance')];
    const { text } = await support.browser.get('/console/attention/reply');
    expect(text).toContain(`href="/console/commands/inbound.assign?id=${id}"`);
    expect(text).toContain('+48*****987');
    expect(text).not.toMatch(/Poufne|500100987/);
    for (const path of ['attention/reply?text=yes', 'commands/inbound.unmatched?show=yes&text=yes'])
      expect((await support.browser.get(`/console/${path}`)).text).not.toMatch(/Poufne|500100987/);
    const unmasked = (by: typeof support, reason: string) =>
      by.browser.post('/console/commands/inbound.unmatched', { text: 'yes', reason });
    expect((await unmasked(support, ' ')).text).not.toContain('Poufne');
    expect((await unmasked(finance, 'Klient pyta')).status).toBe(403);
    const full = await unmasked(support, 'Klient pyta');
    expect(full.text).toContain('Poufne');
    const [audited] = await database()`
      select details from audit_log where actor = ${support.name} and action = 'inbound unmatched' order by id desc limit 1`;
    expect(audited).toMatchObject({ details: { text: true, reason: 'Klient pyta' } });
    expect((await finance.browser.get('/console/attention/reply')).text).not.toContain('inbound.assign');
  });
});
