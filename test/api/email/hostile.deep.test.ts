import { beforeAll, describe, it, expect } from 'vitest';
import {
  LEAST,
  type MailAccount,
  newMailAccount,
  refusedTo,
  takenFrom,
  takenMail,
  untilEmail,
} from '../../support/email.ts';
import { addressRefused, endOfLineRefused, headerRefused, wrongTypesRefused } from './refusals.ts';

// Long lists; hostile.test.ts has some of each.
let account: MailAccount;
beforeAll(async () => {
  account = await newMailAccount();
});

describe('no line break gets into a header', () => {
  // As they have been smuggled into headers, and the rest that ends a line or a text somewhere.
  const BREAKS = ['\r\n', '\n', '\r', '\u0085', '\u2028', '\u2029', '\u0000', '\u000b', '\u000c'];

  it.each(BREAKS)('%j', async (ends) => {
    await endOfLineRefused(account, ends);
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
    await addressRefused(account, address);
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
    await headerRefused(account, name);
  });

  it.each(['', ' ', ' a', 'a ', 'ż', 'a\u00a0b', '\u007f', '😀'])('%j is no value', async (value) => {
    await refusedTo(account, { ...LEAST, headers: { 'List-Id': value } }, 'headers');
  });

  it.each([true, 7, {}, ['a']])('%j is no value either', async (value) => {
    await refusedTo(account, { ...LEAST, headers: { 'List-Id': value } }, 'headers');
  });
});

describe('a body that is none', () => {
  const FIELDS = [
    ...['to', 'cc', 'bcc', 'subject', 'html', 'text', 'from', 'from_name', 'reply_to', 'idx', 'headers'],
    ...['attachments', 'list_unsubscribe'],
  ];
  it.each(FIELDS)('%s of a wrong type, at any depth', async (field) => {
    await wrongTypesRefused(account, field);
  });
});
