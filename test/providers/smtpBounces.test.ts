import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import {
  type BounceLimits,
  createBounceListener,
  type BounceListener,
} from '../../providers/smtp/listener.ts';
import { returnPath } from '../../providers/smtp/settings.ts';
import { freePort } from '../../bin/ports.ts';
import { newId } from '../../db/ids.ts';
import { RETURN_PATH_KEY } from '../smtp/client.ts';
import { eventually } from '../support/eventually.ts';

let port: number;
let listener: BounceListener;
let events: ProviderEmailEvent[] = [];
let refuses = false;
const errors: unknown[] = [];
const handlers = {
  onEmailEvents(found: readonly ProviderEmailEvent[]) {
    if (refuses) return Promise.reject(new Error('no database'));
    events.push(...found);
    return Promise.resolve();
  },
};
const listening = (
  credentials: Parameters<typeof createBounceListener>[1] = { returnPathKey: RETURN_PATH_KEY },
  limits?: BounceLimits,
) =>
  createBounceListener(
    { bounces: `127.0.0.1:${port}`, mailHost: 'mail.goniec.example' },
    credentials,
    (error) => errors.push(error),
    limits,
  );

const isOpen = () =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });

beforeAll(async () => {
  port = await freePort();
  listener = listening();
  listener.start(handlers);
  await eventually(isOpen, Boolean);
});
afterAll(() => listener.stop());
beforeEach(() => {
  events = [];
  refuses = false;
  errors.length = 0;
});

// The files of an e-mail, 10 MB in base64, and some.
const LARGE = Buffer.from(`${'y'.repeat(76)}\r\n`.repeat(190_000));
const id = newId('em');
const path = returnPath(RETURN_PATH_KEY, id, 'sklep.example');

/** Delivers as a mail server would; rejects with the code that it got. */
async function deliver(
  raw: string | Buffer,
  to: string | string[] = path,
  from = '',
  localAddress = '127.0.0.1',
): Promise<string> {
  const transport = createTransport({
    ...{ host: '127.0.0.1', port, localAddress, ignoreTLS: true, socketTimeout: 20_000 },
  });
  try {
    const envelope = { from, to };
    return (await transport.sendMail({ envelope, raw })).response;
  } catch (error) {
    const { responseCode } = error as { responseCode?: number };
    if (responseCode === undefined) throw error;
    return String(responseCode);
  } finally {
    transport.close();
  }
}

function report(fields: string[], { type = 'delivery-status', headers = [] as string[] } = {}): string {
  return [
    'From: MAILER-DAEMON@mx.poczta.example',
    `To: ${path}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'Message-ID: <20261124.1@mx.poczta.example>',
    ...headers,
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${type};`,
    '\tboundary="A1.2/mx.poczta.example"',
    '',
    'This is a MIME-encapsulated message.',
    '',
    '--A1.2/mx.poczta.example',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    "I'm sorry to have to inform you that your message could not be delivered.",
    '',
    '--A1.2/mx.poczta.example',
    'Content-Description: Delivery report',
    `Content-Type: message/${type}`,
    '',
    ...fields,
    '',
    '--A1.2/mx.poczta.example',
    'Content-Type: message/rfc822',
    '',
    'Action: delivered',
    'Final-Recipient: rfc822; nobody@x.example',
    '',
    '--A1.2/mx.poczta.example--',
  ].join('\r\n');
}
const MTA = ['Reporting-MTA: dns; mx.poczta.example', 'X-Postfix-Queue-ID: 4XyZ', ''];
const failed = (address: string, status = '5.1.1') => [
  `Final-Recipient: rfc822; ${address}`,
  `Original-Recipient: rfc822;${address}`,
  'Action: failed',
  `Status: ${status}`,
  'Remote-MTA: dns; mx.poczta.example',
  'Diagnostic-Code: smtp; 550 5.1.1 <jan@poczta.example>: Recipient address rejected:',
  '    User unknown in virtual mailbox table',
];

describe('a report of a mail server', () => {
  it('is a bounce for good', async () => {
    expect(await deliver(report([...MTA, ...failed('jan@poczta.example')]))).toMatch(/^250/);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      ...{ emailId: id, providerEmailId: null, kind: 'bounced', permanent: true, unverified: true },
      addresses: ['jan@poczta.example'],
      eventId: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      payload: {
        action: 'failed',
        status: '5.1.1',
        'reporting-mta': 'dns; mx.poczta.example',
        'diagnostic-code': expect.stringContaining('User unknown in virtual mailbox table') as string,
      },
    });
  });

  it('is the same when it comes again, and another for another recipient', async () => {
    const both = report([...MTA, ...failed('a@x.example'), '', ...failed('b@x.example', '4.4.7')]);
    await deliver(both);
    await deliver(both, path.toUpperCase());
    expect(events.map(({ addresses, permanent }) => [addresses[0], permanent])).toEqual([
      ...[['a@x.example', true] as const, ['b@x.example', false] as const],
      ...[['a@x.example', true] as const, ['b@x.example', false] as const],
    ]);
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(2);
  });

  const single = (action: string, status: string) => [
    ...MTA,
    'Final-Recipient: rfc822;jan@poczta.example',
    `Action: ${action}`,
    `Status: ${status}`,
  ];
  it.each([
    ['delayed', '4.4.1', { kind: 'delayed', permanent: null }],
    ['delivered', '2.0.0', { kind: 'delivered', permanent: null }],
    ['relayed (to elsewhere)', '2.1.9', { kind: 'delivered', permanent: null }],
    ['failed', '', { kind: 'bounced', permanent: false }],
  ])('that says %s %s', async (action, status, event) => {
    await deliver(report(single(action, status)));
    expect(events).toMatchObject([{ ...event, emailId: id, addresses: ['jan@poczta.example'] }]);
  });

  const bounced = (status: string, diagnostic: string) => [
    ...single('failed', status),
    `Diagnostic-Code: smtp; ${diagnostic}`,
  ];
  const DEAD = ['5.1.0', '5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'];
  const ALIVE = [
    '5.1.7',
    '5.1.8',
    '5.2.2',
    '5.2.3',
    '5.3.4',
    '5.4.1',
    '5.4.7',
    '5.5.0',
    '5.6.0',
    '5.7.1',
    '5.7.26',
  ];
  it.each<[status: string, answer: string, permanent: boolean]>([
    ...DEAD.map((status): [string, string, boolean] => [status, '550 no', true]),
    ...ALIVE.map((status): [string, string, boolean] => [status, '550 5.1.1 User unknown', false]),
    ['5.0.0', '550 5.1.1 no', true],
    ['5.0.0', '550-5.1.1 no', true],
    ['5.0.0', '550 No such user here', true],
    ['5.0.0', '550 <jan@poczta.example>: Recipient address rejected: User unknown', true],
    ['5.0.0', '550 5.7.1 User unknown to our policy', false],
    ['5.0.0', '550 Sender address unknown', false],
    ['5.0.0', '554 User unknown', false],
    ['', '550 5.1.1 no', true],
  ])(
    'of status %j and the answer %j says that the address is dead: %s',
    async (status, answer, permanent) => {
      await deliver(report(bounced(status, answer)));
      expect(events).toMatchObject([{ kind: 'bounced', permanent }]);
    },
  );

  it('is understood before an e-mail with the largest files', async () => {
    const whole = (head: string) => Buffer.concat([Buffer.from(head), LARGE]);
    expect(await deliver(whole(report([...MTA, ...failed('jan@poczta.example')])))).toMatch(/^250/);
    expect(await deliver(whole('From: <>\r\nSubject: failure notice\r\n\r\nHi.\r\n'))).toMatch(/^250/);
    expect(events).toMatchObject([
      { kind: 'bounced', permanent: true, addresses: ['jan@poczta.example'] },
      { kind: 'bounced', permanent: false, payload: { bytes: expect.any(Number) as number } },
    ]);
    expect(events[1]!.payload['bytes']).toBeGreaterThan(LARGE.length);
  });

  it('that names nobody says nothing for good of everybody', async () => {
    await deliver(report([...MTA, 'Action: delivered', 'Status: 2.0.0']));
    await deliver(report([...MTA, 'Action: failed', 'Status: 5.1.1']));
    expect(events).toMatchObject([{ kind: 'bounced', permanent: false, addresses: [] }]);
  });

  it('that says nothing of use is taken and dropped', async () => {
    expect(await deliver(report(single('pondered', '5.0.0')))).toMatch(/^250/);
    expect(await deliver(report([]))).toMatch(/^250/);
    expect(events).toEqual([]);
  });

  it('is read in other encodings too', async () => {
    const text = [...MTA, ...failed('jan@poczta.example')].join('\r\n');
    const encoded = report([Buffer.from(text).toString('base64')]).replace(
      'Content-Type: message/delivery-status',
      'Content-Type: message/delivery-status\r\nContent-Transfer-Encoding: base64',
    );
    await deliver(encoded);
    expect(events).toMatchObject([{ kind: 'bounced', permanent: true, addresses: ['jan@poczta.example'] }]);
  });

  it('is a complaint', async () => {
    const fields = ['Feedback-Type: abuse', 'User-Agent: SomeGenerator/1.0', 'Version: 1'];
    const to = ['Original-Rcpt-To: <jan@poczta.example>', 'Original-Mail-From: <x@send.sklep.example>'];
    await deliver(report([...fields, ...to], { type: 'feedback-report' }), path, 'fbl@poczta.example');
    expect(events).toMatchObject([
      { kind: 'complained', permanent: null, addresses: ['jan@poczta.example'] },
    ]);
    await deliver(report(['Feedback-Type: not-spam', 'Version: 1', ...to], { type: 'feedback-report' }));
    expect(events).toHaveLength(1);
  });
});

describe('what is no report', () => {
  const plain = (headers: string[]) =>
    [...headers, 'Subject: failure notice', '', 'Hi. This is the qmail-send.'].join('\r\n');

  it('is a bounce where it has no sender', async () => {
    await deliver(plain(['From: <>']));
    await deliver(plain([]), path, 'MAILER-DAEMON@x.example');
    await deliver(plain(['X-Failed-Recipients: a@x.example, b@x.example', 'Auto-Submitted: auto-replied']));
    expect(events).toMatchObject([
      { kind: 'bounced', permanent: false, addresses: [], payload: { text: 'Hi. This is the qmail-send.' } },
      { kind: 'bounced', permanent: false, addresses: [] },
      { kind: 'bounced', permanent: false, addresses: ['a@x.example', 'b@x.example'] },
    ]);
  });

  it.each([
    ['Exim', ['From: Mail Delivery System <Mailer-Daemon@mx.example>', 'Auto-Submitted: auto-replied']],
    ['Postfix', ['From: MAILER-DAEMON@mx.example (Mail Delivery System)', 'Auto-Submitted: auto-replied']],
    ['Exchange', ['From: <postmaster@sklep.example>', 'X-Auto-Response-Suppress: All']],
    ['an appliance', ['From: "jan@x.example" <MAILER-DAEMON@x.example>', 'Precedence: auto_reply']],
    ['a host’s own', ['From: root <root@x.example>', 'Auto-Submitted: auto-generated']],
    ['one without a domain', ['From: MAILER-DAEMON', 'X-Autoreply: yes']],
  ])('is a bounce where a mail server says so, whatever marks it has: %s', async (_, headers) => {
    await deliver(plain(headers));
    await deliver(plain(headers), path, 'mail@x.example');
    expect(events).toMatchObject([{ kind: 'bounced', permanent: false }, { kind: 'bounced' }]);
  });

  it('is none where a mail server is still trying', async () => {
    const exim = ['From: Mail Delivery System <Mailer-Daemon@mx.example>', 'Auto-Submitted: auto-replied'];
    for (const subject of [
      'Warning: message 1tG5Xy-0001 delayed 24 hours',
      'Delivery Status Notification (Delay)',
      'Warning: could not send message for past 4 hours',
    ])
      await deliver([...exim, `Subject: ${subject}`, '', 'No action is required.'].join('\r\n'));
    expect(events).toEqual([]);
  });

  it('is none where somebody is away, or writes', async () => {
    await deliver(plain(['From: Grooter <rooter@x.example>', 'Precedence: auto_reply']));
    await deliver(plain(['Auto-Submitted: auto-replied (vacation)']));
    await deliver(plain(['X-Autoreply: yes']));
    await deliver('Subject: Automatic reply: Zamówienie\r\n\r\nI am away.');
    await deliver('Subject: Re: Zamówienie\r\n\r\nDziękuję', path, 'jan@poczta.example');
    expect(events).toEqual([]);
  });
});

describe('whoever is no mail server of a recipient', () => {
  const bounce = report([...MTA, ...failed('jan@poczta.example')]);

  it('gets nowhere with a return path that is not ours', async () => {
    const [local, host] = path.split('@') as [string, string];
    const forged = [
      returnPath('x'.repeat(43), id, 'sklep.example'),
      `${local}@send.other.example`,
      `${local.slice(0, -1)}${local.endsWith('0') ? '1' : '0'}@${host}`,
      `b-${newId('em').slice(3)}-${local.slice(-20)}@${host}`,
      `b-${id.slice(3)}-@${host}`,
      'postmaster@mail.goniec.example',
      'jan@poczta.example',
    ];
    for (const address of forged) expect(await deliver(bounce, address)).toBe('550');
    expect(events).toEqual([]);
  });

  it('does with one that was made with the key before, for as long as that is good', async () => {
    const old = port;
    const bounceOld = returnPath('o'.repeat(43), id, 'sklep.example');
    port = await freePort();
    const key = { returnPathKey: 'o'.repeat(43) };
    const other = listening({
      returnPathKey: RETURN_PATH_KEY,
      former: { ...key, until: Date.now() + 3_600_000 },
    });
    other.start(handlers);
    await eventually(isOpen, Boolean);
    expect(await deliver(bounce, bounceOld)).toMatch(/^250/);
    await other.stop();
    port = old;
  });

  it('is to come again where it could not be stored', async () => {
    refuses = true;
    expect(await deliver(bounce)).toBe('451');
    expect(errors).toHaveLength(1);
    refuses = false;
    expect(await deliver(bounce)).toMatch(/^250/);
    expect(events).toHaveLength(1);
  });

  it('is limited in size, and in recipients', async () => {
    expect(await raw(['EHLO x', 'MAIL FROM:<> SIZE=26000000'])).toContain('\n552 ');
    expect(await deliver(Buffer.concat([LARGE, LARGE]))).toBe('552');
    expect(await deliver(`Subject: Re: x\r\n\r\n${'y\r\n'.repeat(300_000)}`, path, 'jan@x.example')).toMatch(
      /^250/,
    );
    expect(
      await raw(['EHLO x', 'MAIL FROM:<>', `RCPT TO:<${path}>`, 'DATA'], 'y'.repeat(26_000_000)),
    ).toContain('552');
    const another = returnPath(RETURN_PATH_KEY, newId('em'), 'sklep.example');
    const answers = await raw(['EHLO x', 'MAIL FROM:<>', `RCPT TO:<${path}>`, `RCPT TO:<${another}>`]);
    expect(answers).toContain('452 ');
    expect(await raw(['EHLO x', 'AUTH PLAIN AGEAYg=='])).toMatch(/\r\n50[0-9] /);
    expect(events).toEqual([]);
  });

  it('has so many messages in a connection, and about an e-mail in an hour', async () => {
    const flooded = returnPath(RETURN_PATH_KEY, newId('em'), 'sklep.example');
    const message = ['MAIL FROM:<>', `RCPT TO:<${flooded}>`, 'DATA', 'Subject: x\r\n\r\ny\r\n.'];
    const connection = () => raw(['EHLO x', ...Array.from({ length: 60 }, () => message).flat()]);
    for (let i = 0; i < 4; i += 1) {
      const answers = await connection();
      expect(answers.match(/^250 .*Taken/gm)).toHaveLength(50);
      expect(answers).toMatch(/421 .*Too many\r\n$/);
    }
    expect(events).toHaveLength(200);
    expect(await deliver(bounce, flooded)).toBe('452');
    expect(await deliver(bounce)).toMatch(/^250/);
  });

  it('does not keep others out, as many addresses of a network as they come from', async () => {
    const sockets: Socket[] = [];
    const comes = async (number: number): Promise<string> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.7.${number}` });
      sockets.push(socket);
      return (await firstWord(socket)).slice(0, 3);
    };
    try {
      for (let number = 1; number <= 10; number += 1) expect(await comes(number)).toBe('220');
      const more = await Promise.all(Array.from({ length: 100 }, (_, index) => comes(index + 11)));
      expect(more.filter((answer) => answer === '220')).toEqual([]);
      // The ten stay, and hold their places.
      expect(await deliver(bounce, path, '', '127.0.8.1')).toMatch(/^250/);
      expect(await comes(200)).toBe('421');
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    expect(
      await eventually(
        () => deliver(bounce, path, '', '127.0.7.99'),
        (answer) => answer.startsWith('250'),
      ),
    ).toMatch(/^250/);
  });

  it.each<[string, BounceLimits, (socket: Socket) => void]>([
    ['that is silent', { silenceMs: 300, connectionMs: 600_000 }, () => undefined],
    [
      'that goes on for ever',
      { silenceMs: 600_000, connectionMs: 1_000 },
      (socket) => {
        const saying = setInterval(() => socket.write('NOOP\r\n'), 100);
        socket.once('close', () => clearInterval(saying));
      },
    ],
  ])('does not keep a connection %s', async (_, limits, begin) => {
    const usual = port;
    port = await freePort();
    const other = listening({ returnPathKey: RETURN_PATH_KEY }, limits);
    other.start(handlers);
    try {
      await eventually(isOpen, Boolean);
      const socket = connect(port, '127.0.0.1', () => begin(socket));
      socket.resume().on('error', () => undefined);
      await once(socket, 'close');
    } finally {
      await other.stop();
      port = usual;
    }
  });

  it('sends what is no message', async () => {
    const nested = (depth: number): string =>
      depth === 0
        ? 'x'
        : `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${nested(depth - 1)}`;
    const many = `Content-Type: multipart/report; boundary=b\r\n\r\n${'--b\r\n\r\n'.repeat(100_000)}`;
    const folded = `Content-Type: multipart/report\r\n${' x\r\n'.repeat(200_000)}\r\n`;
    const groups = report([
      ...MTA,
      ...Array.from({ length: 5_000 }, (_, i) => [...failed(`a${i}@x.example`).slice(0, 4), '']).flat(),
    ]);
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 256));
    const nul = report([
      ...MTA,
      'Final-Recipient: rfc822; a\0b@x.example',
      'Action: failed',
      'Diagnostic-Code: \0\x1b',
    ]);
    const header = 'X-Failed-Recipients: a\0b@x.example, \0@\x1b.example\r\n\r\nno';
    const blank = report([...MTA, ' '.repeat(400_000), `Action:${' '.repeat(300_000)}failed`]);
    const all = [
      nested(500),
      many,
      folded,
      bytes,
      nul,
      header,
      blank,
      '',
      '\r\n\r\n',
      ':',
      'a'.repeat(900_000),
    ];
    for (const one of all) {
      expect(await deliver(one === '' ? '\r\n' : one)).toMatch(/^250/);
    }
    expect(JSON.stringify(events)).not.toMatch(/\\u0000|\\u001b/);
    events = [];
    await deliver(groups);
    expect(events).toHaveLength(100);
    for (const { payload } of events) expect(JSON.stringify(payload).length).toBeLessThan(64_000);
  });
});

describe('the port', () => {
  it('may be another worker’s: that is tried again in silence', async () => {
    const second = listening();
    second.start(handlers);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(errors).toEqual([]);
    await second.stop();
    expect(await isOpen()).toBe(true);
  });
});

/** What a connection is greeted with; nothing where it is closed. */
const firstWord = (socket: Socket): Promise<string> =>
  new Promise((resolve) =>
    socket
      .on('error', () => resolve(''))
      .once('data', (text) => resolve(String(text)))
      .once('close', () => resolve('')),
  );

/** Says these lines one after the other, each after an answer. */
function raw(lines: string[], message?: string): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1');
    let answers = '';
    const left = [...lines, ...(message === undefined ? [] : [`${message}\r\n.`]), 'QUIT'];
    socket.on('data', (text) => {
      answers += String(text);
      if (!/^[0-9]{3} .*\r\n$/m.test(String(text))) return;
      const next = left.shift();
      if (next !== undefined) socket.write(`${next}\r\n`);
    });
    socket.on('error', () => resolve(answers)).on('close', () => resolve(answers));
  });
}
