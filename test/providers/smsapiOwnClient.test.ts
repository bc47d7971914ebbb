import { SMSAPI } from 'smsapi';
import { describe, expect, it } from 'vitest';
import { openProvider } from './smsapiClient.ts';

const SMIL = '<smil><body><par><img src="https://cdn.example/a.png"/></par></body></smil>';

/**
 * The provider's own client, which nobody here wrote, at the local server that stands for the provider in our tests: what that
 * server takes and answers is what the client sends and reads.
 */
describe('the provider’s own JavaScript client at our local server', () => {
  const open = async () => {
    const provider = await openProvider();
    return { provider, client: new SMSAPI(provider.token, provider.url) };
  };

  it('sends an SMS and a flash SMS', async () => {
    const { provider, client } = await open();
    const answer = await client.sms.sendSms('48500100200', 'Zażółć', { from: 'GONIEC' });
    await client.sms.sendFlashSms('48500100200', 'Hej');
    expect(answer).toMatchObject({
      count: 1,
      list: [{ id: provider.taken[0]!.id, status: 'QUEUE', points: 0.16 }],
    });
    expect(provider.taken.map(({ path, text, from }) => [path, text, from])).toEqual([
      ['/sms.do', 'Zażółć', 'GONIEC'],
      ['/sms.do', 'Hej', null],
    ]);
    expect(provider.taken[1]!.form['flash']).toBe('true');
  });

  it('sends an MMS', async () => {
    const { provider, client } = await open();
    const answer = await client.mms.sendMms('48500100200', 'Oferta', SMIL);
    expect(answer).toMatchObject({
      count: 1,
      list: [{ id: provider.taken[0]!.id, submittedNumber: '48500100200' }],
    });
    expect(provider.taken[0]).toMatchObject({ path: '/mms.do', text: SMIL });
    await expect(client.mms.sendMms('48500100200', 'a'.repeat(31), SMIL)).rejects.toMatchObject({
      data: { error: 26 },
    });
  });

  it('orders a call', async () => {
    const { provider, client } = await open();
    await client.vms.sendVms('48500100200', 'Dzień dobry', 'jan', { try: 2, interval: 600 });
    expect(provider.taken[0]).toMatchObject({
      path: '/vms.do',
      text: 'Dzień dobry',
      form: { tts_lector: 'jan', try: '2', interval: '600' },
    });
    provider.minuteOfDay = () => 23 * 60;
    await expect(client.vms.sendVms('48500100200', 'Dobranoc')).rejects.toMatchObject({
      data: { error: 51 },
    });
  });

  it('looks a number up', async () => {
    const { client } = await open();
    expect(await client.hlr.check('48500100200')).toMatchObject({ status: 'OK', number: '48500100200' });
  });

  it('is refused without the right token', async () => {
    const { provider } = await open();
    const stranger = new SMSAPI('another', provider.url);
    await expect(stranger.sms.sendSms('48500100200', 'Hej')).rejects.toMatchObject({ data: { error: 101 } });
    expect(provider.taken).toEqual([]);
  });
});
