import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IncomingOptions, incoming } from '../smsc/incoming.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { ALL_OF_GSM7 } from '../smsc/text.ts';
import { COMMAND } from '../smsc/wire.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, type ProductAccount, startProduct } from '../support/product.ts';

const SERVICE_NUMBER = '48500900900';

describe('replies from phones, by an SMSC into the whole service', () => {
  let product: Product;
  let smsc: Smsc;
  let account: ProductAccount;
  let phones = 0;

  beforeAll(async () => {
    [product, smsc] = await Promise.all([startProduct(1), startSmsc()]);
    account = await product.account();
    await product.route('incoming', smsc, account, {
      settings: { sessions: 2, reconnectMinMs: 50, enquireLinkSeconds: 1 },
      sessions: 2,
    });
  }, 120_000);
  afterAll(async () => {
    await product.stop();
    await smsc.stop();
  }, 180_000);

  const newPhone = (): string => `48500${700_000 + (phones += 1)}`;
  const repliesOf = (phone: string) => product.sql<{ text: string; receiver: string }[]>`
    select received_text as text, receiver from inbound_messages where sender = ${`+${phone}`} order by received_at`;
  const stored = (phone: string, count: number) =>
    eventually(
      () => repliesOf(phone),
      (replies) => replies.length >= count,
    );

  const cases: [string, string, IncomingOptions][] = [
    ['GSM-7, every character', ALL_OF_GSM7.basic + ALL_OF_GSM7.extension, {}],
    ['UCS-2', 'Zażółć gęślą jaźń 👍', { encoding: 'ucs2' }],
    ['Latin-1', 'Ça va à Köln?', { encoding: 'latin1' }],
    ['a payload instead of a short message', 'Odpowiedź 😀'.repeat(30), { encoding: 'ucs2', payload: true }],
    ['parts, an extended character across them', `${'a'.repeat(152)}€ i ${'b'.repeat(200)}`, { cut: 153 }],
    [
      'parts, an emoji across them',
      `${'ż'.repeat(66)}😀${'ó'.repeat(90)}`,
      { cut: 134, encoding: 'ucs2', header: 'udh16', reference: 0x1234 },
    ],
    ['parts numbered by TLVs', 'Ala ma kota. '.repeat(40), { cut: 140, header: 'sar', reference: 77 }],
  ];

  it.each(cases)(
    '%s: in any order, over any session, the text is what was written',
    async (_, text, options) => {
      const phone = newPhone();
      const parts = incoming(phone, SERVICE_NUMBER, text, options);
      await Promise.all([...parts].reverse().map((part) => smsc.deliver(part)));
      expect(await stored(phone, 1)).toEqual([{ text, receiver: `+${SERVICE_NUMBER}` }]);
    },
  );

  it('a part handed over twice adds nothing', async () => {
    const phone = newPhone();
    const text = 'Dwa razy to samo. '.repeat(20);
    const [first, ...others] = incoming(phone, SERVICE_NUMBER, text, { cut: 153, reference: 9 });
    for (const part of [first!, first!, ...others, ...others]) await smsc.deliver(part);
    await stored(phone, 1);
    // What comes later shows that nothing more came of it.
    await smsc.deliver(incoming(phone, SERVICE_NUMBER, 'koniec')[0]!);
    expect((await stored(phone, 2)).map((reply) => reply.text)).toEqual([text, 'koniec']);
  });

  it('the same words twice are two replies', async () => {
    const phone = newPhone();
    const [body] = incoming(phone, SERVICE_NUMBER, 'Tak');
    await Promise.all([smsc.deliver(body!), smsc.deliver(body!)]);
    expect(await stored(phone, 2)).toHaveLength(2);
  });

  it('one whose acknowledgement was lost with its connection is stored once', async () => {
    const phone = newPhone();
    const [body] = incoming(phone, SERVICE_NUMBER, 'Potwierdzam');
    const connection = smsc.connections().find(({ open, bind }) => open && bind !== null)!;
    void connection.request(COMMAND.deliverSm, body);
    // From here on the SMSC hears nothing more by this connection.
    connection.freeze();
    await stored(phone, 1);
    const binds = smsc.bindAnswers.length;
    connection.disconnect();
    await eventually(
      () => Promise.resolve(smsc.bindAnswers.length),
      (now) => now > binds,
    );
    await smsc.deliver(body!);
    await smsc.deliver(incoming(phone, SERVICE_NUMBER, 'koniec')[0]!);
    expect((await stored(phone, 2)).map(({ text }) => text)).toEqual(['Potwierdzam', 'koniec']);
  });
});
