import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callBack } from '../smsapi/callbacks.ts';
import { json, type Provider, startProvider, type TakenSms } from '../smsapi/provider.ts';
import { eventually } from '../support/eventually.ts';
import { outcomes, type Product, type ProductAccount, senderOf, startProduct } from '../support/product.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { addSmsapiRoute, type Callbacks, report } from './smsapiRoute.ts';

const SECRET = `whsec_${randomBytes(16).toString('hex')}`;
const SAMPLES = [
  { name: 'a short text', text: 'Paczka czeka. Kod: 1234 {€}', parts: 1 },
  { name: 'Polish letters', text: 'Zażółć gęślą jaźń 🙂', parts: 1 },
  { name: 'three parts of GSM-7', text: 'Paczka [12] czeka ~ 100€\n'.repeat(15).trim(), parts: 3 },
  { name: 'three parts of UCS-2', text: 'Żółta łódź płynie po jeziorze 🙂. '.repeat(5).trim(), parts: 3 },
];

describe('the whole service, by a route to SMSAPI.pl', () => {
  let product: Product;
  let provider: Provider;
  let receiver: WebhookReceiver;
  let account: ProductAccount;
  let callbacks: Callbacks;

  beforeAll(async () => {
    [product, provider, receiver] = await Promise.all([startProduct(2), startProvider(), startReceiver()]);
    receiver.useSecret(SECRET);
    account = await product.account({ url: receiver.url, secret: SECRET });
  }, 120_000);
  afterAll(async () => {
    await receiver.close();
    await product.stop();
    await provider.close();
  }, 180_000);

  const send = senderOf(() => account, 500_000);
  const untilTaken = async (to: string): Promise<TakenSms> => {
    const taken = await eventually(
      () => Promise.resolve(provider.taken.filter((sms) => `+${sms.to}` === to)),
      (found) => found.length > 0,
    );
    expect(taken).toHaveLength(1);
    return taken[0]!;
  };
  const untilStatus = (id: string, status: string) =>
    eventually(
      async () => (await account.api.get(`/v1/messages/${id}`)).body,
      (message) => message.status === status,
    );
  const untilUnanswered = (id: string) =>
    eventually(
      async () => (await outcomes(product.sql, account.id)).find((message) => message.id === id)!,
      ({ submission }) => submission === 'unanswered',
    );

  it('takes the route from the operator’s command line, token by standard input', async () => {
    const added = await addSmsapiRoute(product, provider);
    expect(JSON.stringify(added.said)).not.toContain(provider.token);
    expect(await product.admin(['routes', 'test', 'smsapi'])).toMatchObject({ works: true });
    callbacks = added.callbacks;
    expect(callbacks.reports).toMatch(/^http:\/\/.*\/callbacks\/smsapi\/[\w-]{32,}\/reports$/);
  });

  it.each(SAMPLES)('$name: arrives as it was sent, and its delivery is told', async ({ text, parts }) => {
    const sent = await send({ text });
    expect(sent.parts).toBe(parts);
    const taken = await untilTaken(sent.to);
    expect(taken.text).toBe(text);
    expect(taken.notifyUrl).toBe(callbacks.reports);
    await untilStatus(sent.id, 'sent');
    expect(await report(taken)).toEqual({ status: 200, text: 'OK' });
    const calls = await receiver.until(
      (all) => all.filter(({ event }) => event.data.message.id === sent.id).length >= 2,
    );
    const own = calls.filter(({ event }) => event.data.message.id === sent.id);
    expect(own.map(({ event }) => event.type)).toEqual(['message.sent', 'message.delivered']);
  });

  it.each([
    [
      'mms',
      { subject: 'Wiosna', smil: '<smil><body><img src="https://cdn.example.com/ż.jpg"/></body></smil>' },
    ],
    ['voice', { text: 'Dzień dobry', voice: 'jan', tries: 2 }],
  ])(
    '%s: is taken, its strange callbacks change nothing, and its delivery is notified',
    async (path, content) => {
      const to = path === 'mms' ? '+48500400100' : '+48500400101';
      const { status, body } = await account.api.post(`/v1/${path}`, { to, ...content });
      expect(status).toBe(201);
      const taken = await untilTaken(to);
      expect(taken.path).toBe(path === 'mms' ? '/mms.do' : '/vms.do');
      await untilStatus(body.id, 'sent');
      const { id, idx } = taken;
      for (const fields of [
        { MsgId: id, status: 'ANSWERED', idx: idx! },
        { MsgId: id, status_name: '' },
        { MsgId: `${id},${id}`, status: '999,abc' },
      ])
        expect((await callBack(taken.notifyUrl!, fields)).status).toBe(200);
      for (const fields of [{ MsgId: id }, { status: '404' }, {}])
        expect((await callBack(taken.notifyUrl!, fields)).text).not.toBe('');
      expect((await account.api.get(`/v1/messages/${body.id}`)).body.status).toBe('sent');
      expect(await report(taken)).toEqual({ status: 200, text: 'OK' });
      await untilStatus(body.id, 'delivered');
      const calls = await receiver.until(
        (all) => all.filter(({ event }) => event.data.message.id === body.id).length >= 2,
      );
      const own = calls.filter(({ event }) => event.data.message.id === body.id).map(({ event }) => event);
      expect(own.map(({ type }) => type)).toEqual(['message.sent', 'message.delivered']);
      expect(own[0]!.data.message).toMatchObject({
        type: path === 'mms' ? 'mms' : 'vms',
        subject: path === 'mms' ? 'Wiosna' : null,
      });
    },
  );

  it('an MMS and a call that the provider refuses fail alone, and are refunded', async () => {
    const before = (await account.api.get('/v1/account')).body as unknown as { balance_grosze: number };
    provider.channels = [];
    const smil = '<smil><body><text>x</text></body></smil>';
    const mms = await account.api.post('/v1/mms', { to: '+48500400110', subject: 'x', smil });
    const call = await account.api.post('/v1/voice', { to: '+48500400111', text: 'x' });
    for (const { body } of [mms, call]) await untilStatus(body.id, 'failed');
    provider.channels = ['mms', 'vms'];
    const after = (await account.api.get('/v1/account')).body as unknown as { balance_grosze: number };
    expect(after.balance_grosze).toBe(before.balance_grosze);
    const sms = await send({ text: 'SMS dalej idą' });
    await untilTaken(sms.to);
  });

  it('a late answer completes it, too', async () => {
    let answer = () => {};
    provider.next((response, take) => {
      const late = take();
      answer = () => json(response, 200, late);
    });
    const sent = await send({ text: 'Późna odpowiedź' });
    await untilUnanswered(sent.id);
    answer();
    await untilStatus(sent.id, 'sent');
    await report(await untilTaken(sent.to));
    await untilStatus(sent.id, 'delivered');
  });

  it('without points nothing is lost: it goes when there are some', async () => {
    provider.points = 0;
    const sent = await Promise.all([1, 2, 3, 4, 5].map(() => send({ text: 'Bez punktów' })));
    await eventually(
      () => product.sql<{ error: string | null }[]>`
        select last_error as error from route_workers where route = 'smsapi' and sessions = 0`,
      (rows) => rows.some(({ error }) => error === 'no points (103)'),
    );
    provider.points = 1_000_000;
    for (const { to } of sent) await untilTaken(to);
  });

  it('answers a look-up by its callback', async () => {
    provider.lookupAnswer = (id, number) => {
      void callBack(callbacks.lookups, {
        ...{ id, number, mcc: '260', mnc: '6', info: 'OK', status: 'OK', ported: '1', ported_from: '3' },
      });
      return { status: 'OK', number, id, price: 0.04 };
    };
    // It has three seconds for that, by way of three processes, any of which may stand still: then another number is asked.
    let number = 48_500_499_900;
    const answer = await eventually(
      () => account.api.get(`/v1/numbers/${(number += 1)}/lookup`),
      ({ status }) => status === 200,
    );
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'active', network: 'Play', mcc: '260', mnc: '06', ported: true, cached: false },
    });
  });
});
