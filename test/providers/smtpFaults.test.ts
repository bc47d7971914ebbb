import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Connection } from '../../providers/smtp/connection.ts';
import { inTransactions } from '../../providers/smtp/connections.ts';
import { testSmtpRoute } from '../../providers/smtp/provider.ts';
import { smtpCredentials, smtpSettings } from '../../providers/smtp/settings.ts';
import {
  aFile,
  anEmail,
  LOGIN,
  openRoute,
  type OpenRoute,
  RETURN_PATH_KEY,
  working,
} from '../smtp/client.ts';
import { type Fault, type FaultServer, type Stage, startFaultServer } from '../smtp/faultServer.ts';
import { type Relay, startRelay } from '../smtp/relay.ts';
import { eventually } from '../support/eventually.ts';
import { stopClock } from '../support/stopClock.ts';
import { until } from './until.ts';

const MINUTE = 60_000;
// More than a hand-over may take.
const TOO_LONG = 5 * MINUTE;
let server: FaultServer;
let route: OpenRoute;

beforeEach(async () => {
  server = await startFaultServer();
  route = openRoute({ port: server.port, security: 'none', connectSeconds: 60 }, {});
  await working(route);
});
afterEach(async () => {
  await route.provider.stop();
  await server.close();
});

const at = (wanted: Stage, fault: Fault) => (stage: Stage) => (stage === wanted ? fault : null);
const refusing = (replies: Record<string, string>) => (stage: Stage, line: string) => {
  const reply = Object.entries(replies).find(([address]) => stage === 'RCPT' && line.includes(address))?.[1];
  return reply === undefined ? null : { reply };
};
// In pieces, as files are read: of one that was handed over whole nobody knows how much has gone out.
const PIECE = 150_000;
const large = (bytes = 300_000) =>
  anEmail({
    attachments: [
      aFile(
        'a.bin',
        Array.from({ length: bytes / PIECE }, () => Buffer.alloc(PIECE, 7)),
      ),
    ],
  });
// More than the buffers between two sockets hold.
const OVERFLOWING = 18_000_000;

describe('a relay that answers with no', () => {
  const cases: [string, Stage, string, object][] = [
    ['goes at the sender', 'MAIL', '421 no', { kind: 'throttled', retryAfterMs: 30_000, code: '421' }],
    ['is busy', 'MAIL', '451 4.3.2 busy', { kind: 'throttled', code: '451 4.3.2' }],
    ['puts the sender off', 'MAIL', '451 4.7.1 later', { kind: 'later', code: '451 4.7.1' }],
    [
      'takes no such sender',
      'MAIL',
      '550 5.1.8 no',
      { kind: 'refused', reason: 'sender_refused', code: '550 5.1.8' },
    ],
    ['wants a login', 'MAIL', '530 5.7.0 login', { kind: 'broken', code: '530 5.7.0' }],
    ['takes no more in size', 'MAIL', '552 5.3.4 no', { kind: 'refused', reason: 'content_refused' }],
    ['has a quota that is used up', 'dot', '550 5.4.5 Daily limit', { kind: 'broken', code: '550 5.4.5' }],
    [
      'takes nothing',
      'dot',
      '554 5.3.2 system not accepting messages',
      { kind: 'broken', code: '554 5.3.2' },
    ],
    ['says nothing of why', 'dot', '554 5.3.0 no', { kind: 'refused', reason: 'content_refused' }],
    ['lists us grey', 'RCPT', '450 4.2.0 grey', { kind: 'later', code: '450 4.2.0' }],
    ['closes at a recipient', 'RCPT', '421 4.3.2 busy', { kind: 'later', code: '421 4.3.2' }],
    [
      'knows no recipient',
      'RCPT',
      '550 5.1.1 who?',
      {
        ...{ kind: 'refused', reason: 'recipients_refused', code: '550 5.1.1' },
        refused: [{ address: 'jan@poczta.example', code: '550 5.1.1' }],
      },
    ],
    ['wants a login at a recipient', 'RCPT', '530 no', { kind: 'broken', code: '530' }],
    [
      'takes no message',
      'DATA',
      '554 5.7.1 no',
      { kind: 'refused', reason: 'content_refused', code: '554 5.7.1' },
    ],
    ['knows no such command', 'DATA', '500 5.5.1 what?', { kind: 'broken', code: '500 5.5.1' }],
    [
      'takes no such lines',
      'dot',
      '500 5.5.2 line too long',
      { kind: 'refused', reason: 'content_refused', code: '500 5.5.2' },
    ],
    ['says no more than a number', 'dot', '554', { kind: 'refused', reason: 'content_refused', code: '554' }],
    ['says numbers in two lines', 'dot', '554-no\r\n554', { kind: 'refused', code: '554' }],
    ['is busy before the message', 'DATA', '421 no', { kind: 'later', code: '421' }],
    ['is busy at the message', 'dot', '451 4.3.2 try again', { kind: 'later', code: '451 4.3.2' }],
    ['goes when it has it', 'dot', '421 4.3.2 bye', { kind: 'later', code: '421 4.3.2' }],
    ['refuses it half way', 'half', '552 5.3.4 no', { kind: 'refused', reason: 'content_refused' }],
  ];
  it.each(cases)('%s', async (_name, stage, reply, answer) => {
    for (const extensions of [['PIPELINING'], []]) {
      server.extensions = extensions;
      // What it offers is read at the beginning of a connection.
      server.hangUp();
      server.fault = at(stage, { reply });
      expect(await route.send(stage === 'half' ? large() : anEmail())).toMatchObject(answer);
      // Nothing of it is left on the connection.
      server.fault = () => null;
      const next = anEmail();
      expect(await route.send(next)).toMatchObject({ kind: 'accepted' });
      expect(server.taken.at(-1)).toBe(next.id);
    }
    expect(server.taken).toHaveLength(2);
  });

  it('shows staff its codes, and nothing that it wrote', async () => {
    server.fault = at('greeting', { reply: '554 5.7.1 jan@poczta.example is not welcome' });
    const other = openRoute({ port: server.port, security: 'none' }, {});
    await eventually(
      () => Promise.resolve(other.provider.state()),
      ({ lastError }) => lastError !== null,
    );
    expect(other.provider.state()).toMatchObject({
      takesSubmits: false,
      lastError: 'the relay answered 554 5.7.1',
    });
    expect(await other.send(anEmail())).toEqual({ kind: 'broken', code: 'no_session' });
    await other.provider.stop();
  });

  it('waits longer the longer it is put off', async () => {
    server.fault = at('dot', { reply: '451 4.7.1 later' });
    const pause = async (ageMs: number) => {
      const answer = await route.send(anEmail({ createdAt: new Date(Date.now() - ageMs) }));
      return answer.kind === 'later' ? answer.retryAfterMs : null;
    };
    const [young, old] = [await pause(1_000), await pause(100 * MINUTE)];
    expect(young).toBeLessThan(MINUTE);
    expect(old).toBeGreaterThan(7 * MINUTE);
    expect(old).toBeLessThan(13 * MINUTE);
  });
});

describe('a relay that takes an e-mail for some', () => {
  const to = ['Jan@poczta.example', 'ola@poczta.example', 'ewa@żółw.example'];

  it('names those whom it was not taken for', async () => {
    server.fault = refusing({ 'ola@': '550 5.1.1 who?', 'ewa@': '553 5.1.3 what?' });
    const refused = [
      { address: 'ola@poczta.example', code: '550 5.1.1', permanent: true },
      { address: 'ewa@żółw.example', code: '553 5.1.3', permanent: true },
    ];
    expect(await route.send(anEmail({ to }))).toMatchObject({ kind: 'accepted', refused });
    expect(server.commands).toContain('RCPT TO:<ewa@xn--w-uga1v8h.example>');
  });

  it('names each of them where it takes it for none', async () => {
    server.fault = refusing({
      'Jan@': '550 5.1.1 who?',
      'ola@': '550 5.1.1 who?',
      'ewa@': '553 5.1.3 what?',
    });
    expect(await route.send(anEmail({ to: [...to, 'kein@@x.example'] }))).toEqual({
      ...{ kind: 'refused', reason: 'recipients_refused', code: '550 5.1.1' },
      refused: [
        { address: 'kein@@x.example', code: 'address', permanent: true },
        { address: 'Jan@poczta.example', code: '550 5.1.1', permanent: true },
        { address: 'ola@poczta.example', code: '550 5.1.1', permanent: true },
        { address: 'ewa@żółw.example', code: '553 5.1.3', permanent: true },
      ],
    });
    expect(server.taken).toEqual([]);
  });

  it('waits a while for those that it puts off, and nobody has it meanwhile', async () => {
    server.fault = refusing({ 'ola@': '450 4.2.0 grey' });
    expect(await route.send(anEmail({ to }))).toMatchObject({ kind: 'later', code: '450 4.2.0' });
    expect(server.taken).toEqual([]);
    const refused = [{ address: 'ola@poczta.example', code: '450 4.2.0', permanent: false }];
    const old = anEmail({ to, createdAt: new Date(Date.now() - 20 * MINUTE) });
    expect(await route.send(old)).toMatchObject({ kind: 'accepted', refused });
    expect(server.taken).toEqual([old.id]);
  });

  it.each([
    ['550 no such user', true],
    ['550-we looked, but\r\n550 <ola@poczta.example>: User unknown', true],
    ['551 5.1.6 moved', true],
    ['550 host mx.poczta.example[192.0.2.1] said: 550 no such user (in reply to RCPT TO command)', true],
    ['553 mailbox not found', true],
    ['550 5.0.0 unknown user', true],
    ['550 no', false],
    ["553 5.1.1 Sorry, that domain isn't in my list of allowed rcpthosts.", false],
    ['550 5.1.1 host mx.poczta.example[192.0.2.1] said: 554 5.7.1 Relay access denied', false],
    ['550 5.7.1 User unknown to our policy', false],
    ['554 User unknown', false],
    ['550 5.2.1 disabled', true],
    ['552 5.2.2 full', false],
  ])('%s: the address will never take anything: %s', async (reply, permanent) => {
    server.fault = refusing({ 'ola@': reply });
    expect(await route.send(anEmail({ to }))).toMatchObject({
      kind: 'accepted',
      refused: [{ address: 'ola@poczta.example', permanent }],
    });
  });

  it.each([
    '550 relay not permitted',
    '454 4.7.1 <ola@poczta.example>: Relay access denied',
    '550 5.7.1 Unable to relay',
    "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
  ])('is broken where it relays to nobody: %s', async (reply) => {
    server.fault = (stage) => (stage === 'RCPT' ? { reply } : null);
    const broken = { kind: 'broken', code: /^[45][0-9]{2}( [45]\.7\.1)?/.exec(reply)![0] };
    expect(await route.send(anEmail())).toMatchObject(broken);
    expect(await route.send(anEmail({ to }))).toMatchObject(broken);
    server.fault = refusing({ 'Jan@': '450 4.2.0 grey', 'ola@': reply, 'ewa@': reply });
    expect(await route.send(anEmail({ to }))).toMatchObject({ kind: 'later', code: '450 4.2.0' });
    expect(server.taken).toEqual([]);
  });

  it('is not trusted where it says something that is no answer', async () => {
    server.fault = refusing({ 'ola@': 'perhaps' });
    expect(await route.send(anEmail({ to }))).toEqual({ kind: 'broken', code: 'not_understood' });
    expect(server.taken).toEqual([]);
    // Not for ever: the others wait for it.
    const old = anEmail({ to, createdAt: new Date(Date.now() - 20 * MINUTE) });
    expect(await route.send(old)).toMatchObject({
      kind: 'accepted',
      refused: [{ address: 'ola@poczta.example', code: 'not_understood', permanent: false }],
    });
    expect(server.taken).toEqual([old.id]);
  });
});

describe('a relay that takes two recipients in a transaction', () => {
  const all = ['jan', 'ola', 'ewa', 'iza', 'leo'].map((name) => `${name}@poczta.example`);
  /** @param others what goes wrong beside that, in the transaction of this number */
  const tightly =
    (others: (transaction: number, stage: Stage, line: string) => Fault | null = () => null) =>
    (stage: Stage, line: string): Fault | null => {
      if (stage === 'MAIL') [transactions, named] = [transactions + 1, 0];
      const other = others(transactions, stage, line);
      if (other !== null || stage !== 'RCPT') return other;
      named += 1;
      return named > 2 ? { reply: '452 4.5.3 too many recipients' } : null;
    };
  let transactions: number;
  let named: number;
  beforeEach(() => ([transactions, named] = [0, 0]));
  const namedTo = () =>
    server.commands.filter((line) => line.startsWith('RCPT')).map((line) => /<([a-z]+)@/.exec(line)?.[1]);

  it('gets the others in further ones, each once, at once and as the same message', async () => {
    for (const extensions of [['PIPELINING'], []]) {
      server.extensions = extensions;
      server.commands.length = 0;
      const messages: string[] = [];
      transactions = 0;
      server.fault = tightly((_, stage, message) => {
        if (stage === 'dot') messages.push(message);
        return null;
      });
      const email = anEmail({ to: all });
      expect(await route.send(email)).toEqual({
        kind: 'accepted',
        providerEmailId: `${email.id}@sklep.example`,
      });
      expect(server.taken.splice(0)).toEqual([email.id, email.id, email.id]);
      expect(namedTo()).toEqual(['jan', 'ola', 'ewa', 'iza', 'leo', 'ewa', 'iza', 'leo', 'leo']);
      expect(new Set(messages).size).toBe(1);
      expect(messages[0]).toContain('DKIM-Signature:');
    }
  });

  const noRoom = (name: string) => ({
    address: `${name}@poczta.example`,
    code: '452 4.5.3',
    permanent: false,
  });
  it.each<[string, Stage, Fault, object]>([
    [
      'refuses one of those',
      'RCPT',
      { reply: '550 5.1.1 who?' },
      ['ewa', 'iza', 'leo'].map((name) => ({ ...noRoom(name), code: '550 5.1.1', permanent: true })),
    ],
    ['refuses the message then', 'dot', { reply: '550 no' }, ['ewa', 'iza', 'leo'].map(noRoom)],
    ['is gone then', 'MAIL', 'reset', ['ewa', 'iza', 'leo'].map(noRoom)],
  ])('and %s: they are named, and the others have it once', async (_, stage, fault, refused) => {
    server.fault = tightly((transaction, at) => (transaction > 1 && at === stage ? fault : null));
    const email = anEmail({ to: all });
    expect(await route.send(email)).toMatchObject({ kind: 'accepted', refused });
    expect(server.taken).toEqual([email.id]);
    expect(namedTo().slice(5)).not.toContain('jan');
  });

  it('and does not answer the second time: nobody is named, as they may have it', async () => {
    server.fault = tightly((transaction, stage) => (transaction > 1 && stage === 'taken' ? 'reset' : null));
    const answer = await route.send(anEmail({ to: all }));
    expect(answer).toMatchObject({ kind: 'accepted' });
    expect(answer).not.toHaveProperty('refused');
    expect(transactions).toBe(2);
  });

  it('and has no time left: the rest is named', async () => {
    const rest = { address: 'ola@poczta.example', reply: { code: 452, enhanced: '4.5.3', subject: null } };
    let handed = 0;
    const connection: Connection = {
      handOver() {
        handed += 1;
        return Promise.resolve({ kind: 'taken', refused: [rest] });
      },
      ...{ usable: () => true, end: () => undefined },
    };
    const outgoing = {
      ...{ from: '', to: [], bytes: 0 },
      content: () => Readable.from([]),
      goOn: () => true,
    };
    const result = await inTransactions(connection, outgoing, { wholeMs: 1_000, leastMs: 2_000 });
    expect(result).toMatchObject({ kind: 'taken', refused: [rest] });
    expect(handed).toBe(1);
  });
});

describe('the bounces of a relay', () => {
  it.each([
    [['SIZE 30000000', 'DSN', 'PIPELINING'], ' RET=HDRS'],
    [['PIPELINING'], ''],
  ])('leave the files out where it offers that: %j', async (extensions, ret) => {
    server.extensions = extensions;
    server.hangUp();
    server.commands.length = 0;
    expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
    const named = server.commands.filter((line) => /^(MAIL|RCPT)/.test(line));
    expect(named[0]).toMatch(new RegExp(`^MAIL FROM:<b-[^>]+>( SIZE=[0-9]+)?${ret}$`));
    // Who wants to know of what is as before: of failures and delays.
    expect(named.slice(1)).toEqual(['RCPT TO:<jan@poczta.example>']);
  });
});

describe('a connection that breaks', () => {
  /** Has the route give an e-mail to a relay that does this, and where it would wait for ever lets time pass. */
  async function sendTo(
    stage: Stage,
    fault: 'reset' | 'silence' | 'drip',
    email: Parameters<OpenRoute['send']>[0],
  ): ReturnType<OpenRoute['send']> {
    const clock = stopClock();
    let come = false;
    server.fault = (now) => {
      if (now !== stage) return null;
      come = true;
      return fault;
    };
    const sending = route.send(email);
    if (fault !== 'reset') {
      await until(() => come);
      await clock.pass(TOO_LONG);
    }
    return sending;
  }

  const before: Stage[] = ['MAIL', 'RCPT', 'DATA', 'half'];
  const broken = before.flatMap((stage) =>
    (['reset', 'silence', 'drip'] as const).map((f) => [stage, f] as const),
  );
  it.each(broken)('before the message was written: %s, %s', async (stage, fault) => {
    const readsOn = stage === 'half' && fault !== 'reset';
    const email = large(stage === 'half' && !readsOn ? OVERFLOWING : undefined);
    const answer = await sendTo(stage, fault, email);
    // Where it reads on without a reply, all of it may have gone out.
    const all = readsOn ? ['unanswered', 'broken'] : ['broken'];
    expect(all).toContain(answer.kind);
    expect(server.taken).toEqual([]);
  });

  it.each(['reset', 'silence', 'drip'] as const)('after it: %s', async (fault) => {
    expect(await sendTo('dot', fault, anEmail())).toMatchObject({ kind: 'unanswered' });
  });

  it.each(['reset', 'silence', 'drip'] as const)('when it was taken: %s', async (fault) => {
    const email = anEmail();
    expect(await sendTo('taken', fault, email)).toMatchObject({ kind: 'unanswered' });
    expect(server.taken).toEqual([email.id]);
  });

  it('is given up long before all the time is over where it is silent', async () => {
    const other = openRoute({ port: server.port, security: 'none', responseSeconds: 0.5 }, {});
    await working(other);
    // Past this, only the silence is measured.
    stopClock();
    server.fault = at('MAIL', 'silence');
    expect(await other.send(anEmail())).toMatchObject({ kind: 'broken' });
    await other.provider.stop();
  });

  it('does not count with what is no answer', async () => {
    server.fault = at('dot', { reply: 'hm' });
    expect(await route.send(anEmail())).toMatchObject({ kind: 'unanswered' });
  });

  it('is replaced where the relay has closed it while it was idle', async () => {
    expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
    server.commands.length = 0;
    server.hangUp();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
    expect(server.commands.filter((line) => line.startsWith('EHLO'))).toHaveLength(1);
  });

  it('is kept for the next e-mail, and is opened anew after so many', async () => {
    const other = openRoute({ port: server.port, security: 'none', messagesPerConnection: 3 }, {});
    await working(other);
    server.commands.length = 0;
    for (let i = 0; i < 7; i++) await other.send(anEmail());
    expect(server.commands.filter((line) => line.startsWith('EHLO'))).toHaveLength(3);
    await other.provider.stop();
  });
});

it('a relay that breaks off at one e-mail keeps the route open for the others', async () => {
  server.fault = (stage, line) =>
    stage === 'dot' && line.includes('obfuscated') ? { reply: '503 5.5.1 no' } : null;
  const disliked = anEmail({ text: 'obfuscated' });
  for (let n = 0; n < 5; n += 1) expect(await route.send(disliked)).toMatchObject({ kind: 'broken' });
  expect(route.provider.state()).toMatchObject({ takesSubmits: true, failures: 5 });
  expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
});

describe('a relay that refuses to relay', () => {
  const DENIED = '550 5.7.64 TenantAttribution; Relay Access Denied';
  /** Of these sender domains' e-mails, in answer to that. */
  const denyingAt =
    (wanted: Stage, domains: readonly string[], reply = DENIED) =>
    (stage: Stage, line: string) => {
      if (stage === 'MAIL') sender = /@send\.([^>]+)>/.exec(line)?.[1] ?? '';
      return stage === wanted && domains.includes(sender) ? { reply } : null;
    };
  let sender: string;
  beforeEach(() => (sender = ''));
  const from = (accountId: string, name: string, fields: Parameters<typeof anEmail>[0] = {}) => {
    const email = anEmail({ accountId, ...fields });
    return { ...email, from: { address: `sklep@${name}`, name: null }, domain: { ...email.domain, name } };
  };
  const domainsOf = (count: number) => Array.from({ length: count }, (_, n) => `shop${n}.example`);

  it.each<[Stage, string]>([
    ['RCPT', DENIED],
    ['RCPT', '454 4.7.1 <jan@poczta.example>: Relay access denied'],
    [
      'MAIL',
      '550-5.7.0 Mail relay denied [192.0.2.1]. Invalid credentials for relay for\r\n550 5.7.0 one of',
    ],
    ['MAIL', '421 4.7.0 Mail relay denied [192.0.2.1]'],
    ['DATA', DENIED],
    ['dot', DENIED],
  ])(
    'to one account keeps the route open for the others, however many e-mails and domains it has: %s, %s',
    async (stage, reply) => {
      const domains = domainsOf(5);
      server.fault = denyingAt(stage, domains, reply);
      for (const [n, name] of domains.entries()) {
        const code = expect.stringMatching(reply.slice(0, 3)) as string;
        expect(await route.send(from('cl_denied', name))).toMatchObject({ kind: 'broken', code });
        if (n === 2) expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
      }
      expect(route.provider.state()).toMatchObject({ takesSubmits: true, failures: 5 });
      expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
    },
  );

  it('to three accounts in a row closes the route until it can be connected to', async () => {
    const domains = domainsOf(3);
    const denying = denyingAt('RCPT', domains);
    server.fault = denying;
    expect(await route.send(from('cl_0', domains[0]!))).toMatchObject({ kind: 'broken' });
    // The connection is there already, and nobody gets another one.
    server.fault = (stage, line) => (stage === 'greeting' ? 'reset' : denying(stage, line));
    expect(await route.send(from('cl_1', domains[1]!))).toMatchObject({ kind: 'broken' });
    expect(route.provider.state()).toMatchObject({ takesSubmits: true });
    expect(await route.send(from('cl_2', domains[2]!))).toMatchObject({ kind: 'broken' });
    expect(route.provider.state()).toMatchObject({ takesSubmits: false });
    expect(await route.send(anEmail())).toEqual({ kind: 'broken', code: 'no_session' });
    server.fault = () => null;
    await working(route);
    expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
  });

  it.each<Stage>(['MAIL', 'RCPT'])('is asked again the later the older the e-mail is: %s', async (stage) => {
    server.fault = denyingAt(stage, ['shop0.example']);
    const pause = async (ageMs: number) => {
      const createdAt = new Date(Date.now() - ageMs);
      const answer = await route.send(from('cl_0', 'shop0.example', { createdAt }));
      return answer.kind === 'broken' ? answer.ofSender?.retryAfterMs : undefined;
    };
    const [young, old] = [await pause(1_000), await pause(100 * MINUTE)];
    expect(young).toBeGreaterThan(20_000);
    expect(young).toBeLessThan(MINUTE);
    expect(old).toBeGreaterThan(7 * MINUTE);
    expect(old).toBeLessThan(13 * MINUTE);
  });
});

describe('a relay that quotes what a recipient’s server says of relaying', () => {
  const mx = 'host mx.poczta.example[192.0.2.1]';
  const quoted = [
    `550 5.1.1 <jan@poczta.example>: Recipient address rejected: undeliverable address: ${mx} said: 554 5.7.1 <jan@poczta.example>: Relay access denied (in reply to RCPT TO command)`,
    `550 5.1.1 <jan@poczta.example>: ${mx} refused to talk to me: 554 Relay access denied`,
    '550-Callout verification failed:\r\n550 550 relay not permitted',
    '550 response to "RCPT TO:<jan@poczta.example>" was: 550 relay not permitted',
    '550 5.1.1 SMTP error from remote mail server after RCPT TO: mx.poczta.example: 550 relay not permitted',
    "550 5.1.1 Remote host said: 553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
    "550 5.1.10 Remote Server returned '550 5.7.1 Unable to relay'",
    '550 5.1.1 The mail server responded: Relaying denied',
    '550 5.1.1 The response from the remote server was: 550 relay not permitted',
    '550 5.1.1 <jan@poczta.example>: mx.poczta.example: 554 5.7.1 Relay access denied',
  ];
  it.each(quoted)('refuses those recipients, and that is all: %s', async (reply) => {
    server.fault = at('RCPT', { reply });
    for (let n = 0; n < 4; n += 1) {
      expect(await route.send(anEmail({ accountId: `cl_${n}` }))).toMatchObject({
        ...{ kind: 'refused', reason: 'recipients_refused' },
        refused: [{ address: 'jan@poczta.example', permanent: false }],
      });
    }
    server.fault = () => null;
    expect(route.provider.state()).toMatchObject({ takesSubmits: true, failures: 0 });
    expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
  });

  it('puts off where it puts off', async () => {
    server.fault = at('RCPT', {
      reply: `450 4.1.1 <jan@poczta.example>: unverified address: ${mx} said: 454 4.7.1 Relay access denied`,
    });
    expect(await route.send(anEmail())).toMatchObject({ kind: 'later', code: '450 4.1.1' });
  });

  it.each(['callout@poczta.example', 'said@said.example', "a.'550-5.1.1@poczta.example"])(
    'is not mistaken for one that speaks for itself of a recipient with such a name: %s',
    async (address) => {
      server.fault = at('RCPT', { reply: `554 5.7.1 <${address}>: Relay access denied` });
      expect(await route.send(anEmail({ to: [address] }))).toMatchObject({ kind: 'broken' });
    },
  );
});

describe('what must not leave', () => {
  it('does not', async () => {
    const held = await route.provider.email!.submit(anEmail(), () => Promise.resolve(false));
    expect(held).toEqual({ kind: 'withheld' });
    const failing = () => Promise.reject(new Error('no database'));
    await expect(route.provider.email!.submit(anEmail(), failing)).rejects.toThrow('no database');
    expect(server.commands.some((line) => line.startsWith('MAIL'))).toBe(false);
    expect(route.provider.state().inFlight).toBe(0);
    expect(await route.send(anEmail())).toMatchObject({ kind: 'accepted' });
  });
});

describe('TLS and login', () => {
  let relay: Relay;
  beforeEach(async () => {
    relay = await startRelay();
  });
  afterEach(() => relay.close());
  const tried = (settings: Record<string, unknown>, login: Record<string, unknown> = LOGIN) =>
    testSmtpRoute(
      smtpSettings.parse({
        host: '127.0.0.1',
        mailHost: 'mail.goniec.example',
        connectSeconds: 60,
        ...settings,
      }),
      smtpCredentials.parse({ returnPathKey: RETURN_PATH_KEY, ...login }),
    );

  it('are tried without sending', async () => {
    const works = { ok: true, answer: `127.0.0.1:${relay.port} with TLS and the login` };
    expect(await tried({ port: relay.port, tlsCa: relay.ca })).toEqual(works);
    expect(await tried({ port: relay.port, tlsInsecure: true })).toMatchObject({ ok: true });
    expect(relay.mails).toEqual([]);
  });

  it('trust no certificate of nobody', async () => {
    const answer = await tried({ port: relay.port });
    expect(answer).toEqual({ ok: false, problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const other = await tried({ port: relay.port, tlsCa: relay.ca, tlsServerName: 'other.example' });
    expect(other).toMatchObject({ ok: false, problem: expect.stringContaining('ALTNAME') as string });
  });

  it('are refused with the wrong password', async () => {
    const wrong = await tried({ port: relay.port, tlsCa: relay.ca }, { user: 'goniec', password: 'nie' });
    expect(wrong).toEqual({ ok: false, problem: 'the relay refused the login: 535' });
  });

  it('never go over plain text, and no message does', async () => {
    server.extensions = ['AUTH PLAIN LOGIN'];
    server.commands.length = 0;
    expect(await tried({ port: server.port })).toMatchObject({ ok: false });
    const open = await tried({ port: server.port, security: 'none' });
    expect(open).toMatchObject({ ok: false, problem: expect.stringContaining('plain text') as string });
    expect(server.commands.filter((line) => /^(AUTH|MAIL)/.test(line))).toEqual([]);
    expect(
      smtpSettings.safeParse({ host: 'relay.example', mailHost: 'a.example', security: 'none' }).success,
    ).toBe(false);
  });

  it('work from the first byte too', async () => {
    const secure = await startRelay({ secure: true });
    const settings = { port: secure.port, security: 'tls', tlsCa: secure.ca };
    expect(await tried(settings)).toMatchObject({ ok: true });
    await secure.close();
  });

  it('have their time', async () => {
    const clock = stopClock();
    let connections = 0;
    const silent = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    for (const [n, security] of ['tls', 'starttls', 'none'].entries()) {
      const trying = tried({ port, security }, {});
      await until(() => connections > n);
      await clock.pass(MINUTE);
      expect(await trying).toMatchObject({
        ok: false,
        problem: expect.stringContaining('in time') as string,
      });
    }
    silent.close();
    expect(await tried({ port: 1 })).toEqual({ ok: false, problem: 'ECONNREFUSED' });
  });
});
