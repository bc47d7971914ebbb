import { createHmac } from 'node:crypto';
import { expect, inject, it, onTestFinished } from 'vitest';
import { encrypt } from '../../../db/installation.ts';
import { newEarlierAccount } from '../../support/earlierClient.ts';
import { eventually } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';
import { startHttpReceiver } from '../../support/httpReceiver.ts';

interface Call {
  headers: Record<string, string | string[] | undefined>;
  raw: string;
}

/** A local address that takes everything. */
async function receiver(): Promise<{ url: string; calls: Call[] }> {
  const calls: Call[] = [];
  const server = await startHttpReceiver((response, raw, { headers }) => {
    calls.push({ headers, raw: raw.toString('utf8') });
    response.writeHead(200).end();
  });
  onTestFinished(() => server.close());
  return { url: server.url, calls };
}

it('what is sent by the earlier interface is reported in its form, what is sent by the current one in the other', async () => {
  const account = await newEarlierAccount();
  const [current, earlier] = [await receiver(), await receiver()];
  await account.api.put('/v1/account/webhook', { url: current.url });
  const secret = 'tajne-haslo-do-webhooka';
  const key = Buffer.from(inject('service').secretsKey, 'base64');
  await database()`
    update accounts set legacy_webhook_url = ${earlier.url}, legacy_webhook_secret = ${encrypt(key, account.id, secret)}
     where id = ${account.id}`;

  const sent = await account.v1.post('/v1/sms', { to: '+48500100200', message: 'Hej', idx: 'zam-7' });
  const other = await account.api.send({ to: '+48500100201', text: 'Hej' });
  const { id } = sent.body.data.messages[0]!;
  await eventually(
    () => Promise.resolve([earlier.calls.length, current.calls.length]),
    ([first, second]) => first! >= 2 && second! >= 2,
  );
  const reports = earlier.calls.map(({ raw }) => JSON.parse(raw) as Record<string, unknown>);
  expect(reports).toEqual([
    ...[
      { status: 'sent', done_at: null },
      { status: 'delivered', done_at: expect.stringMatching(/Z$/) as string },
    ].map((report) => ({
      ...{ event: 'delivery_report', message_id: id, to: '+48500100200', idx: 'zam-7' },
      sent_at: expect.stringMatching(/Z$/) as string,
      ...report,
    })),
  ]);
  for (const { headers, raw } of earlier.calls) {
    const [, t, sig] = /^v1,t=(\d+),sig=([0-9a-f]{64})$/.exec(String(headers['x-service-signature'])) ?? [];
    expect(sig).toBe(createHmac('sha256', secret).update(`v1.${t}.${raw}`).digest('hex'));
    expect(headers['user-agent']).toBe('Service-Webhook/1.0');
  }
  expect(
    current.calls.map(
      ({ raw }) => (JSON.parse(raw) as { data: { message: { id: string } } }).data.message.id,
    ),
  ).toEqual([other.body.id, other.body.id]);
});
