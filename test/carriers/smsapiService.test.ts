import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callBack, reportFields } from '../smsapi/callbacks.ts';
import {
  errorAnswer,
  json,
  type Mischief,
  type Provider,
  startProvider,
  type TakenSms,
} from '../smsapi/provider.ts';
import { eventually } from '../support/eventually.ts';
import {
  accounts,
  outcomes,
  type Product,
  type ProductAccount,
  senderOf,
  startProduct,
  untilBound,
} from '../support/product.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';

const SECRET = `whsec_${randomBytes(16).toString('hex')}`;
const DELIVERED = 404;
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
  let callbacks: { reports: string; replies: string; lookups: string };

  beforeAll(async () => {
    [product, provider, receiver] = await Promise.all([startProduct(2), startProvider(), startReceiver()]);
    receiver.useSecret(SECRET);
    account = await product.account({ url: receiver.url, secret: SECRET });
  }, 120_000);
  afterAll(async () => {
    await receiver.close();
    await product.stop();
    await provider.close();
  }, 60_000);

  const send = senderOf(() => account, 500_000);
  const untilTaken = async (to: string): Promise<TakenSms> => {
    const taken = await eventually(
      () => Promise.resolve(provider.taken.filter((sms) => `+${sms.to}` === to)),
      (found) => found.length > 0,
    );
    expect(taken).toHaveLength(1);
    return taken[0]!;
  };
  const report = ({ notifyUrl, id, idx, to }: TakenSms, status = DELIVERED) =>
    callBack(notifyUrl!, reportFields([{ id, status, idx, to }]));
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
    const settings = { url: provider.url, callbackUrl: product.service.apiUrl, responseSeconds: 2 };
    const answer = await product.admin(
      [
        ...['routes', 'add', '--name', 'smsapi', '--kind', 'smsapi', '--settings', JSON.stringify(settings)],
        ...['--prefix', '48', '--broken-after', '2', '--credentials', '-'],
      ],
      provider.token,
    );
    expect(JSON.stringify(answer)).not.toContain(provider.token);
    await untilBound(product.sql, 'smsapi', 2);
    expect(await product.admin(['routes', 'test', 'smsapi'])).toMatchObject({ works: true });
    const told = await product.admin(['routes', 'callbacks', 'smsapi']);
    callbacks = {
      reports: String(told['callback_reports']),
      replies: String(told['callback_replies']),
      lookups: String(told['callback_lookups']),
    };
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

  it('a report before the answer loses nothing', async () => {
    provider.next((response, take) => {
      const answer = take();
      const taken = provider.taken.at(-1)!;
      void report(taken).then(() => json(response, 200, answer));
    });
    const sent = await send({ text: 'Szybciej niż odpowiedź' });
    await untilStatus(sent.id, 'delivered');
  });

  it('a lost answer leaves the message unanswered; its report completes it', async () => {
    provider.next((response, take) => {
      take();
      response.destroy();
    });
    const sent = await send({ text: 'Bez odpowiedzi' });
    await untilUnanswered(sent.id);
    await report(await untilTaken(sent.to));
    await untilStatus(sent.id, 'delivered');
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

  it('one that the operator submits again is not sent twice', async () => {
    provider.next((response, take) => {
      take();
      response.destroy();
    });
    const sent = await send({ text: 'Jeszcze raz' });
    await untilUnanswered(sent.id);
    await product.admin(['messages', 'resubmit', '--id', sent.id]);
    await eventually(
      () => product.sql<{ code: string | null }[]>`
        select answer_code as code from message_parts where message_id = ${sent.id} and state = 'unanswered'`,
      (rows) => rows.some(({ code }) => code === '53'),
    );
    await report(await untilTaken(sent.to));
    await untilStatus(sent.id, 'delivered');
  });

  it('a refusal ends it, and pays it back', async () => {
    provider.next(errorAnswer(13));
    const sent = await send({ text: 'Zły numer' });
    await untilStatus(sent.id, 'failed');
    const message = (await outcomes(product.sql, account.id)).find(({ id }) => id === sent.id);
    expect(message).toMatchObject({ reason: 'invalid_destination', charges: 1, refunds: 1 });
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
    const answer = await account.api.get('/v1/numbers/48500499999/lookup');
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'active', network: 'Play', mcc: '260', mnc: '06', ported: true, cached: false },
    });
  });

  it('with all that a provider can do wrong: none lost, none sent twice, the ledger exact', async () => {
    const MESSAGES = 240;
    const busy = await product.account();
    const tries = new Map<string, number>();
    const first = 48_600_100_000;
    const drop = (response: ServerResponse) => void response.destroy();
    // By the last digit of the number: what happens at the first try. Every further try is answered as usual.
    const firstTry: Record<string, Mischief> = {
      '0': errorAnswer(202),
      '1': (response, take) => {
        take();
        drop(response);
      },
      '2': (response, take) => {
        take();
        response.writeHead(502).end();
      },
      '3': (response, take) => {
        take();
        response.end('<html>');
      },
      '4': (response, take) => {
        const answer = take();
        setTimeout(() => json(response, 200, answer), 2_500);
      },
      '5': errorAnswer(13),
      '6': errorAnswer(101),
      '7': drop,
    };
    provider.always((response, take, call) => {
      const { to = '' } = call.form;
      const mischief = firstTry[to.slice(-1)];
      const tried = tries.get(to) ?? 0;
      tries.set(to, tried + 1);
      if (call.path !== '/sms.do' || mischief === undefined || tried > 0) json(response, 200, take());
      else mischief(response, take, call);
    });
    const to = Array.from({ length: MESSAGES }, (_, i) => `+${first + i}`);
    const sent = await busy.api.send({ to, text: 'Zażółć gęślą jaźń' });
    expect(sent.body.accepted).toBe(MESSAGES);

    const reported = new Set<string>();
    const settled = await eventually(
      async () => {
        const open = provider.taken.filter((sms) => Number(sms.to) >= first && !reported.has(sms.id));
        for (const sms of open) {
          reported.add(sms.id);
          await report(sms);
        }
        return await outcomes(product.sql, busy.id);
      },
      (all) =>
        all.every(
          ({ recipient, status, submission }) =>
            ['delivered', 'failed'].includes(status) ||
            (recipient.endsWith('7') && submission === 'unanswered'),
        ),
      90_000,
    );

    const takenOnce = provider.taken.filter((sms) => Number(sms.to) >= first);
    expect(new Set(takenOnce.map((sms) => sms.to)).size).toBe(takenOnce.length);
    for (const { recipient, status, charges, refunds } of settled) {
      const digit = recipient.slice(-1);
      const wanted = digit === '5' ? 'failed' : digit === '7' ? 'queued' : 'delivered';
      expect([recipient, status, charges, refunds]).toEqual([recipient, wanted, 1, digit === '5' ? 1 : 0]);
      // The first try of some broke off before the provider took it: nobody gives it a second one by itself.
      if (digit === '7') expect(tries.get(recipient.slice(1))).toBe(1);
    }
    const { balance, ledger, expected } = await accounts(product.sql, busy.id);
    expect([balance, ledger]).toEqual([expected, expected]);
    provider.always(null);
  }, 120_000);
});
