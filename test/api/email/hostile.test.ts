import { beforeAll, describe, expect, it } from 'vitest';
import { decided } from '../../support/decided.ts';
import {
  LEAST,
  type MailAccount,
  newMailAccount,
  refusedTo,
  takenFrom,
  takenMail,
  untilEmail,
} from '../../support/email.ts';

/** The header that a hostile caller tries to smuggle into an e-mail. */
const INJECTED = 'Bcc: ktos@obcy.example';

let account: MailAccount;
beforeAll(async () => {
  account = await newMailAccount();
});

const refused = (wish: object, field: string) => refusedTo(account, { ...LEAST, ...wish }, field);

/** Sends an e-mail from an account of its own. @returns what the provider took */
async function delivered(wish: object): Promise<Record<string, unknown> | undefined> {
  const by = await newMailAccount();
  const { id } = await takenFrom(by, wish);
  await untilEmail(by, id, ({ status }) => status !== 'queued');
  return await takenMail(id);
}

describe('no line break gets into a header', () => {
  it.each(['\r\n', '\n', '\u2028', '\u0000'])('%j', async (ends) => {
    const inside = `a${ends}${INJECTED}`;
    const address = `jan@klient.example${ends}${INJECTED}`;
    for (const field of ['to', 'from', 'reply_to']) await refused({ [field]: address }, field);
    for (const field of ['to', 'cc', 'bcc']) {
      await refused({ [field]: [address] }, field);
      await refused({ [field]: [`jan${ends}@klient.example`] }, field);
      await refused({ [field]: [`jan@klient.example${ends}`] }, field);
    }
    for (const field of ['subject', 'from_name']) {
      await refused({ [field]: inside }, field);
      await refused({ [field]: `a${ends}` }, field);
    }
    await refused({ headers: { 'List-Id': inside } }, 'headers');
    await refused({ headers: { [`List-Id${ends}`]: 'a' } }, 'headers');
    const file = { filename: 'a.pdf', content: 'YQ==' };
    await refused({ attachments: [{ ...file, filename: `a${ends}b.pdf` }] }, 'attachments');
    await refused({ attachments: [{ ...file, content_id: `a${ends}b` }] }, 'attachments');
  });

  it('in bodies they are content', async () => {
    const text = `a\r\n.\r\n${INJECTED}\n`;
    const taken = { text: text.replaceAll('\r', ''), headers: [], bcc: [] };
    expect(await delivered({ text, html: '<p>\r\n\r\n.</p>' })).toMatchObject(taken);
  });
});

describe('the refusal of `to` fits the form that was meant', () => {
  it.each([
    ['jan@@klient.example', /^Pole „to” .*adres/],
    [['jan@klient.example', 'jan@@klient.example'], /^Pole „to\.1” .*adres/],
    [['jan@klient.example', 7], /^Pole „to\.1” musi być tekstem/],
    [7, /tekstem albo tablicą/],
  ])('%j', async (to, says) => {
    expect(await refused({ to }, 'to')).toMatch(says);
  });
});

describe('an address is an address and nothing else', () => {
  it.each(['', 'Jan <jan@klient.example>', 'jan@klient.example, ola@klient.example', 'jan@xn--a.example'])(
    '%j',
    async (address) => {
      for (const field of ['to', 'reply_to', 'from']) await refused({ [field]: address }, field);
      await refused({ cc: ['a@klient.example', address] }, 'cc');
    },
  );

  it('one that only looks like a verified domain is not that domain', async () => {
    const sender = await newMailAccount();
    const name = sender.domain;
    const alike = [
      // A Cyrillic а and a Komi d.
      name.replace('example', 'ex\u0430mple'),
      name.replace('d', '\u0501'),
      `x${name}`,
      `${name}.pl`,
    ];
    for (const domain of alike) await refusedTo(sender, { ...LEAST, from: `a@${domain}` }, 'from', 422);
    // IDNA maps these letters onto the domain itself.
    const mapped = `a@${name.replace('example', '\uff45xample').toUpperCase()}`;
    expect((await takenFrom(sender, { from: mapped })).status).toBe('queued');
  });

  it('is accepted once, whatever its case and list', async () => {
    const [one, same] = ['jan@klient.example', 'JAN@Klient.Example'];
    await refused({ to: [one, same] }, 'to');
    await refused({ to: one, cc: [same] }, 'cc');
    await refused({ cc: [one], bcc: ['ola@klient.example', one], to: 'a@b.pl' }, 'bcc');
  });
});

describe('a name beside an address is a name', () => {
  it.each(['Jan <jan@klient.example>', ' ', 'biuro﹫bank.pl', '=?utf-8?q?Bank?='])(
    '%j is none',
    async (name) => {
      await refused({ from_name: name }, 'from_name');
    },
  );

  it.each([
    ["O'Brien, Sp. z o.o. (sklep)", "O'Brien, Sp. z o.o. (sklep)"],
    ['Sklep ❤️ 商店', 'Sklep ❤️ 商店'],
    ['\u202eknaB', 'knaB'],
    ['Ba\u034fnk', 'Bank'],
  ])('%j reaches the provider as it looks', async (given, name) => {
    expect(await delivered({ from_name: given })).toMatchObject({ from: { name } });
  });
});

describe('headers', () => {
  it.each(['From', 'List-Unsubscribe', '', 'List-Id:', '__proto__'])(
    '%j is not the caller’s',
    async (name) => {
      for (const value of ['"a"', 'null']) {
        const headers = `{${JSON.stringify(name)}:${value}}`;
        const body = `{"to":"a@b.pl","subject":"x","text":"x","idx":"x","headers":${headers}}`;
        await refusedTo(account, body, 'headers');
      }
    },
  );

  it.each(['', ' a', 'ż', 7, ['a']])('%j is no value', async (value) => {
    await refused({ headers: { 'List-Id': value } }, 'headers');
  });

  it('are given once, whatever their case', async () => {
    await refused({ headers: { 'List-Id': 'a', 'LIST-ID': 'b' } }, 'headers');
  });
});

it('unsubscribing needs exactly one address, whatever the account can pay', async () => {
  const poor = await newMailAccount({ balance: 0 });
  const offer = { ...LEAST, list_unsubscribe: true };
  await refusedTo(poor, { ...offer, to: ['a@klient.example', 'b@klient.example'] }, 'list_unsubscribe');
  for (const field of ['cc', 'bcc'])
    await refusedTo(poor, { ...offer, [field]: ['b@klient.example'] }, 'list_unsubscribe');
  expect((await decided(() => poor.v1.post('/v1/email', offer))).status).toBe(402);
});

describe('a malformed body', () => {
  it.each([
    [{ subject: 'x', text: 'x' }, 'to'],
    [{ to: 'a@b.pl', text: 'x' }, 'subject'],
    [{ to: 'a@b.pl', subject: 'x' }, 'html'],
    [{ to: 'a@b.pl', subject: 'x', text: '', html: '' }, 'html'],
    [{ to: 'a@b.pl', subject: 'x', text: null, html: null }, 'html'],
    [{ ...LEAST, subject: '' }, 'subject'],
    [{ ...LEAST, idx: '' }, 'idx'],
    [{ ...LEAST, send_at: '2030-01-01T00:00:00Z' }, 'send_at'],
    [{ ...LEAST, html: 'a\u0000b' }, 'html'],
    [{ ...LEAST, text: 'a\ud800' }, 'text'],
    [{ ...LEAST, idx: 'a\u0000' }, 'idx'],
  ])('%j: names the field', async (email, field) => {
    await refusedTo(account, email, field);
  });

  const FIELDS = [
    ...['to', 'cc', 'bcc', 'subject', 'html', 'text', 'from', 'from_name', 'reply_to', 'idx', 'headers'],
    ...['attachments', 'list_unsubscribe'],
  ];
  it.each(FIELDS)('%s of a wrong type, at any depth', async (field) => {
    for (const value of [0, { a: 1 }, [[]], [null], [{}], [['a@b.pl']]])
      await refused({ [field]: value }, field);
    if (field !== 'list_unsubscribe') await refused({ [field]: true }, field);
  });

  const withFile = (file: string) => `{"to":"a@b.pl","subject":"x","text":"x","attachments":[${file}]}`;
  it.each([
    ['[]', null],
    ['{"to":"a@b.pl","to":"b@b.pl","subject":"x","text":"x"}', 'to'],
    [withFile('{"filename":"a.pdf","content":"YQ==","con\\u0074ent":"YQ=="}'), 'attachments'],
    [withFile('[[[[[[[[]]]]]]]]'), 'attachments'],
    [withFile('{"filename":"a.pdf","content":"YQ==}'), null],
    [`${withFile('')}${withFile('')}`, null],
  ])('%s', async (body, field) => {
    await refusedTo(account, body, field);
  });
});
