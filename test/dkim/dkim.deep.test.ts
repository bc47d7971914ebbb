import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownRecords } from '../../domain/email/dns.ts';
import type { SubmitEmail } from '../../providers/email.ts';
import { aFile, anEmail, DKIM, openRoute, type OpenRoute, working } from '../smtp/client.ts';
import { type Relay, startRelay } from '../smtp/relay.ts';
import { installedPythonPackage } from '../support/pythonPackage.ts';

const domain = { name: 'sklep.example', selector: 'goniec1', publicKey: DKIM.publicKey };
const key = ownRecords(domain, 'mail.goniec.example').find(({ purpose }) => purpose === 'dkim')!;
let python: string;
let relay: Relay;
let route: OpenRoute;

beforeAll(async () => {
  python = join(await installedPythonPackage('dkimpy', '1.1.8'), 'python');
  relay = await startRelay();
  route = openRoute({ port: relay.port, tlsCa: relay.ca });
  await working(route);
});
afterAll(async () => {
  await route.provider.stop();
  await relay.close();
});

/** What dkimpy says of a message as it arrived, its DNS having the record that the owner of the domain is asked to set. */
async function verified(raw: Buffer): Promise<{ good: boolean; headers: string[] }> {
  const child = spawn(python, [join(import.meta.dirname, 'verify.py'), key.name, key.value], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (text) => (said += String(text)));
  child.stdin.end(raw);
  await once(child, 'close');
  const [good, headers = ''] = said.trim().split(' ');
  expect(['good', 'bad']).toContain(good);
  return { good: good === 'good', headers: headers.toLowerCase().split(':') };
}

async function sent(fields: Partial<SubmitEmail>): Promise<Buffer> {
  expect(await route.send(anEmail(fields))).toMatchObject({ kind: 'accepted' });
  return relay.mails.at(-1)!.raw;
}

const FULL: Partial<SubmitEmail> = {
  subject: 'Zamówienie nr 7 🦆 '.repeat(10),
  from: { address: 'sklep@sklep.example', name: 'Łódź, "Sklep"' },
  replyTo: 'biuro@sklep.example',
  to: Array.from({ length: 50 }, (_, i) => `odbiorca${i}@poczta.example`),
  cc: ['c@x.example'],
  bcc: ['hidden@x.example'],
  text: ' Zażółć  gęślą \t jaźń \n\n.\n..\rFrom x\n\n\n',
  html: `<p>${'ż'.repeat(5_000)}</p>\n\n`,
  headers: [['X-Order', 'Zamówienie']],
  listUnsubscribe: `https://goniec.example/u/${'a'.repeat(100)}`,
};

describe('the signature', () => {
  it('is good in the eyes of others, and covers what it has to', async () => {
    const attachments = [aFile('żółw.bin', [randomBytes(300_000), randomBytes(70_000)])];
    const { good, headers } = await verified(await sent({ ...FULL, attachments }));
    expect(good).toBe(true);
    const wanted = [
      'from',
      'to',
      'cc',
      'subject',
      'date',
      'message-id',
      'mime-version',
      'content-type',
      'reply-to',
    ];
    for (const name of [...wanted, 'list-unsubscribe', 'list-unsubscribe-post'])
      expect(headers).toContain(name);
  });

  it.each<[string, Partial<SubmitEmail>]>([
    ['of text alone', {}],
    ['of an empty text', { text: '' }],
    ['of HTML alone', { text: null, html: '<p>a</p>' }],
    ['of a text of blanks', { text: ' \r\n\t\r\n \n' }],
    ['to hidden recipients', { to: [], bcc: ['hidden@x.example'] }],
  ])('%s is good', async (_name, fields) => {
    expect((await verified(await sent(fields))).good).toBe(true);
  });

  it('is bad on a copy that was altered', async () => {
    const raw = (await sent({ ...FULL, text: 'Numer konta: 1', html: null, subject: 'Faktura' })).toString(
      'latin1',
    );
    expect((await verified(Buffer.from(raw, 'latin1'))).good).toBe(true);
    for (const [from, to] of [
      ['konta: 1', 'konta: 2'],
      ['Subject: Faktura', 'Subject: Inna'],
      ['sklep@sklep.example', 'zlo@sklep.example'],
      ['List-Unsubscribe=One-Click', 'List-Unsubscribe=Never'],
      ['https://goniec.example/u/', 'https://zlo.example/u/'],
    ] as const) {
      const altered = raw.replace(from, to);
      expect(altered).not.toBe(raw);
      expect((await verified(Buffer.from(altered, 'latin1'))).good).toBe(false);
    }
  });
});
