import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALLOWED_HEADERS, HEADER_VALUE_MAX } from '../../domain/email/content.ts';
import { composed, headerProblem, signed } from '../../providers/smtp/message.ts';
import { emailOfReturnPath } from '../../providers/smtp/settings.ts';
import type { SigningDomain, SubmitEmail } from '../../providers/email.ts';
import { aFile, anEmail, openRoute, type OpenRoute, RETURN_PATH_KEY, working } from '../smtp/client.ts';
import { addressesOf, type Relay, type Relayed, startRelay } from '../smtp/relay.ts';

let relay: Relay;
let route: OpenRoute;

beforeAll(async () => {
  relay = await startRelay({ size: 30_000_000 });
  route = openRoute({ port: relay.port, tlsCa: relay.ca });
  await working(route);
});
afterAll(async () => {
  await route.provider.stop();
  await relay.close();
});

async function sent(fields: Partial<SubmitEmail> = {}): Promise<Relayed & { email: SubmitEmail }> {
  const email = anEmail(fields);
  expect(await route.send(email)).toMatchObject({ kind: 'accepted' });
  return { ...relay.mails.at(-1)!, email };
}

/** The header fields of a message as they stand, unfolded. */
function fieldsOf(raw: Buffer): [name: string, value: string][] {
  const head = raw.toString('latin1').split('\r\n\r\n', 1)[0]!;
  return head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
}
const namesOf = (raw: Buffer) => fieldsOf(raw).map(([name]) => name.toLowerCase());

async function written(email: SubmitEmail): Promise<Buffer> {
  const addresses = { from: email.from.address, replyTo: email.replyTo, to: email.to, cc: email.cc };
  const message = await signed(
    () => composed(email, addresses, RETURN_PATH_KEY),
    email.domain as SigningDomain,
  );
  const pieces: Buffer[] = [];
  for await (const piece of message.content()) pieces.push(piece);
  const whole = Buffer.concat(pieces);
  expect(whole.length).toBe(message.bytes);
  return whole;
}

describe('a message that a relay takes', () => {
  it('comes over TLS, with the login, from a return path of its own, and signed', async () => {
    const { email, from, to, secure, user, raw, mail } = await sent();
    expect({ secure, user, to }).toEqual({ secure: true, user: 'goniec', to: ['jan@poczta.example'] });
    expect(from).toMatch(/^b-[0-9a-z]{26}-[0-9a-f]{20}@send\.sklep\.example$/);
    expect(emailOfReturnPath([RETURN_PATH_KEY], from)).toBe(email.id);
    expect(mail.messageId).toBe(`<${email.id}@sklep.example>`);
    expect(mail.date?.getTime()).toBe(Math.floor(email.createdAt.getTime() / 1000) * 1000);
    expect(mail.from?.value).toEqual([{ address: 'sklep@sklep.example', name: 'Sklep' }]);
    expect(namesOf(raw)[0]).toBe('dkim-signature');
  });

  it('has text and HTML as alternatives, in any alphabet', async () => {
    const text = 'Zażółć gęślą jaźń 🦆\n.\n..kropka\nFrom nobody\n' + 'ż'.repeat(3_000);
    const html = '<p>Zażółć</p>\r\n<p>🦆</p>\n.';
    const { mail, raw } = await sent({ text, html, subject: 'Łódź 🦆 '.repeat(24).trim() });
    expect(mail.text).toBe(`${text}`);
    expect(mail.html).toBe(html.replaceAll('\r\n', '\n'));
    expect(mail.subject).toBe('Łódź 🦆 '.repeat(24).trim());
    expect(raw.toString('latin1')).toMatch(/Content-Type: multipart\/alternative/);
    for (const line of raw.toString('latin1').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
  });

  it('has no line beyond 998 octets, whatever the caller’s headers are', async () => {
    const headers = ALLOWED_HEADERS.map((name) => [name, 'x'.repeat(HEADER_VALUE_MAX)] as const);
    const { raw } = await sent({ headers });
    expect(raw.includes('x'.repeat(HEADER_VALUE_MAX))).toBe(true);
    for (const line of raw.toString('latin1').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
  });

  it('names everybody but the hidden recipients, who get it too', async () => {
    const others = { to: ['a@x.example', 'b@x.example'], cc: ['c@x.example'], bcc: ['hidden@x.example'] };
    const { to, mail, raw } = await sent({ ...others, replyTo: 'biuro@sklep.example' });
    expect(to).toEqual(['a@x.example', 'b@x.example', 'c@x.example', 'hidden@x.example']);
    expect(addressesOf(mail.to)).toEqual(others.to);
    expect(addressesOf(mail.cc)).toEqual(others.cc);
    expect(addressesOf(mail.replyTo)).toEqual(['biuro@sklep.example']);
    expect(raw.includes('hidden')).toBe(false);
    expect(namesOf(raw)).not.toContain('bcc');
  });

  it('goes to hidden recipients alone', async () => {
    const { to, raw } = await sent({ to: [], bcc: ['hidden@x.example'] });
    expect(to).toEqual(['hidden@x.example']);
    expect(raw.includes('hidden')).toBe(false);
  });

  it('goes once to an address that is named twice', async () => {
    expect((await sent({ to: ['a@x.example'], bcc: ['a@x.example'] })).to).toEqual(['a@x.example']);
  });

  it('has domains in A-labels', async () => {
    const { to, raw } = await sent({
      to: ['jan@żółw.example'],
      from: { address: 'sklep@łódź.example', name: 'Łódź, "Sklep"' },
    });
    expect(to).toEqual(['jan@żółw.example']); // the server reads A-labels
    expect(raw.toString('latin1')).toContain('To: jan@xn--w-uga1v8h.example');
    expect(raw.toString('latin1')).toContain('sklep@xn--d-uga0v4h.example');
  });

  it('offers to unsubscribe by one click, and has the headers of the caller', async () => {
    const listUnsubscribe = 'https://goniec.example/u/' + 'a'.repeat(200);
    const headers = [['X-Order', 'Zamówienie 7'] as const, ['In-Reply-To', '<a@b.example>'] as const];
    const { raw, mail } = await sent({ listUnsubscribe, headers });
    const fields = new Map(fieldsOf(raw).map(([name, value]) => [name.toLowerCase(), value]));
    expect(fields.get('list-unsubscribe')).toBe(`<${listUnsubscribe}>`);
    expect(fields.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(fields.get('x-order')).toBe('=?UTF-8?Q?Zam=C3=B3wienie_7?=');
    expect(mail.inReplyTo).toBe('<a@b.example>');
    const signedNames = fields.get('dkim-signature')?.replaceAll(' ', '') ?? '';
    for (const name of ['from', 'to', 'subject', 'date', 'message-id', 'mime-version', 'content-type'])
      expect(signedNames).toMatch(new RegExp(`[=:]${name}[:;]`));
    expect(signedNames).toMatch(/:list-unsubscribe:list-unsubscribe-post;/);
  });

  it('has files, and pictures where the HTML names them', async () => {
    const [report, picture] = [randomBytes(70_001), randomBytes(5_000)];
    const { mail, raw } = await sent({
      html: '<img src="cid:logo@sklep">',
      text: 'Logo',
      attachments: [
        aFile(
          'sprawozdanie, „żółte" \r\nX-Evil: 1.pdf',
          [report.subarray(0, 30_000), report.subarray(30_000)],
          { contentType: 'application/pdf' },
        ),
        aFile('logo.png', [picture], { contentType: 'image/png', contentId: 'logo@sklep' }),
        aFile('list.eml', [Buffer.from('From: a\r\n\r\nb')], { contentType: 'message/rfc822' }),
        aFile('empty.txt', [], { contentType: 'text/plain\r\nX-Evil: 1' }),
      ],
    });
    const named = new Map(mail.attachments.map((file) => [file.filename, file]));
    expect(named.get('sprawozdanie, „żółte"  X-Evil: 1.pdf')).toMatchObject({
      content: report,
      contentType: 'application/pdf',
      contentDisposition: 'attachment',
    });
    expect(mail.attachments.find(({ related }) => related)).toMatchObject({
      content: picture,
      contentId: '<logo@sklep>',
      contentDisposition: 'inline',
    });
    expect(named.get('list.eml')).toMatchObject({ content: Buffer.from('From: a\r\n\r\nb') });
    expect(named.get('empty.txt')).toMatchObject({ size: 0 });
    for (const name of ['list.eml', 'empty.txt'])
      expect(raw.toString('latin1')).toContain(`Content-Type: application/octet-stream; name=${name}\r\n`);
    expect(namesOf(raw)).not.toContain('x-evil');
  });
});

describe('a message with large files', () => {
  it('is never whole in memory', async () => {
    const PIECE = Buffer.alloc(30_000, 'x');
    const PIECES = 334;
    let read = 0;
    const content = async function* () {
      for (let piece = 0; piece < PIECES; piece++) {
        read += 1;
        yield await Promise.resolve(PIECE);
      }
    };
    let resume = () => undefined as void;
    let bytes = 0;
    const slow = await startRelay({
      onData(stream, _session, done) {
        const begin = () => {
          stream.on('data', (piece: Buffer) => (bytes += piece.length));
          stream.on('end', () => done(null, 'ok'));
        };
        resume = begin;
      },
    });
    const other = openRoute({ port: slow.port, tlsCa: slow.ca });
    await working(other);
    const sending = other.send(anEmail({ attachments: [aFile('large.bin', content)] }));
    // Once through for the signature; then as far as sockets take it while the relay reads nothing.
    let seen = -1;
    while (seen !== read || read <= PIECES) {
      seen = read;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(read - PIECES).toBeLessThan(PIECES * 0.8);
    resume();
    expect(await sending).toMatchObject({ kind: 'accepted' });
    expect(read).toBe(2 * PIECES);
    expect(bytes).toBeGreaterThan(PIECES * PIECE.length * 1.33);
    await other.provider.stop();
    await slow.close();
  });

  it('waits for a file that cannot be read, and nobody gets half of it', async () => {
    let times = 0;
    const content = async function* () {
      times += 1;
      yield Buffer.alloc(90_000);
      if (times > 1) throw new Error('no such piece');
      yield await Promise.resolve(Buffer.alloc(3));
    };
    const before = relay.mails.length;
    const attachments = [aFile('a.bin', content)];
    const first = await route.send(anEmail({ attachments }));
    expect(first).toEqual({ kind: 'later', retryAfterMs: 5_000, code: 'unreadable' });
    expect(await route.send(anEmail({ attachments }))).toMatchObject({ kind: 'later', code: 'unreadable' });
    expect(relay.mails.length).toBe(before);
    expect(route.errors.splice(0)).toHaveLength(2);
  });

  it('is refused where the relay takes none so large', async () => {
    const small = await startRelay({ size: 10_000 });
    const other = openRoute({ port: small.port, tlsCa: small.ca });
    await working(other);
    const attachments = [aFile('a.bin', [Buffer.alloc(20_000)])];
    const answer = { kind: 'refused', reason: 'content_refused', code: 'too_large' };
    expect(await other.send(anEmail({ attachments }))).toEqual(answer);
    await other.provider.stop();
    await small.close();
  });
});

describe('what would be read as something else', () => {
  const EVIL = [
    'a@x.example\r\nRCPT TO:<evil@x.example>',
    'a@x.example>,<evil@x.example',
    '<a@x.example>',
    '"a b"@x.example',
    'a@[127.0.0.1]',
    'a@x.example SIZE=1',
    'a@127.1',
    'żółw@x.example',
    'a',
    '',
    'a\0@x.example',
    `${'a'.repeat(65)}@x.example`,
  ];

  it.each(EVIL)('is no address: %j', async (address) => {
    const before = relay.mails.length;
    const refused = [{ address, code: 'address', permanent: true }];
    const alone = { kind: 'refused', reason: 'recipients_refused', code: 'address', refused };
    expect(await route.send(anEmail({ to: [address] }))).toEqual(alone);
    const sender = { kind: 'refused', reason: 'sender_refused', code: 'address' };
    expect(await route.send(anEmail({ from: { address, name: null } }))).toEqual(sender);
    expect(await route.send(anEmail({ replyTo: address }))).toEqual(sender);
    expect(relay.mails.length).toBe(before);
    const { to } = await sent({ to: [], cc: ['b@x.example'], bcc: [] });
    expect(to).toEqual(['b@x.example']);
    expect(await route.send(anEmail({ to: ['b@x.example'], bcc: [address] }))).toMatchObject({
      kind: 'accepted',
      refused: [{ address, code: 'address' }],
    });
    expect(relay.mails.at(-1)?.to).toEqual(['b@x.example']);
  });

  it.each([
    ['Bcc', 'evil@x.example'],
    ['X-A: b\r\nBcc', 'evil@x.example'],
    ['', 'b'],
    ['Zażółć', 'b'],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ])('is no header of the caller: %j', async (name, value) => {
    const answer = { kind: 'refused', reason: 'content_refused', code: 'header' };
    expect(await route.send(anEmail({ headers: [[name, value]] }))).toEqual(answer);
  });

  it.each([
    'http://x.example/u',
    'https://x.example/>,<mailto:a@b.example',
    'https://x.example/\r\nBcc: a@b.example',
  ])('is no address to unsubscribe at: %j', (listUnsubscribe) => {
    expect(headerProblem(anEmail({ listUnsubscribe }))).toBe('list_unsubscribe');
  });

  it('never makes a line of its own, whatever subject, names and headers are', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc
        .array(
          fc.constantFrom(
            '\r\n',
            '\n',
            '\r',
            '\r\n\r\n',
            'Bcc: e@x.example',
            ' ',
            '\t',
            '=?utf-8?Q?a?=',
            'ż',
            ',',
          ),
        )
        .map((pieces) => pieces.join('')),
    );
    const expected = [
      ...['dkim-signature', 'from', 'to', 'subject', 'message-id', 'date', 'mime-version', 'content-type'],
      ...['content-transfer-encoding', 'content-disposition', 'x-custom'],
    ];
    await fc.assert(
      fc.asyncProperty(
        hostile,
        hostile,
        hostile,
        hostile,
        hostile,
        async (subject, name, value, text, filename) => {
          const file = aFile(filename, [Buffer.from('abc')]);
          const email = anEmail({
            subject,
            text,
            from: { address: 'sklep@sklep.example', name },
            headers: [['X-Custom', value]],
            attachments: [file],
          });
          const raw = await written(email);
          expect(raw.toString('latin1')).toMatch(/^[\t\r\n\x20-\x7e]*$/);
          expect(raw.toString('latin1')).not.toMatch(/\r(?!\n)|(?<!\r)\n/);
          for (const field of namesOf(raw)) expect(expected).toContain(field);
          const mail = await simpleParser(raw);
          expect(addressesOf(mail.from)).toEqual(['sklep@sklep.example']);
          expect(addressesOf(mail.to)).toEqual(email.to);
          expect(mail.attachments.map(({ content }) => content.toString())).toEqual(['abc']);
          expect(mail.bcc).toBeUndefined();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('keeps subjects and names as they are', async () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'aAżółć🦆,.;:"\\()<>@ -_=?7'),
      minLength: 1,
      maxLength: 200,
    });
    const shown = (text: string) => text.replace(/\s+/g, ' ').trim();
    await fc.assert(
      fc.asyncProperty(letters, letters, async (subject, name) => {
        fc.pre(!/=\?/.test(subject + name) && shown(name) !== '' && shown(subject) !== '');
        const raw = await written(anEmail({ subject, from: { address: 'sklep@sklep.example', name } }));
        const mail = await simpleParser(raw);
        expect(shown(mail.subject ?? '')).toBe(shown(subject));
        expect(shown(mail.from?.value[0]?.name ?? '')).toBe(shown(name));
      }),
      { numRuns: 50 },
    );
  });
});
