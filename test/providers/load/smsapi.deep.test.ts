import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorAnswer, json, type Mischief, type Provider, startProvider } from '../../smsapi/provider.ts';
import { eventually } from '../../support/eventually.ts';
import { accounts, outcomes, type Product, startProduct } from '../../support/product.ts';
import { addSmsapiRoute, report } from '../smsapiRoute.ts';

describe('the whole service, by a route to SMSAPI.pl', () => {
  let product: Product;
  let provider: Provider;

  beforeAll(async () => {
    [product, provider] = await Promise.all([startProduct(2), startProvider()]);
    await addSmsapiRoute(product, provider);
  }, 120_000);
  afterAll(async () => {
    await product.stop();
    await provider.close();
  }, 180_000);

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
