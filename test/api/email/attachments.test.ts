import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  LEAST,
  type MailAccount,
  newMailAccount,
  refusedTo,
  takenMail,
  untilEmail,
  postEmail,
} from '../../support/email.ts';

let account: MailAccount;
beforeAll(async () => {
  account = await newMailAccount();
});

const withFile = (file: object) => ({ ...LEAST, attachments: [file] });
const PDF = { filename: 'faktura.pdf', content: 'YQ==' };

describe('content that is no base64', () => {
  const LONG = Buffer.alloc(400_000, 1).toString('base64');
  const SLICE = 256 * 1024;
  it.each([
    ...['YQ', 'YQ=', 'Y', '====', 'YQ===', 'Y=Q=', 'YQ==YQ==', 'YW=j'],
    // Padded where one slice ends that is decoded by itself.
    `${'A'.repeat(SLICE - 4)}YQ==YWFh`,
    // The alphabet of addresses on the web (RFC 4648, 5), blanks, a prefix and other letters.
    ...['_-_-', ' YQ==', 'data:text/plain;base64,YQ==', 'żółw', 'YQ==\u0000'],
    `${LONG.slice(0, 262_144)}=${LONG.slice(262_145)}`,
    `${LONG.slice(0, 300_000)}*${LONG.slice(300_001)}`,
  ])('%.30j', async (content) => {
    await refusedTo(account, withFile({ ...PDF, content }), 'attachments');
  });

  it.each(['YQ\\u00e9=', 'YW\\u0020=', 'YQ=\\u002', 'YQ=\\t', 'YQ\\u003d\\u003d\\u003d'])(
    'written with an escape: %s',
    async (content) => {
      const file = `{"filename":"a.pdf","content":"${content}"}`;
      const body = `{"to":"a@b.pl","subject":"x","text":"x","idx":"x","attachments":[${file}]}`;
      await refusedTo(account, body, 'attachments');
    },
  );

  it.each([0, true, null, {}, ['YQ=='], { type: 'Buffer', data: [1] }])('%j', async (content) => {
    await refusedTo(account, withFile({ ...PDF, content }), 'attachments');
  });

  it('absent, or of another name, or too long a text in another field', async () => {
    await refusedTo(account, withFile({ filename: 'a.pdf' }), 'attachments');
    await refusedTo(account, withFile({ filename: 'a.pdf', content: 'YQ==', data: 'YQ==' }), 'attachments');
    await refusedTo(account, withFile({ ...PDF, url: 'https://klient.example/a.pdf' }), 'attachments');
    for (const field of ['filename', 'content_id'])
      await refusedTo(account, withFile({ ...PDF, [field]: LONG.repeat(2) }), 'attachments');
    await refusedTo(account, { ...LEAST, content: LONG }, 'content');
    await refusedTo(account, { ...LEAST, html: [{ content: LONG.repeat(2) }] }, 'html');
    await refusedTo(account, { ...LEAST, attachments: PDF }, 'attachments');
  });

  it('names the file', async () => {
    const files = [PDF, { ...PDF, content: '!' }];
    expect(await refusedTo(account, { ...LEAST, attachments: files }, 'attachments')).toMatch(/\b[12]\b/);
  });
});

describe('content that is', () => {
  const sent = async (body: string) => {
    const sender = await newMailAccount();
    const answer = await postEmail(sender.v1, body);
    expect(answer.status).toBe(200);
    const { id } = answer.body.data as unknown as { id: string };
    await untilEmail(sender, id, ({ status }) => status !== 'queued');
    return ((await takenMail(id)) as { attachments: { bytes: number; sha256: string }[] }).attachments;
  };
  const body = (content: string) =>
    `{"to":"jan@klient.example","subject":"x","text":"x","attachments":[{"filename":"a.pdf","content":"${content}"}]}`;
  const bytes = Buffer.from(Array.from({ length: 700_003 }, (_, i) => (i * 7919) % 256));
  const base64 = bytes.toString('base64');

  let plain: { bytes: number; sha256: string };
  beforeAll(async () => {
    [plain] = (await sent(body(base64))) as [typeof plain];
  });

  it('as it is', () => {
    expect(plain).toMatchObject({
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
  });

  it.each([
    ['with slashes escaped', base64.replaceAll('/', '\\/')],
    [
      'with +, / and = as escapes',
      base64.replaceAll('+', '\\u002B').replaceAll('/', '\\u002f').replaceAll('=', '\\u003d'),
    ],
    ['in lines of 76 whose ends are escapes of another kind', base64.replace(/.{76}/g, '$&\\u000D\\u000a')],
    ['in lines of 60 with an end', `${base64.replace(/.{60}/g, '$&\\n')}\\n`],
  ])('%s', async (_, content) => {
    expect(await sent(body(content))).toEqual([plain]);
  });

  it('with an escape that one step of the reading begins and the next one ends', async () => {
    const STEP = 256 * 1024;
    const files = ['\\u002B', '\\/', '\\r'].flatMap((escape) =>
      Array.from({ length: escape.length + 1 }, (_, before) => ({
        given: `${'A'.repeat(STEP - before)}${escape}${'A'.repeat(before + 3)}`,
        meant: { '\\u002B': '+', '\\/': '/', '\\r': 'A' }[escape]!,
        before,
      })),
    );
    const attachments = files
      .map(({ given, meant }, index) => {
        // An end of line is nothing: one more letter makes whole groups of four.
        const content = meant === 'A' ? `${given}A` : given;
        return `{"filename":"${index}.pdf","content":"${content}"}`;
      })
      .join(',');
    const found = await sent(
      `{"to":"jan@klient.example","subject":"x","text":"x","attachments":[${attachments}]}`,
    );
    expect(found.map(({ sha256 }) => sha256)).toEqual(
      files.map(({ meant, before }) => {
        const base64 = `${'A'.repeat(STEP - before)}${meant}${'A'.repeat(before + 3)}`;
        return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex');
      }),
    );
  });

  it.each([
    ['BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT', '; charset=utf-8; method=REQUEST'],
    ['\uFEFFBEGIN:VCALENDAR\nmethod:cancel\nSUMMARY:Łódź\n', '; charset=utf-8; method=CANCEL'],
    ['BEGIN:VCALENDAR\r\nPRODID:x\r\nMETH\r\n OD;X-A=b:REP\r\n LY\r\n', '; charset=utf-8; method=REPLY'],
    ['BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDESCRIPTION:x\r\n METHOD:REQUEST\r\n', '; charset=utf-8'],
    ['BEGIN:VCALENDAR\r\nMETHOD:RE"QUEST; x=y\r\n', '; charset=utf-8'],
    [Buffer.from('METHOD:PUBLISH\r\nSUMMARY:\xb3\r\n', 'latin1'), '; method=PUBLISH'],
  ])('a calendar, with its charset and method: %j', async (calendar, parameters) => {
    const content = Buffer.from(calendar as string).toString('base64');
    const [file] = await sent(body(content).replace('a.pdf', 'a.ICS'));
    expect(file).toMatchObject({ contentType: `text/calendar${parameters}` });
  });

  it('of nothing: an empty file', async () => {
    expect(await sent(body(''))).toMatchObject([{ bytes: 0 }]);
  });
});

it.each(['faktura.pdf.exe', '../a.pdf', ''])('the name %j is refused', async (filename) => {
  await refusedTo(account, withFile({ ...PDF, filename }), 'attachments');
});
