import { beforeAll, describe, expect, it } from 'vitest';
import {
  LEAST,
  type MailAccount,
  newMailAccount,
  refusedTo,
  takenFrom,
  takenMail,
  untilEmail,
  postEmail,
} from '../../support/email.ts';
import { database } from '../../support/factories.ts';

// As the document and the decisions have them, not the code.
const SUBJECT = 200;
const BODY = 500_000;
const NAME = 100;
const IDX = 64;
const FILES_BYTES = 10_000_000;

let fresh: MailAccount;
beforeAll(async () => {
  fresh = await newMailAccount();
});

const addresses = (count: number, prefix = 'a') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}@klient.example`);

const stored = async (id: string) => {
  const [row] = await database()<{ subject: string; html: string | null; text: string | null }[]>`
    select e.subject, c.html, c.text from emails e join email_contents c on c.email_id = e.id where e.id = ${id}`;
  return row!;
};

describe('as long as it may be, and one longer', () => {
  const ofLength: [string, string, number][] = [
    ['subject', 'ż', SUBJECT],
    ['from_name', 'Ł', NAME],
    ['idx', 'ą', IDX],
    ['html', 'ą', BODY],
    ['text', 'ą', BODY],
  ];
  it.each(ofLength)('%s of %j: %i', async (field, letter, most) => {
    const account = await newMailAccount();
    expect(await refusedTo(fresh, { ...LEAST, [field]: letter.repeat(most + 1) }, field)).toContain(
      String(most),
    );
    const { id } = await takenFrom(account, { [field]: letter.repeat(most) });
    if (field in (await stored(id))) expect((await stored(id))[field as 'text']).toBe(letter.repeat(most));
  });

  it('an emoji counts as one', async () => {
    const [subject, html] = ['😀'.repeat(SUBJECT), '😀'.repeat(BODY)];
    const { id } = await takenFrom(await newMailAccount(), { subject, html });
    const row = await stored(id);
    expect([row.subject === subject, row.html === html]).toEqual([true, true]);
    await takenFrom(await newMailAccount(), { from_name: '😀'.repeat(NAME) });
    await refusedTo(fresh, { ...LEAST, from_name: `${'😀'.repeat(NAME)}a` }, 'from_name');
    await refusedTo(fresh, { ...LEAST, subject: `${subject}a` }, 'subject');
    await refusedTo(fresh, { ...LEAST, text: `${html}a` }, 'text');
  });

  it('both bodies at their greatest with each character written as an escape, as PHP does', async () => {
    const escaped = (text: string) =>
      text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const [html, text] = ['ą'.repeat(BODY), '😀'.repeat(BODY / 2)];
    const rest = `"to":"jan@klient.example","subject":"${escaped('Zażółć')}"`;
    const account = await newMailAccount();
    const body = `{${rest},"html":"${escaped(html)}","text":"${escaped(text).replaceAll('/', '\\/')}"}`;
    const answer = await postEmail(account.v1, body);
    expect(answer.status).toBe(200);
    const { id } = answer.body.data as unknown as { id: string };
    const row = await stored(id);
    expect([row.subject, row.html === html, row.text === text]).toEqual(['Zażółć', true, true]);
    await refusedTo(fresh, `{${rest},"html":"${escaped(`${html}a`)}"}`, 'html');
  });

  it('addresses: 50 in to, 20 in cc, 20 in bcc; each costs', async () => {
    const account = await newMailAccount();
    const [to, cc, bcc] = [addresses(50, 'to'), addresses(20, 'cc'), addresses(20, 'bcc')];
    const { cost, to: shown } = await takenFrom(account, { to, cc, bcc });
    expect([cost, shown]).toEqual([90, to.join(', ')]);
    await refusedTo(fresh, { ...LEAST, to: addresses(51) }, 'to');
    await refusedTo(fresh, { ...LEAST, cc: addresses(21) }, 'cc');
    await refusedTo(fresh, { ...LEAST, bcc: addresses(21) }, 'bcc');
    await refusedTo(fresh, { ...LEAST, to: [] }, 'to');
  });
});

describe('files', () => {
  const file = (bytes: number, filename = 'a.pdf') => ({
    filename,
    content: Buffer.alloc(bytes, 7).toString('base64'),
  });

  it('20 of them reach the provider as they were, one more is refused', async () => {
    const account = await newMailAccount();
    const attachments = Array.from({ length: 20 }, (_, index) => file(index, `Załącznik nr ${index}.pdf`));
    await refusedTo(fresh, { ...LEAST, attachments: [...attachments, file(1)] }, 'attachments');
    const { id } = await takenFrom(account, { attachments });
    await untilEmail(account, id, ({ status }) => status !== 'queued');
    const mail = (await takenMail(id)) as { attachments: { filename: string; bytes: number }[] };
    expect(mail.attachments.map(({ filename, bytes }) => [filename, bytes])).toEqual(
      attachments.map(({ filename }, index) => [filename, index]),
    );
    expect(
      await database()`select from email_attachment_pieces where email_id = ${id}`,
      'kept no longer than needed',
    ).toHaveLength(0);
  });

  it('10,000,000 bytes together, and not one more', async () => {
    const account = await newMailAccount();
    const half = FILES_BYTES / 2;
    await refusedTo(fresh, { ...LEAST, attachments: [file(half), file(half + 1)] }, 'attachments');
    const { id } = await takenFrom(account, { attachments: [file(half), file(half)], idx: 'duży' });
    const [row] = await database()<{ bytes: number }[]>`
      select sum(bytes)::int as bytes from email_attachments where email_id = ${id}`;
    expect(row!.bytes).toBe(FILES_BYTES);
  });

  it('the same as PHP writes them: slashes escaped, lines of 76', async () => {
    const account = await newMailAccount();
    const lines = Buffer.alloc(FILES_BYTES, 7).toString('base64').replace(/.{76}/g, '$&\r\n');
    const body = JSON.stringify({ ...LEAST, attachments: [{ filename: 'a.pdf', content: lines }] });
    expect((await postEmail(account.v1, body.replaceAll('/', '\\/'))).status).toBe(200);
  });
});
