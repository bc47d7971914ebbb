import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SubmitEmail } from '../../providers/email.ts';
import { emailBody } from '../../providers/resend/provider.ts';
import { email, file, openClient } from './resendClient.ts';
import { until } from './until.ts';

async function bytesOf(given: SubmitEmail): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of emailBody(given).pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('an e-mail to Resend', () => {
  it('goes with all it has, under our id as its key', async () => {
    const { resend, submit, errors } = await openClient();
    const content = randomBytes(50_001);
    const logo = randomBytes(7);
    const given = email({
      ...{ replyTo: 'biuro@sklep.example', cc: ['a@poczta.example'], bcc: ['b@poczta.example'] },
      ...{ to: ['jan@poczta.example', 'ola@poczta.example'], text: 'Dziękujemy' },
      headers: [
        ['X-Order', 'Zamówienie 17'],
        ['list-unsubscribe', '<mailto:old@sklep.example>'],
      ],
      listUnsubscribe: 'https://api.example.pl/u/abc',
      attachments: [
        file(content, 6000),
        file(logo, 6, { filename: 'logo "ż".png', contentType: 'image/png', contentId: 'logo' }),
      ],
    });
    expect(await submit(given)).toEqual({ kind: 'accepted', providerEmailId: resend.sent[0]?.id });
    const [sent] = resend.sent;
    const { attachments, ...fields } = sent!.body;
    expect(sent!.key).toBe(given.id);
    expect(fields).toEqual({
      from: 'Sklep <kontakt@sklep.example>',
      ...{ to: given.to, cc: given.cc, bcc: given.bcc, reply_to: 'biuro@sklep.example' },
      ...{ subject: given.subject, html: given.html, text: 'Dziękujemy' },
      headers: {
        'X-Order': 'Zamówienie 17',
        'List-Unsubscribe': '<https://api.example.pl/u/abc>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
      tags: [{ name: 'goniec_id', value: given.id }],
    });
    expect(attachments).toHaveLength(2);
    expect(sent!.files).toEqual([
      { filename: 'faktura.pdf', contentType: 'application/pdf', contentId: null, content },
      { filename: 'logo "ż".png', contentType: 'image/png', contentId: 'logo', content: logo },
    ]);
    const { headers } = resend.calls.find(({ path }) => path === '/emails')!;
    expect(headers['content-length']).toBe(String(sent!.raw.length));
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(errors).toEqual([]);
  });

  it('is known by its key to whoever has that API key at that address', async () => {
    const keyScope = async (...client: Parameters<typeof openClient>) =>
      (await openClient(...client)).client.email!.keyScope;
    const at = { url: 'https://api.resend.example' };
    const of = (apiKey: string) => ({ waits: false, apiKey });
    const scope = await keyScope(at, of('re_one'));
    expect(scope).toMatch(/^[\w-]{16}$/);
    expect(await keyScope({ ...at, window: 2 }, of('re_one'))).toBe(scope);
    expect(await keyScope(at, of('re_two'))).not.toBe(scope);
    expect(await keyScope({ url: 'https://eu.resend.example' }, of('re_one'))).not.toBe(scope);
  });

  it('has nothing that was not given', async () => {
    const { resend, submit } = await openClient();
    await submit(email({ from: { address: 'kontakt@sklep.example', name: null }, text: 'a', html: null }));
    expect(Object.keys(resend.sent[0]!.body)).toEqual(['from', 'to', 'subject', 'text', 'tags']);
    expect(resend.sent[0]!.body.from).toBe('kontakt@sklep.example');
  });

  it.each([
    [
      'those with a copy take its place',
      { cc: ['a@x.example', 'b@x.example'], bcc: ['c@x.example'] },
      { to: ['a@x.example', 'b@x.example'], bcc: ['c@x.example'] },
    ],
    ['one alone sees nobody else', { bcc: ['c@x.example'] }, { to: ['c@x.example'] }],
    [
      'several stay hidden behind the sender',
      { bcc: ['c@x.example', 'd@x.example'] },
      { to: ['kontakt@sklep.example'], bcc: ['c@x.example', 'd@x.example'] },
    ],
  ])('with nobody left in `to`: %s', async (_, left, asked) => {
    const { resend, submit } = await openClient();
    expect(await submit(email({ to: [], ...left }))).toMatchObject({ kind: 'accepted' });
    const { to, cc, bcc } = resend.sent[0]!.body;
    expect(JSON.parse(JSON.stringify({ to, cc, bcc }))).toEqual(asked);
  });

  it.each(['Sklep, Kowalski & Syn', 'Jan "Janek" <Kowalski>', 'a\\b', 'Łódź; Oddział: 3'])(
    'of %s keeps its sender’s name',
    async (name) => {
      const { resend, submit } = await openClient();
      expect(await submit(email({ from: { address: 'kontakt@sklep.example', name } }))).toMatchObject({
        kind: 'accepted',
      });
      expect(resend.sent[0]!.from).toEqual({ address: 'kontakt@sklep.example', name });
    },
  );

  it('handed over again is taken once, with the same answer', async () => {
    const { resend, submit } = await openClient();
    const given = email({ attachments: [file(randomBytes(1000), 99)] });
    const first = await submit(given);
    expect(await submit(given)).toEqual(first);
    expect(resend.sent).toHaveLength(1);
  });

  it('that must not leave is not sent', async () => {
    const { resend, client } = await openClient();
    expect(await client.email!.submit(email(), () => Promise.resolve(false))).toEqual({ kind: 'withheld' });
    const failing = client.email!.submit(email(), () => Promise.reject(new Error('no database')));
    await expect(failing).rejects.toThrow('no database');
    expect(resend.calls.some(({ path }) => path === '/emails')).toBe(false);
    expect(client.state().inFlight).toBe(0);
  });

  it('waits for room in the window', async () => {
    const { resend, client, submit } = await openClient({ window: 2 });
    const held: (() => void)[] = [];
    const hold = (response: { destroy: () => void }) => void held.push(() => response.destroy());
    resend.next(hold, hold);
    const answers = [submit(email()), submit(email()), submit(email())];
    await until(() => held.length === 2);
    expect(client.state()).toMatchObject({ inFlight: 2, window: 2 });
    expect(resend.calls.filter(({ path }) => path === '/emails')).toHaveLength(2);
    held.forEach((end) => end());
    expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual([
      'unanswered',
      'unanswered',
      'accepted',
    ]);
  });

  it('is read only as fast as it is sent', async () => {
    const { resend, submit } = await openClient();
    let read = 0;
    const piece = Buffer.alloc(30_000);
    const pieces = 333;
    const huge = {
      ...file(Buffer.alloc(0)),
      bytes: piece.length * pieces,
      async *content() {
        for (; read < pieces; read += 1) yield await Promise.resolve(piece);
      },
    };
    let goOn = (): void => undefined;
    // It does not read on before it is told to.
    resend.next(async (response, take) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      const { json } = await take();
      response.end(JSON.stringify(json));
    });
    const answer = submit(email({ attachments: [huge] }));
    let before = -1;
    await until(() => (read > 0 && read === before) || ((before = read), false));
    expect(read).toBeLessThan(pieces);
    goOn();
    expect(await answer).toMatchObject({ kind: 'accepted' });
    expect(resend.sent[0]!.files[0]!.content).toHaveLength(piece.length * pieces);
  });
});

describe('the body of an e-mail', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 });
  const oneFile = fc
    .tuple(text, text, fc.option(text), fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 100 }))
    .map(([filename, contentType, contentId, content, piece]) => ({
      content: Buffer.from(content),
      file: file(Buffer.from(content), piece, { filename, contentType, contentId }),
    }));

  it('is that of JSON.stringify over the whole, however its files come in pieces, and the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(
        ...[text, fc.option(text), fc.array(oneFile, { maxLength: 4 })],
        fc.array(fc.tuple(text, text), { maxLength: 5 }),
        async (html, subject, files, headers) => {
          const given = email({ html, subject: subject ?? '', headers });
          const bytes = await bytesOf({ ...given, attachments: files.map(({ file: one }) => one) });
          const plain = JSON.parse((await bytesOf(given)).toString()) as object;
          const attachments = files.map(({ file: { filename, contentType, contentId }, content }) => ({
            ...{ filename, content_type: contentType },
            ...(contentId === null ? {} : { content_id: contentId }),
            content: content.toString('base64'),
          }));
          const whole = { ...plain, ...(files.length === 0 ? {} : { attachments }) };
          expect(JSON.parse(bytes.toString())).toEqual(JSON.parse(JSON.stringify(whole)));
          expect(plain).toMatchObject({ html, subject: subject ?? '' });
          const again = { ...given, attachments: files.map(({ file: one }) => one) };
          expect(emailBody(again).bytes).toBe(bytes.length);
          expect((await bytesOf(again)).equals(bytes)).toBe(true);
        },
      ),
    );
  });

  it.each([1, -1, -100])('is not finished where a file has %i bytes more than it says', async (more) => {
    const content = randomBytes(1000);
    const given = email({ attachments: [file(content, 300, { bytes: content.length - more })] });
    await expect(bytesOf(given)).rejects.toThrow('another length');
  });
});
