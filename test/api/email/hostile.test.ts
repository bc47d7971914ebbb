import { beforeAll, describe, expect, it } from 'vitest';
import { decided } from '../../support/decided.ts';
import {
  giveDomain,
  LEAST,
  type MailAccount,
  newMailAccount,
  refusedTo,
  rowsOf,
  takenFrom,
  takenMail,
  untilEmail,
} from '../../support/email.ts';
import { addressRefused, endOfLineRefused, headerRefused, INJECTED, wrongTypesRefused } from './refusals.ts';

let account: MailAccount;
beforeAll(async () => {
  account = await newMailAccount();
});

// More of them, as of what follows, are in hostile.deep.test.ts.
const BREAKS = ['\r\n', '\n', '\u2028', '\u0000'];

describe('no line break gets into a header', () => {
  it.each(BREAKS)('%j', async (ends) => {
    await endOfLineRefused(account, ends);
  });

  it('in bodies they are content', async () => {
    const sender = await newMailAccount();
    const { id } = await takenFrom(sender, { text: `a\r\n.\r\n${INJECTED}\n`, html: '<p>\r\n\r\n.</p>' });
    await untilEmail(sender, id, ({ status }) => status !== 'queued');
    expect(await takenMail(id)).toMatchObject({ text: `a\r\n.\r\n${INJECTED}\n`, headers: [], bcc: [] });
  });
});

describe('what is wrong with `to` is said, whichever of its forms was meant', () => {
  it.each([
    ['jan@@klient.example', /^Pole „to” .*adres/],
    [['jan@klient.example', 'jan@@klient.example'], /^Pole „to\.1” .*adres/],
    [Array.from({ length: 51 }, (_, i) => `jan${i}@klient.example`), /najwyżej 50/],
    [[], /co najmniej 1/],
    [['jan@klient.example', 7], /^Pole „to\.1” musi być tekstem/],
    [7, /tekstem albo tablicą/],
  ])('%j', async (to, says) => {
    expect(await refusedTo(account, { ...LEAST, to }, 'to')).toMatch(says);
  });
});

describe('an address is an address and nothing else', () => {
  const NONE = [
    ...['', 'jan@@klient.example', 'Jan <jan@klient.example>', 'jan@klient.example, ola@klient.example'],
    ...['jan kowalski@klient.example', 'jan@localhost', 'jan@127.0.0.1', 'ja\u200bn@klient.example'],
    ...['łukasz@klient.example', 'jan@xn--a.example'],
  ];
  it.each(NONE)('%j', async (address) => {
    await addressRefused(account, address);
  });

  it.each([
    ['jan@żółw.pl', 'jan@xn--w-uga1v8h.pl'],
    ['Jan.Kowalski+sklep@KLIENT.Example', 'Jan.Kowalski+sklep@klient.example'],
    ['jan@xn--w-uga1v8h.pl', 'jan@xn--w-uga1v8h.pl'],
    ['jan@żółw\u3002pl', 'jan@xn--w-uga1v8h.pl'],
    ["o'brien=x!#$%&*/?^_`{|}~-@klient.example", "o'brien=x!#$%&*/?^_`{|}~-@klient.example"],
  ])('%j is sent to as %j', async (address, as) => {
    const sender = await newMailAccount();
    expect((await takenFrom(sender, { to: address })).to).toBe(as);
  });

  it('one that only looks like a verified domain is not that domain', async () => {
    const sender = await newMailAccount();
    const name = sender.domain;
    // Cyrillic а, a dotless ı in other places, and one letter more.
    const alike = [
      name.replace('example', 'ex\u0430mple'),
      name.replace('d', '\u0501'),
      `x${name}`,
      `${name}.pl`,
    ];
    for (const domain of alike) {
      expect(domain).not.toBe(name);
      await refusedTo(sender, { ...LEAST, from: `a@${domain}` }, 'from', 422);
    }
    // What IDNA maps onto it is it.
    const mapped = `a@${name.replace('example', '\uff45xample').toUpperCase()}`;
    expect((await takenFrom(sender, { from: mapped })).status).toBe('queued');
  });

  it('a domain of letters beyond ASCII is sent from under its ASCII name', async () => {
    const sender = await newMailAccount();
    const label = `z${sender.domain.split('.')[0]!}`;
    await giveDomain(sender.id, { name: new URL(`http://ż${label}.pl`).hostname, isDefault: false });
    const { id } = await takenFrom(sender, { from: `a@Ż${label}.pl` });
    await untilEmail(sender, id, ({ status }) => status !== 'queued');
    const mail = (await takenMail(id)) as { from: { address: string } };
    expect(mail.from.address).toMatch(/^a@xn--z[a-z0-9-]+\.pl$/);
  });

  it('stands there once, whatever its case and list', async () => {
    const [one, same] = ['jan@klient.example', 'JAN@Klient.Example'];
    await refusedTo(account, { ...LEAST, to: [one, same] }, 'to');
    await refusedTo(account, { ...LEAST, to: one, cc: [same] }, 'cc');
    await refusedTo(account, { ...LEAST, to: one, bcc: [same] }, 'bcc');
    await refusedTo(account, { ...LEAST, cc: [one], bcc: ['ola@klient.example', one], to: 'a@b.pl' }, 'bcc');
  });
});

describe('a name beside an address is a name', () => {
  const NONE = [
    'Jan <jan@klient.example>',
    'Bank" <a',
    ' ',
    '\u202eknaB',
    'biuro﹫bank.pl',
    '=?utf-8?q?Bank?=',
    '\u3164',
  ];
  it.each(NONE)('%j is none', async (name) => {
    await refusedTo(account, { ...LEAST, from_name: name }, 'from_name');
  });

  it.each(['Sklep „Żółw”', "O'Brien, Sp. z o.o. (sklep)", 'Sklep ❤️ 商店'])(
    '%s reaches the provider as it is',
    async (name) => {
      const sender = await newMailAccount();
      const { id } = await takenFrom(sender, { from_name: name });
      await untilEmail(sender, id, ({ status }) => status !== 'queued');
      expect(await takenMail(id)).toMatchObject({ from: { name } });
    },
  );
});

describe('headers', () => {
  const FORBIDDEN = [
    'From',
    'BCC',
    'Message-ID',
    'List-Unsubscribe',
    'X-Anything',
    '',
    'List-Id:',
    '__proto__',
  ];
  it.each(FORBIDDEN)('%j is not the caller’s', async (name) => {
    await headerRefused(account, name);
  });

  it.each(['', ' a', 'ż', '\u007f'])('%j is no value', async (value) => {
    await refusedTo(account, { ...LEAST, headers: { 'List-Id': value } }, 'headers');
  });

  it.each([7, ['a']])('%j is no value either', async (value) => {
    await refusedTo(account, { ...LEAST, headers: { 'List-Id': value } }, 'headers');
  });

  it('that are null are not given', async () => {
    const sender = await newMailAccount();
    const { id } = await takenFrom(sender, {
      headers: { 'List-Id': null, 'X-Campaign-ID': 'wiosna', References: null },
    });
    await untilEmail(sender, id, ({ status }) => status !== 'queued');
    expect(await takenMail(id)).toMatchObject({ headers: [['X-Campaign-ID', 'wiosna']] });
  });

  it('stand there once, whatever their case', async () => {
    await refusedTo(account, { ...LEAST, headers: { 'List-Id': 'a', 'LIST-ID': 'b' } }, 'headers');
  });
});

it('unsubscribing of two addresses is refused as that, whatever the account can pay', async () => {
  const poor = await newMailAccount({ balance: 0 });
  const two = { ...LEAST, list_unsubscribe: true, to: ['a@klient.example', 'b@klient.example'] };
  await refusedTo(poor, two, 'list_unsubscribe');
  await refusedTo(poor, { ...LEAST, list_unsubscribe: true, bcc: ['b@klient.example'] }, 'list_unsubscribe');
  const unpaid = { ...LEAST, list_unsubscribe: true };
  expect((await decided(() => poor.v1.post('/v1/email', unpaid))).status).toBe(402);
});

describe('a body that is none', () => {
  it.each([
    [{ subject: 'x', text: 'x' }, 'to'],
    [{ to: 'a@b.pl', text: 'x' }, 'subject'],
    [{ to: 'a@b.pl', subject: 'x' }, 'html'],
    [{ to: 'a@b.pl', subject: 'x', text: '', html: '' }, 'html'],
    [{ to: 'a@b.pl', subject: 'x', text: null, html: null }, 'html'],
    [{ ...LEAST, to: null }, 'to'],
    [{ ...LEAST, subject: null }, 'subject'],
    [{ ...LEAST, subject: '' }, 'subject'],
    [{ ...LEAST, idx: '' }, 'idx'],
    [{ ...LEAST, send_at: '2030-01-01T00:00:00Z' }, 'send_at'],
    [{ ...LEAST, tags: [] }, 'tags'],
    [{ ...LEAST, html: 'a\u0000b' }, 'html'],
    [{ ...LEAST, text: 'a\ud800' }, 'text'],
    [{ ...LEAST, subject: '\udc00' }, 'subject'],
    [{ ...LEAST, idx: 'a\u0000' }, 'idx'],
    [{ ...LEAST, list_unsubscribe: true, to: ['a@b.pl', 'b@b.pl'] }, 'list_unsubscribe'],
    [{ ...LEAST, list_unsubscribe: true, cc: ['b@b.pl'] }, 'list_unsubscribe'],
    [{ ...LEAST, list_unsubscribe: true, bcc: ['b@b.pl'] }, 'list_unsubscribe'],
  ])('%j: names the field', async (email, field) => {
    await refusedTo(account, email, field);
  });

  const FIELDS = ['to', 'subject', 'headers', 'attachments', 'list_unsubscribe'];
  it.each(FIELDS)('%s of a wrong type, at any depth', async (field) => {
    await wrongTypesRefused(account, field);
  });

  it.each([
    ['[]', null],
    ['null', null],
    ['"a@b.pl"', null],
    ['{"to":"a@b.pl","to":"b@b.pl","subject":"x","text":"x"}', 'to'],
    ['{"to":"a@b.pl","subject":"x","text":"x","headers":{"List-Id":"a","List-Id":"b"}}', 'headers'],
    [
      '{"to":"a@b.pl","subject":"x","text":"x","attachments":[{"filename":"a.pdf","content":"YQ==","content":"YQ=="}]}',
      'attachments',
    ],
    [
      '{"to":"a@b.pl","subject":"x","text":"x","attachments":[{"filename":"a.pdf","content":"YQ==","con\\u0074ent":"YQ=="}]}',
      'attachments',
    ],
    ['{"to":"a@b.pl","subject":"x","text":"x","attachments":[[[[[[[[[]]]]]]]]]}', 'attachments'],
    [
      '{"to":"a@b.pl","subject":"x","text":"x","attachments":[{"content":{"a":{"b":{"c":{"d":{"e":{}}}}}}}]}',
      'attachments',
    ],
    ['{"to":"a@b.pl","subject":"x","text":"x","__proto__":{"from":"a@b.pl"}}', '__proto__'],
    ['{"to":"a@b.pl","subject":"x","text":"x","attachments":[{"filename":"a.pdf","content":"YQ=="}', null],
    ['{"to":"a@b.pl","subject":"x","text":"x","attachments":[{"filename":"a.pdf","content":"YQ==}]}', null],
    ['{"attachments":[{"content":"YQ=="}]}{"attachments":[{"content":"YQ=="}]}', null],
  ])('%s', async (body, field) => {
    await refusedTo(account, body, field);
  });
});

it('an e-mail with every optional field null is one without them', async () => {
  const sender = await newMailAccount();
  const nulls = Object.fromEntries(
    [
      'cc',
      'bcc',
      'html',
      'from',
      'from_name',
      'reply_to',
      'idx',
      'headers',
      'attachments',
      'list_unsubscribe',
    ].map((field) => [field, null]),
  );
  const { id } = await takenFrom(sender, nulls);
  await untilEmail(sender, id, ({ status }) => status !== 'queued');
  expect(await takenMail(id)).toMatchObject({ cc: [], bcc: [], html: null, replyTo: null, headers: [] });
  expect(await rowsOf(sender.id)).toMatchObject({ emails: 1, keys: 0, links: 0 });
});
