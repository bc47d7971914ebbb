import { setTimeout } from 'node:timers';
import { beforeEach, describe, expect, it } from 'vitest';
import { testSmsapiRoute } from '../../providers/smsapi/http.ts';
import { smsapiSettings } from '../../providers/smsapi/settings.ts';
import type { Provider } from '../smsapi/provider.ts';
import { eventually } from '../support/eventually.ts';
import { stopClock, type StoppedClock } from '../support/stopClock.ts';
import { openClient, SECRET } from './smsapiClient.ts';

describe('a look-up', () => {
  // It has less than three seconds.
  let clock: StoppedClock;
  beforeEach(() => void (clock = stopClock()));
  const asked = (provider: Provider) =>
    eventually(
      () => Promise.resolve(provider.calls.filter(({ path }) => path === '/hlr.do').length),
      (count) => count === 1,
    );

  it('is answered by a callback', async () => {
    const { provider, client, lookups } = await openClient();
    provider.lookupAnswer = (id, number) => {
      setTimeout(
        () =>
          lookups.set(id, {
            kind: 'found',
            status: 'active',
            network: 'Play',
            mcc: '260',
            mnc: '06',
            ported: true,
          }),
        20,
      );
      return { status: 'OK', number, id, price: 0.04 };
    };
    expect(await client.lookup('+48500100200')).toMatchObject({ kind: 'found', network: 'Play' });
    const call = provider.calls.find(({ path }) => path === '/hlr.do');
    expect(call?.form).toEqual({ number: '48500100200', format: 'json' });
  });

  it('is answered at once where the provider does so', async () => {
    const { provider, client: sync } = await openClient({ lookups: 'sync' });
    provider.lookupAnswer = (id, number) => ({
      count: 1,
      list: [
        { id, number, date: 1, mcc: 260, mnc: 3, info: 'OK', status: 'OK', ported: 0, ported_from: null },
      ],
    });
    expect(await sync.lookup('+48500100200')).toEqual({
      kind: 'found',
      status: 'active',
      network: 'Orange',
      mcc: '260',
      mnc: '03',
      ported: false,
    });
    expect(provider.calls.some(({ path }) => path === '/hlrsync.do')).toBe(true);
  });

  it('of a number that cannot be one finds that', async () => {
    const { provider, client } = await openClient();
    provider.lookupAnswer = (_, number) => ({ number, status: 'ERROR', error: 13 });
    expect(await client.lookup('+48500100200')).toMatchObject({ kind: 'found', status: 'invalid' });
  });

  it.each([
    ['an error', () => ({ error: 103, message: 'no points' })],
    ['nonsense', () => 'yes'],
  ])('fails on %s', async (_, answer) => {
    const { provider, client } = await openClient();
    provider.lookupAnswer = answer;
    expect(await client.lookup('+48500100200')).toEqual({ kind: 'failed' });
  });

  it('whose callback does not come times out', async () => {
    const { provider, client } = await openClient();
    const answer = client.lookup('+48500100200');
    await asked(provider);
    await clock.pass(3_000);
    expect(await answer).toEqual({ kind: 'timed_out' });
  });

  it('whose question is not answered times out', async () => {
    const { provider, client } = await openClient();
    provider.always(() => undefined);
    const answer = client.lookup('+48500100200');
    await asked(provider);
    await clock.pass(3_000);
    expect(await answer).toEqual({ kind: 'timed_out' });
  });
});

describe('testing a route', () => {
  const credentialsOf = (provider: Provider) => ({ token: provider.token, callbackSecret: SECRET });

  it('tells whose account it is, and sends nothing', async () => {
    const { provider } = await openClient();
    const settings = smsapiSettings.parse({ url: provider.url });
    expect(await testSmsapiRoute(settings, credentialsOf(provider))).toEqual({
      ok: true,
      answer: 'account firma, 1000 points',
    });
    expect(provider.calls.map(({ path }) => path)).toEqual(['/profile', '/profile']);
  });

  it('tells what is the matter', async () => {
    const { provider } = await openClient();
    const settings = smsapiSettings.parse({ url: provider.url });
    const wrong = { ...credentialsOf(provider), token: 'wrong-token' };
    expect(await testSmsapiRoute(settings, wrong)).toEqual({ ok: false, problem: 'wrong token (101)' });
  });
});
