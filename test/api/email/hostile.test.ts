import { beforeAll, describe, expect, it } from 'vitest';
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

let account: MailAccount;
beforeAll(async () => {
  account = await newMailAccount();
});

/** Line breaks as they have been smuggled into headers, and the rest that ends a line or a text somewhere. */
const BREAKS = ['\r\n', '\n', '\r', '\u0085', '\u2028', '\u2029', '\u0000', '\u000b', '\u000c'];
const INJECTED = 'Bcc: ktos@obcy.example';

describe('no line break gets into a header', () => {
  it.each(BREAKS)('%j', async (ends) => {
    const inside = `a${ends}${INJECTED}`;
    const address = `jan@klient.example${ends}${INJECTED}`;
    for (const field of ['to', 'from', 'reply_to'])
      await refusedTo(account, { ...LEAST, [field]: address }, field);
    for (const field of ['to', 'cc', 'bcc']) {
      await refusedTo(account, { ...LEAST, [field]: [address] }, field);
      await refusedTo(account, { ...LEAST, [field]: [`jan${ends}@klient.example`] }, field);
      await refusedTo(account, { ...LEAST, [field]: [`jan@klient.example${ends}`] }, field);
    }
    for (const field of ['subject', 'from_name']) {
      await refusedTo(account, { ...LEAST, [field]: inside }, field);
      await refusedTo(account, { ...LEAST, [field]: `a${ends}` }, field);
    }
    await refusedTo(account, { ...LEAST, headers: { 'List-Id': inside } }, 'headers');
    await refusedTo(account, { ...LEAST, headers: { [`List-Id${ends}`]: 'a' } }, 'headers');
    const file = { filename: 'a.pdf', content: 'YQ==' };
    for (const one of [
      { ...file, filename: `a${ends}b.pdf` },
      { ...file, content_id: `a${ends}b` },
    ])
      await refusedTo(account, { ...LEAST, attachments: [one] }, 'attachments');
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
    ...['', ' ', '@', 'jan', 'jan@', '@klient.example', 'jan@@klient.example', 'a@b@klient.example'],
    ...['Jan <jan@klient.example>', '<jan@klient.example>', '"Jan" <jan@klient.example>'],
    ...['jan@klient.example, ola@klient.example', 'jan@klient.example;ola@klient.example'],
    ...['"jan kowalski"@klient.example', '"jan"@klient.example', 'jan kowalski@klient.example'],
    ...['jan(komentarz)@klient.example', 'jan@(komentarz)klient.example', 'jan@klient.example (Jan)'],
    ...['.jan@klient.example', 'jan.@klient.example', 'ja..n@klient.example'],
    ...['jan@klient.example.', 'jan@.klient.example', 'jan@klient..example', 'jan@-klient.example'],
    ...['jan@klient-.example', 'jan@klient_a.example', 'jan@localhost', 'jan@example'],
    ...['jan@127.0.0.1', 'jan@[127.0.0.1]', 'jan@[IPv6:::1]', 'jan@2130706433', 'jan@0x7f.1', 'jan@1.1'],
    ...['jan%40klient.example', 'jan@klient%2eexample', 'jan@klient.example%0a', 'jan@klient.example:25'],
    ...[
      'jan@klient.example/x',
      'jan@klient.example?bcc=a@b.pl',
      'jan@klient.example#x',
      'mailto:jan@klient.example',
    ],
    ...[
      'jan\uff20klient.example',
      'jan\ufe6bklient.example',
      'ja\u200bn@klient.example',
      'jan@kli\u200bent.example',
    ],
    ...[
      'jan\u202e@klient.example',
      'jan@klient.ex\u202eample',
      '\ufeffjan@klient.example',
      'jan@klient\u00ad.example',
    ],
    ...[' jan@klient.example', 'jan@klient.example ', 'jan@klient.example\t', 'jan\u00a0@klient.example'],
    ...[
      'łukasz@klient.example',
      'jan😀@klient.example',
      'jan@xn--.example',
      'jan@xn--a.example',
      'jan@\\klient.example',
    ],
  ];
  it.each(NONE)('%j', async (address) => {
    await refusedTo(account, { ...LEAST, to: address }, 'to');
    await refusedTo(account, { ...LEAST, cc: ['a@klient.example', address] }, 'cc');
    await refusedTo(account, { ...LEAST, reply_to: address }, 'reply_to');
    await refusedTo(account, { ...LEAST, from: address }, 'from');
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
    ...[
      'Jan <jan@klient.example>',
      'jan@bank.example',
      'Bank" <a',
      '"',
      '<',
      '>',
      '',
      ' ',
      '\t',
      '\u3164\u200b',
    ],
    ...[
      '\u202eknaB',
      'Ban\u2066k',
      'Ba\u200dnk',
      '\ufeffBank',
      'Bank\u00ad',
      'Bank\ud800',
      '=?utf-8?q?Bank_=3Ca=40bank.pl=3E?=',
    ],
    // Wide and small forms, and letters that show as nothing.
    ...['Bank ＜info＠bank.pl＞', 'biuro﹫bank.pl', 'Bank ﹤x﹥', 'Bank＂', '＝？utf-8?q?a?='],
    ...['\u3164', 'Ba\u3164nk', '\u2800\u2800', '\uffa0', '\u115f\u1160', 'Ba\u034fnk', 'Bank\u17b5'],
  ];
  it.each(NONE)('%j is none', async (name) => {
    await refusedTo(account, { ...LEAST, from_name: name }, 'from_name');
  });

  it.each([
    'Sklep „Żółw”',
    'Jan Kowalski, Sp. z o.o.',
    "O'Brien (sklep)",
    '商店',
    '😀',
    'Sklep ❤️',
    'Łódź',
    'Ło\u0301dz\u0301',
    'Ｓｋｌｅｐ',
  ])('%s reaches the provider as it is', async (name) => {
    const sender = await newMailAccount();
    const { id } = await takenFrom(sender, { from_name: name });
    await untilEmail(sender, id, ({ status }) => status !== 'queued');
    expect(await takenMail(id)).toMatchObject({ from: { name } });
  });
});

describe('headers', () => {
  const FORBIDDEN = [
    ...['From', 'to', 'Cc', 'BCC', 'Subject', 'Reply-To', 'Sender', 'Return-Path', 'Date', 'Message-ID'],
    ...[
      'Content-Type',
      'MIME-Version',
      'DKIM-Signature',
      'Received',
      'List-Unsubscribe',
      'List-Unsubscribe-Post',
    ],
    ...['X-Anything', '', ' ', 'List-Id ', 'List-Id:', 'constructor', '__proto__', 'toString', 'Łist-Id'],
  ];
  it.each(FORBIDDEN)('%j is not the caller’s', async (name) => {
    for (const value of ['"a"', 'null'])
      await refusedTo(
        account,
        `{"to":"a@b.pl","subject":"x","text":"x","idx":"x","headers":{${JSON.stringify(name)}:${value}}}`,
        'headers',
      );
  });

  it.each(['', ' ', ' a', 'a ', 'ż', 'a\u00a0b', '\u007f', '😀'])('%j is no value', async (value) => {
    await refusedTo(account, { ...LEAST, headers: { 'List-Id': value } }, 'headers');
  });

  it.each([true, 7, {}, ['a']])('%j is no value either', async (value) => {
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
  expect((await poor.v1.post('/v1/email', { ...LEAST, list_unsubscribe: true })).status).toBe(402);
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

  const FIELDS = [
    ...['to', 'cc', 'bcc', 'subject', 'html', 'text', 'from', 'from_name', 'reply_to', 'idx', 'headers'],
    ...['attachments', 'list_unsubscribe'],
  ];
  it.each(FIELDS)('%s of a wrong type, at any depth', async (field) => {
    const wrong = [
      0,
      true,
      1e300,
      {},
      { a: 1 },
      [[]],
      [null],
      [{}],
      [1],
      [['a@b.pl']],
      { to: 'a@b.pl' },
      'tak',
    ];
    const right: Record<string, unknown[]> = {
      ...{ list_unsubscribe: [true], headers: [{}], attachments: [] },
      ...{ subject: ['tak'], html: ['tak'], text: ['tak'], from_name: ['tak'], idx: ['tak'] },
    };
    for (const value of wrong) {
      if (right[field]?.some((one) => JSON.stringify(one) === JSON.stringify(value))) continue;
      await refusedTo(account, { ...LEAST, [field]: value }, field);
    }
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
