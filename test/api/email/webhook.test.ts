import { createHmac } from 'node:crypto';
import { expect, inject, it, onTestFinished } from 'vitest';
import { encrypt } from '../../../db/installation.ts';
import { newMailAccount, takenFrom } from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';
import { startHttpReceiver } from '../../support/httpReceiver.ts';

it('what the provider reports comes as an email_event, signed, in order, with exactly the fields of the document', async () => {
  const account = await newMailAccount();
  const calls: { signature: string; raw: string }[] = [];
  const server = await startHttpReceiver((response, raw, { headers }) => {
    calls.push({ signature: String(headers['x-service-signature']), raw: raw.toString('utf8') });
    response.writeHead(200).end();
  });
  onTestFinished(() => server.close());
  const secret = 'tajne-haslo-do-webhooka';
  const key = Buffer.from(inject('service').secretsKey, 'base64');
  await database()`
    update accounts set legacy_webhook_url = ${server.url}, legacy_webhook_secret = ${encrypt(key, account.id, secret)}
     where id = ${account.id}`;
  const { id } = await takenFrom(account, { to: 'clicked@klient.example', subject: 'Zażółć', idx: 'zam-7' });
  await eventually(
    () => Promise.resolve(calls.length),
    (count) => count >= 4,
  );
  expect(calls.map(({ raw }) => JSON.parse(raw) as unknown)).toEqual(
    ['sent', 'delivered', 'opened', 'clicked'].map((kind) => ({
      ...{ event: 'email_event', kind, email_id: id, to: 'clicked@klient.example' },
      ...{ from: `noreply@${account.domain}`, subject: 'Zażółć', idx: 'zam-7' },
      received_at: expect.stringMatching(/Z$/) as string,
      provider_payload: expect.any(Object) as object,
    })),
  );
  for (const { signature, raw } of calls) {
    const [, t, sig] = /^v1,t=(\d+),sig=([0-9a-f]{64})$/.exec(signature) ?? [];
    expect(sig).toBe(createHmac('sha256', secret).update(`v1.${t}.${raw}`).digest('hex'));
  }
});
