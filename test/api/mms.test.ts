import { describe, expect, it } from 'vitest';
import { SMIL_MAX } from '../../domain/smil.ts';
import {
  books,
  database,
  newAccount,
  storedMessages,
  type TestAccount,
  untilStatus,
} from '../support/factories.ts';
import { visit } from '../support/links.ts';
import { refusal } from './refusal.ts';

const PATH = '/v1/mms';
const SMIL =
  '<smil><body><par dur="5s"><img src="https://cdn.example.com/a.jpg?x=1&amp;y=2"/></par></body></smil>';
const withText = (text: string) => `<smil><body><text>${text}</text></body></smil>`;
const MMS = { to: '500100200', subject: 'Wiosenna oferta', smil: SMIL };

async function refused(account: TestAccount, body: unknown, status: number, param: string | undefined) {
  const answer = await account.api.post(PATH, body);
  expect(answer).toMatchObject({ status });
  expect(answer.body.error.param).toBe(param);
  expect(await storedMessages(account.id)).toEqual([]);
  return answer.body.error.message;
}

describe('an MMS', () => {
  it('is answered as a Message of its type, charged at its price, and delivered', async () => {
    const account = await newAccount({ balance: 100, mmsPrice: 60 });
    const { status, body } = await account.api.post(PATH, { ...MMS, reference: 'oferta-7' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{ type: 'mms', status: 'queued', to: '+48500100200', from: 'INFO', text: SMIL },
      ...{ subject: 'Wiosenna oferta', parts: 1, cost_grosze: 60, priority: false, reference: 'oferta-7' },
    });
    expect(await books(account.id)).toMatchObject({ balance: 40, ledger: 40 });
    await untilStatus(account, body.id, 'delivered');
    const history = (await account.api.get('/v1/messages')).body.data;
    expect(history).toMatchObject([{ id: body.id, type: 'mms', subject: 'Wiosenna oferta', text: SMIL }]);
    const [handed] =
      await database()`select content from simulator_submits where reference like ${body.id + '%'}`;
    expect(handed).toEqual({ content: SMIL });
    const { body: report } = await account.api.get('/v1/reports?type=mms');
    expect(report).toMatchObject({ totals: { messages: 1, cost_grosze: 60 } });
  });

  it('has no priority: asked for, it changes neither price nor record', async () => {
    const { id, api } = await newAccount({ balance: 100, mmsPrice: 60 });
    expect((await api.post(PATH, { ...MMS, priority: true })).body).toMatchObject({
      priority: false,
      cost_grosze: 60,
    });
    expect((await books(id)).balance).toBe(40);
    expect((await api.post(PATH, { ...MMS, priority: 'yes' })).body.error.param).toBe('priority');
  });

  it('abroad has the price of its own that the account has, and is refused without one', async () => {
    const account = await newAccount({
      balance: 1000,
      countryRates: { '49': { mms: 90, sms: 20 }, '44': { sms: 20 } },
    });
    const message = await refused(account, { ...MMS, to: ['500100200', '+447911123456'] }, 422, 'to');
    expect(message).toContain('pozycja 2 na liście');
    expect((await books(account.id)).balance).toBe(1000);
    const { body } = await account.api.post(PATH, { ...MMS, to: '+4915112345678', priority: true });
    expect(body).toMatchObject({ cost_grosze: 90 });
  });

  it('takes text and subject from a template of its type, and its own subject before that', async () => {
    const { api } = await newAccount();
    const template = await api.post('/v1/templates', {
      ...{ name: 'm', type: 'mms', subject: 'Z szablonu', body: withText('Cześć {{imie}}, kod {{kod}}') },
    });
    const asked = { to: '500100200', template_id: template.body.id, params: { kod: '<b>&"\'</b>' } };
    const first = (await api.post(PATH, asked)).body;
    expect(first).toMatchObject({
      subject: 'Z szablonu',
      text: withText('Cześć , kod &lt;b&gt;&amp;&quot;&apos;&lt;/b&gt;'),
    });
    expect((await api.post(PATH, { ...asked, subject: 'Własny' })).body).toMatchObject({ subject: 'Własny' });
    // And a template of another type is none.
    expect(
      (await api.post('/v1/messages', { to: '500100200', template_id: template.body.id })).body.error,
    ).toMatchObject({ param: 'template_id', message: 'Szablon nie jest typu „sms”.' });
    const sms = (await api.post('/v1/templates', { name: 's', body: 'x' })).body.id;
    expect((await api.post(PATH, { ...asked, template_id: sms })).body.error).toMatchObject({
      param: 'template_id',
      message: 'Szablon nie jest typu „mms”.',
    });
  });

  it('has what contacts and links say as text, never as markup', async () => {
    const { api } = await newAccount();
    await api.post('/v1/contacts', [{ msisdn: '500100200', first_name: '</text><img src="x"/>' }]);
    const smil = withText('{{imie}} {{link:https://example.com/?a=1&amp;b=2}} {{wypisz}}');
    const { status, body } = await api.post(PATH, { ...MMS, smil });
    expect(status).toBe(201);
    expect(body.text).toMatch(
      /^<smil><body><text>&lt;\/text&gt;&lt;img src=&quot;x&quot;\/&gt; s\.example\/l\/\S+ s\.example\/o\/\S+<\/text><\/body><\/smil>$/,
    );
  });

  it('has the address of a link read as XML: one link for SMS and MMS, which leads where was meant', async () => {
    const { api } = await newAccount({ balance: 1000 });
    const url = 'https://example.com/?a=1&b=2';
    await api.accepted({ to: '500100200', text: `{{link:${url}}}` });
    const smil = withText('{{link:https://example.com/?a=1&amp;b=2}}');
    expect((await api.post(PATH, { ...MMS, smil })).status).toBe(201);
    const template = await api.post('/v1/templates', {
      ...{ name: 'm', type: 'mms', subject: 'x' },
      body: withText(
        '{{link:https://example.com/?a=1&#38;b=2}} {{link:https://example.com/?a=1&#x26;b&#61;2}}',
      ),
    });
    expect((await api.post(PATH, { to: '500100200', template_id: template.body.id })).status).toBe(201);
    const { data: links } = (await api.get('/v1/links')).body;
    expect(links).toHaveLength(1);
    expect(links).toMatchObject([{ url }]);
    expect((await visit(links[0]!.token)).headers.get('location')).toBe(url);
    const notOne = withText('{{link:https://example.com/&quot;}}');
    expect((await api.post(PATH, { ...MMS, smil: notOne })).body.error.param).toBe('smil');
    const stored = await api.post('/v1/templates', { name: 'm', type: 'mms', body: notOne });
    expect(stored).toMatchObject(refusal(400, 'body'));
  });

  it('waits for its window, and can be cancelled until then', async () => {
    const { id, api } = await newAccount({ balance: 60, mmsPrice: 60 });
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await api.post(PATH, { ...MMS, send_at: sendAt, send_window: '00:00-24:00' });
    expect(body).toMatchObject({ status: 'scheduled', send_at: sendAt });
    expect((await api.delete(`/v1/messages/${body.id}`)).body).toMatchObject({
      status: 'cancelled',
      type: 'mms',
    });
    expect((await books(id)).balance).toBe(60);
  });

  it('with the same Idempotency-Key is sent once, and at another path is another request', async () => {
    const { id, api } = await newAccount({ balance: 1000, mmsPrice: 60 });
    const key = { 'Idempotency-Key': 'a' };
    const first = await api.post(PATH, MMS, key);
    const again = await api.post(PATH, MMS, key);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await api.post('/v1/voice', { to: '500100200', text: 'Hej' }, key)).status).toBe(409);
    expect(await storedMessages(id)).toHaveLength(1);
  });

  it('to a number on the blacklist needs no price of its country: the others get it', async () => {
    const { id, api } = await newAccount({ balance: 60, mmsPrice: 60 });
    await api.post('/v1/blacklist', { msisdn: '+4915112345678' });
    const { status, body } = await api.post(PATH, { ...MMS, to: ['500100200', '+4915112345678'] });
    expect(status).toBe(201);
    expect(body).toMatchObject({ accepted: 1, total_cost_grosze: 60 });
    expect(body.messages).toMatchObject([
      { status: 'queued' },
      { to: '+4915112345678', status: 'rejected', cost_grosze: 0 },
    ]);
    expect((await books(id)).balance).toBe(0);
  });

  it.each([
    ['+48500100902', 'failed'],
    ['+48500100932', 'undelivered'],
  ])('to %s ends as %s', async (to, status) => {
    const account = await newAccount({ balance: 60, mmsPrice: 60 });
    const { body } = await account.api.post(PATH, { ...MMS, to });
    await untilStatus(account, body.id, status);
    expect((await books(account.id)).balance).toBe(status === 'failed' ? 60 : 0);
  });

  it('counts the values that are filled in towards the length of its SMIL', async () => {
    const { api } = await newAccount();
    const frame = withText('').length;
    await api.post('/v1/contacts', [{ msisdn: '500100200', first_name: '&&&&' }]);
    const filled = await api.post(PATH, {
      ...MMS,
      smil: withText(`{{imie}}${'a'.repeat(SMIL_MAX - frame - 8)}`),
    });
    expect(filled.body.error).toMatchObject({ param: 'smil' });
  });

  it('counts an emoji of its subject and of its SMIL once', async () => {
    const { api } = await newAccount({ balance: 1000 });
    const smil = withText('😀'.repeat(SMIL_MAX - withText('').length));
    const subject = '😀'.repeat(30);
    expect(await api.post(PATH, { ...MMS, subject, smil })).toMatchObject({ status: 201, body: { subject } });
    const over = [
      [{ subject: `${subject}a` }, 'subject'],
      [{ smil: smil.replace('<text>', '<text>a') }, 'smil'],
    ] as const;
    for (const [field, param] of over) {
      const { status, body } = await api.post(PATH, { ...MMS, ...field });
      expect([status, body.error.param]).toEqual([400, param]);
    }
  });

  it.each([
    [{ to: '500100200', subject: 'x' }, 400, 'smil'],
    [{ to: '500100200', smil: SMIL }, 400, 'subject'],
    [{ ...MMS, subject: 'a'.repeat(31) }, 400, 'subject'],
    [{ ...MMS, subject: 'a\nb' }, 400, 'subject'],
    [{ ...MMS, smil: 'Dzień dobry' }, 400, 'smil'],
    [{ ...MMS, smil: SMIL.replace('cdn.example.com', '127.0.0.1') }, 400, 'smil'],
    [{ ...MMS, text: 'Dzień dobry' }, 400, 'text'],
    [{ ...MMS, from: 'OBCY' }, 422, 'from'],
  ])('%j is refused with %i, and nothing is left of it', async (body, status, param) => {
    const message = await refused(await newAccount({ balance: 1000 }), body, status, param);
    expect(message).toMatch(/\.$/);
  });
});
