import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JSMPP_CREDENTIALS, type JsmppServer, startJsmpp } from '../smsc/jsmpp.ts';
import { SAMPLES } from '../smsc/samples.ts';
import { shown } from '../smsc/text.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, type ProductAccount, senderOf, startProduct, untilBound } from '../support/product.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';

const SECRET = `whsec_${randomBytes(16).toString('hex')}`;

describe('the whole service, by a route to jSMPP’s SMPPServerSimulator', () => {
  let product: Product;
  let server: JsmppServer;
  let receiver: WebhookReceiver;
  let account: ProductAccount;

  beforeAll(async () => {
    [product, server, receiver] = await Promise.all([
      startProduct(1),
      startJsmpp('SMPPServerSimulator'),
      startReceiver(),
    ]);
    receiver.useSecret(SECRET);
    account = await product.account({ url: receiver.url, secret: SECRET });
  }, 120_000);
  afterAll(async () => {
    await receiver.close();
    await product.stop();
    await server.stop();
  }, 180_000);

  const submitsTo = (to: string, count: number) =>
    eventually(
      () => Promise.resolve(server.submits().filter(({ destination }) => `+${destination}` === to)),
      (submits) => submits.length >= count,
    );
  const send = senderOf(() => account, 400_000);

  it('takes the route from the operator’s command line, password by standard input, and binds', async () => {
    const answer = await product.admin(
      [
        ...['routes', 'add', '--name', 'jsmpp', '--kind', 'smpp', '--host', '127.0.0.1'],
        ...['--port', String(server.port), '--settings', '{"ids":"hex-answer"}', '--prefix', '48'],
        ...['--system-id', JSMPP_CREDENTIALS.systemId, '--credentials', '-'],
      ],
      JSMPP_CREDENTIALS.password,
    );
    expect(answer).toMatchObject({ name: 'jsmpp' });
    expect(JSON.stringify(answer)).not.toContain(JSMPP_CREDENTIALS.password);
    await untilBound(product.sql, 'jsmpp', 1);
    expect(await product.admin(['routes', 'test', 'jsmpp'])).toMatchObject({ works: true });
  });

  it.each(SAMPLES)(
    '$name: arrives as it was sent, and its delivery is told',
    async ({ text, parts, dataCoding }) => {
      const sent = await send({ text });
      expect(sent).toMatchObject({ text, parts });
      const submits = await submitsTo(sent.to, parts);
      expect(shown(submits)).toEqual([{ source: sent.from, destination: sent.to.slice(1), text, parts }]);
      for (const submit of submits) {
        expect(submit).toMatchObject({ dataCoding, registeredDelivery: 1, priorityFlag: 0 });
        expect(submit.validityPeriod).toMatch(/^\d{12}000\+$/);
      }
      const calls = await receiver.until(
        (all) => all.filter(({ event }) => event.data.message.id === sent.id).length >= 2,
      );
      const own = calls.filter(({ event }) => event.data.message.id === sent.id);
      expect(own.map(({ event }) => event.type)).toEqual(['message.sent', 'message.delivered']);
      expect(own.every(({ verified }) => verified)).toBe(true);
      expect((await account.api.get(`/v1/messages/${sent.id}`)).body).toMatchObject({
        status: 'delivered',
        text,
      });
    },
  );

  it('priority messages say so', async () => {
    const sent = await send({ text: 'Pilne', priority: true });
    expect(await submitsTo(sent.to, 1)).toMatchObject([{ priorityFlag: 1 }]);
  });

  it('the end of delivery attempts goes along, in UTC', async () => {
    const expiresAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 7_200_000).toISOString();
    const sent = await send({ text: 'Do kiedy', expires_at: expiresAt });
    const [submit] = await submitsTo(sent.to, 1);
    const digits = expiresAt.replace(/[-:TZ.]/g, '').slice(2, 14);
    expect(submit!.validityPeriod).toBe(`${digits}000+`);
  });

  it('an incoming message is stored, for the operator’s eyes: its sender is no phone', async () => {
    const found = await eventually(
      () => product.sql<{ sender: string; receiver: string; receivedText: string }[]>`
        select sender, receiver, received_text from inbound_messages where route = 'jsmpp'`,
      (rows) => rows.length >= 1,
    );
    expect(found[0]).toEqual({ sender: '555', receiver: '12345', receivedText: 'Hello World' });
  });
});
