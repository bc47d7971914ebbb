import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { createTransport } from 'nodemailer';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '../../../bin/ports.ts';
import { addRoute, addRule, removeRoute, sealCredentials } from '../../../db/routes/routes.ts';
import {
  errorAnswer,
  type Mischief,
  type ResendServer,
  type SentEmail,
  type SignedCall,
  startResend,
  write,
} from '../../providers/resendServer.ts';
import { LOGIN, RETURN_PATH_KEY } from '../../smtp/client.ts';
import { addressesOf, type Relay, type Relayed, startRelay } from '../../smtp/relay.ts';
import { type EarlierAccount, newEarlierAccount } from '../../support/earlierClient.ts';
import {
  giveDomain,
  newDomainName,
  postEmail,
  receiverOf,
  untilEmail,
  type WebhookCall,
} from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { books, database } from '../../support/factories.ts';
import { untilBound } from '../../support/product.ts';

const OPENING = 10_000;
const mark = randomBytes(4).toString('hex');
const RESEND = `resend-${mark}`;
const SMTP = `smtp-${mark}`;
const secretsKey = () => Buffer.from(inject('service').secretsKey, 'base64');

let resend: ResendServer;
let relay: Relay;
let bouncesPort: number;
// Domains that the relay does not relay for, and how often it said so.
const unrelayed = new Set<string>();
let denials = 0;
// A domain whose recipients it asks about first, and the questions that have no answer yet.
let slow: string | null = null;
let asked: (() => void)[] = [];

beforeAll(async () => {
  [resend, relay, bouncesPort] = await Promise.all([
    startResend(),
    startRelay({
      onRcptTo(_address, { envelope: { mailFrom } }, done) {
        const domain = mailFrom === false ? '' : mailFrom.address.replace(/^.*@send\./, '');
        if (domain === slow) return void asked.push(() => done());
        if (!unrelayed.has(domain)) return done();
        denials += 1;
        done(
          Object.assign(new Error('5.7.64 TenantAttribution; Relay Access Denied'), { responseCode: 550 }),
        );
      },
    }),
    freePort(),
  ]);
  const { apiKey, webhookSecret } = resend;
  await open(RESEND, 'resend', { url: resend.url, responseSeconds: 5 }, { apiKey, webhookSecret });
  const listens = { mailHost: 'mail.goniec.example', bounces: `127.0.0.1:${bouncesPort}` };
  await open(
    SMTP,
    'smtp',
    { host: '127.0.0.1', port: relay.port, tlsCa: relay.ca, responseSeconds: 120, ...listens },
    { ...LOGIN, returnPathKey: RETURN_PATH_KEY },
  );
  await Promise.all([untilBound(database(), RESEND, 1), untilBound(database(), SMTP, 1)]);
  await eventually(listensForBounces, Boolean);
});
afterEach(() => {
  resend.always(null);
  unrelayed.clear();
  denials = 0;
  slow = null;
  asked = [];
});
afterAll(async () => {
  for (const route of [RESEND, SMTP]) await removeRoute(database(), route);
  await Promise.all([resend.close(), relay.close()]);
});

async function open(name: string, kind: string, settings: object, credentials: object): Promise<void> {
  await addRoute(database(), {
    ...{ name, kind, state: 'active', settings, ratePerSecond: null, brokenAfterS: 10 },
    credentials: sealCredentials(secretsKey(), name, credentials),
  });
}

const listensForBounces = () =>
  new Promise<boolean>((resolve) => {
    const socket = connect(bouncesPort, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });

/** An account whose e-mails go by these routes, the first one first, from a domain that is verified for them. */
async function sender(...routes: string[]): Promise<EarlierAccount & { domain: string }> {
  const account = await newEarlierAccount({ balance: OPENING });
  for (const [index, route] of routes.entries()) {
    // The more of a rule is said, the sooner it is chosen; either kind carries e-mail alone.
    const type = index === 0 ? ('email' as const) : null;
    const rule = { prefix: '', accountId: account.id, priority: null, weight: 100 };
    await addRule(database(), { ...rule, route, type });
  }
  return { ...account, domain: await domainOf(account, routes) };
}

async function domainOf(account: { id: string }, routes: string[], isDefault = true): Promise<string> {
  const name = await giveDomain(account.id, { name: newDomainName(), routes, isDefault });
  const listed = { id: name, name, status: 'verified', region: 'eu-west-1', created_at: '', records: [] };
  if (routes.includes(RESEND)) resend.domains.push(listed);
  return name;
}

async function send({ v1 }: EarlierAccount, more: object = {}): Promise<string> {
  const email = { to: 'jan@klient.example', subject: 'Temat', text: 'Treść', ...more };
  // A new rule is known after a moment.
  const { status, body } = await eventually(
    () => postEmail(v1, email),
    (answer) => answer.status !== 503,
  );
  expect(status).toBe(200);
  return (body.data as unknown as { id: string }).id;
}

const takenByResend = (id: string) => resend.sent.filter(({ key }) => key === id);
const takenByRelay = (id: string) => relay.mails.filter(({ mail }) => mail.messageId?.includes(id));
async function atResend(id: string): Promise<SentEmail> {
  await eventually(() => Promise.resolve(takenByResend(id).length), Boolean);
  return takenByResend(id)[0]!;
}
async function atRelay(id: string): Promise<Relayed> {
  await eventually(() => Promise.resolve(takenByRelay(id).length), Boolean);
  return takenByRelay(id)[0]!;
}

/** Taken by one provider, once, however often it was tried; charged once, and never refunded. */
async function expectOnce(account: EarlierAccount, id: string, by: string): Promise<void> {
  await untilEmail(account, id, ({ status }) => status === 'sent');
  expect([takenByResend(id).length, takenByRelay(id).length]).toEqual(by === RESEND ? [1, 0] : [0, 1]);
  expect(await entries(id)).toEqual([{ kind: 'charge', amount: -1 }]);
}

const entries = async (id: string) => [
  ...(await database()`
    select kind, amount_grosze::int as amount from ledger_entries where subject_id = ${id} order by id`),
];

/** The provider calls us. @param route whose address; null: the one for all */
async function callBack({ headers, body }: SignedCall, route: string | null = null): Promise<number> {
  const path = route === null ? '/v1/email/callback' : `/v1/email/callback/${route}`;
  const answer = await fetch(`${inject('service').apiUrl}${path}`, { method: 'POST', headers, body });
  await answer.text();
  return answer.status;
}

/** A mail server that could not deliver an e-mail says so. */
async function bounce(to: string, address: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: bouncesPort, ignoreTLS: true });
  const raw = [
    ...['From: MAILER-DAEMON@mx.klient.example', `To: ${to}`, 'Subject: Undelivered'],
    ...['Message-ID: <1@mx.klient.example>', 'MIME-Version: 1.0'],
    ...['Content-Type: multipart/report; report-type=delivery-status; boundary="b"', ''],
    ...['--b', 'Content-Type: text/plain', '', 'Sorry.', ''],
    ...['--b', 'Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; mx.klient.example', ''],
    ...[`Final-Recipient: rfc822; ${address}`, 'Action: failed', 'Status: 5.1.1', '', '--b--', ''],
  ].join('\r\n');
  try {
    await transport.sendMail({ envelope: { from: '', to: [to] }, raw });
  } finally {
    transport.close();
  }
}

const kindsIn = (calls: readonly WebhookCall[], id: string): string[] =>
  calls
    .map(({ raw }) => JSON.parse(raw) as { event: string; email_id: string; kind: string })
    .filter(({ event, email_id }) => event === 'email_event' && email_id === id)
    .map(({ kind }) => kind);
const untilNotified = (calls: WebhookCall[], id: string, kinds: string[]) =>
  eventually(
    () => Promise.resolve(kindsIn(calls, id).toSorted()),
    (found) => found.length >= kinds.length && JSON.stringify(found) === JSON.stringify(kinds.toSorted()),
  );

const files = [randomBytes(700_000), randomBytes(1_000)] as const;
const full = {
  subject: 'Zażółć gęślą jaźń 😀',
  html: '<p>Dzień dobry <img src="cid:logo"></p>',
  text: 'Dzień dobry',
  from_name: 'Sklep „Przykład”, Łódź',
  reply_to: 'biuro@inny.example',
  headers: { 'X-Entity-Ref-ID': 'zam-1' },
  attachments: [
    { filename: 'faktura żółta.pdf', content: files[0].toString('base64') },
    { filename: 'logo.png', content: files[1].toString('base64'), content_id: 'logo' },
  ],
  list_unsubscribe: true,
};

it.each([RESEND, SMTP])('an invitation says its method and charset: %s', async (route) => {
  const calendar = 'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n';
  const attachments = [{ filename: 'termin.ics', content: Buffer.from(calendar).toString('base64') }];
  const id = await send(await sender(route), { attachments });
  const type = 'text/calendar; charset=utf-8; method=REQUEST';
  if (route === RESEND) return expect((await atResend(id)).files).toMatchObject([{ contentType: type }]);
  const { mail, raw } = await atRelay(id);
  expect(mail.attachments[0]!.content.toString()).toBe(calendar);
  expect(raw.toString('latin1').replace(/\r\n[ \t]+/g, ' ')).toContain(`Content-Type: ${type};`);
});

describe('by a route to Resend', () => {
  it('an e-mail arrives as it was asked for, is sent, and can be unsubscribed from', async () => {
    const account = await sender(RESEND);
    const id = await send(account, full);
    const taken = await atResend(id);
    await expectOnce(account, id, RESEND);
    expect(taken.from).toEqual({ address: `noreply@${account.domain}`, name: full.from_name });
    expect(taken.body).toMatchObject({
      ...{ to: ['jan@klient.example'], reply_to: full.reply_to },
      ...{ subject: full.subject, html: full.html, text: full.text },
      tags: [{ name: 'goniec_id', value: id }],
    });
    expect(
      taken.files.map(({ filename, contentType, contentId }) => [filename, contentType, contentId]),
    ).toEqual([
      ['faktura żółta.pdf', 'application/pdf', null],
      ['logo.png', 'image/png', 'logo'],
    ]);
    expect(taken.files.map(({ content }) => content)).toEqual(files);
    const { 'List-Unsubscribe': link, ...others } = taken.body.headers!;
    expect(others).toEqual({
      'X-Entity-Ref-ID': 'zam-1',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    // What mail programs do with that header (RFC 8058).
    const press = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) };
    const { pathname } = new URL(link!.replace(/^<|>$/g, ''));
    expect((await fetch(inject('service').apiUrl + pathname, press)).status).toBe(200);
    expect((await account.v1.get('/v1/email/suppressions')).body.data).toMatchObject({
      suppressions: [{ address: 'jan@klient.example', reason: 'unsubscribe', email_id: id }],
    });
    expect(await books(account.id)).toMatchObject({ balance: OPENING - 1, ledger: OPENING - 1 });
  });

  it('an empty body is the same as none, also for its idx', async () => {
    const account = await sender(RESEND);
    const given = { text: undefined, html: 'Hej', idx: 'zam-1' };
    const id = await send(account, { ...given, text: '' });
    expect((await atResend(id)).body).not.toHaveProperty('text');
    expect(await send(account, given)).toBe(id);
    await expectOnce(account, id, RESEND);
  });

  it('its signed callbacks move the e-mail on and reach the webhook, in any order, each once', async () => {
    const account = await sender(RESEND);
    const calls = await receiverOf(account);
    const id = await send(account);
    const taken = await atResend(id);
    const delivered = resend.event(taken, 'email.delivered');
    expect(await callBack(delivered)).toBe(200);
    await untilEmail(account, id, ({ status }) => status === 'delivered');
    // What was before it comes after it, by the route's own address.
    expect(await callBack(resend.event(taken, 'email.sent'), RESEND)).toBe(200);
    for (const route of [null, RESEND]) expect(await callBack(delivered, route)).toBe(200);
    expect(await callBack(resend.event(taken, 'email.opened', {}, new Date(Date.now() - 240_000)))).toBe(200);
    const email = await untilEmail(account, id, ({ events }) => events.length >= 3);
    expect(email.status).toBe('delivered');
    expect(email.events.map(({ kind }) => kind).toSorted()).toEqual(['delivered', 'opened', 'sent']);
    await untilNotified(calls, id, ['delivered', 'opened', 'sent']);
    expect(await callBack(resend.event(taken, 'email.complained'))).toBe(200);
    expect((await untilEmail(account, id, ({ status }) => status === 'complained')).events).toHaveLength(4);
    await untilNotified(calls, id, ['complained', 'delivered', 'opened', 'sent']);
    expect((await account.v1.get('/v1/email/suppressions')).body.data).toMatchObject({
      suppressions: [{ address: 'jan@klient.example', reason: 'complaint', email_id: id }],
    });
  });

  it('where it takes the e-mail and breaks off, the e-mail is taken and charged once', async () => {
    const account = await sender(RESEND);
    const before = resend.calls.length;
    resend.next((response, take) => take().then(() => response.destroy()));
    const id = await send(account, { attachments: full.attachments });
    await expectOnce(account, id, RESEND);
    const tries = resend.calls.slice(before).filter(({ path }) => path === '/emails');
    expect(tries.length).toBeGreaterThanOrEqual(2);
    for (const { headers } of tries) expect(headers['idempotency-key']).toBe(id);
    expect(await books(account.id)).toMatchObject({ balance: OPENING - 1, ledger: OPENING - 1 });
  });
});

describe('by a route to a mail relay', () => {
  it('an e-mail arrives as it was asked for, signed, and is sent', async () => {
    const account = await sender(SMTP);
    const id = await send(account, full);
    const { mail, from, to, raw, secure } = await atRelay(id);
    await expectOnce(account, id, SMTP);
    expect(secure).toBe(true);
    expect(to).toEqual(['jan@klient.example']);
    expect(from).toMatch(new RegExp(`^b-${id.slice(3)}-[0-9a-f]{20}@send\\.${account.domain}$`));
    expect(mail.from?.value).toEqual([{ address: `noreply@${account.domain}`, name: full.from_name }]);
    expect([mail.subject, mail.text?.trim()]).toEqual([full.subject, full.text]);
    expect(mail.html).toContain('Dzień dobry');
    expect(addressesOf(mail.replyTo)).toEqual([full.reply_to]);
    expect(mail.headers.get('x-entity-ref-id')).toBe('zam-1');
    expect(mail.attachments.map(({ filename, contentType, cid }) => [filename, contentType, cid])).toEqual([
      ['logo.png', 'image/png', 'logo'],
      ['faktura żółta.pdf', 'application/pdf', undefined],
    ]);
    expect(mail.attachments.map(({ content }) => content)).toEqual([files[1], files[0]]);
    const lines = raw.toString('latin1').replace(/\r\n[ \t]+/g, ' ');
    expect(lines).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const signature = /^DKIM-Signature: (.*)\r$/m.exec(lines)?.[1]?.replace(/\s/g, '').toLowerCase() ?? '';
    expect(signature).toContain(`d=${account.domain};`);
    expect(/;h=([^;]*)/.exec(signature)?.[1]?.split(':')).toEqual(
      expect.arrayContaining(['from', 'subject', 'list-unsubscribe', 'list-unsubscribe-post']),
    );
    expect(lines).toMatch(/^List-Unsubscribe: <https:\/\/[^<>]+\/u\/[^<>/]+>\r$/m);
    expect(await books(account.id)).toMatchObject({ balance: OPENING - 1, ledger: OPENING - 1 });
  });

  it('a bounce to its return path puts the address on the suppression list, and reaches the webhook', async () => {
    const account = await sender(SMTP);
    const calls = await receiverOf(account);
    const id = await send(account, { cc: ['kopia@klient.example'] });
    const { from } = await atRelay(id);
    await untilNotified(calls, id, ['sent']);
    // A made-up return path has no valid key.
    await expect(
      bounce(from.replace(/-[0-9a-f]{20}@/, `-${'0'.repeat(20)}@`), 'kopia@klient.example'),
    ).rejects.toThrow('550');
    await bounce(from, 'jan@klient.example');
    await bounce(from, 'jan@klient.example');
    const email = await untilEmail(account, id, ({ status }) => status === 'bounced');
    expect(email.recipients.map(({ state }) => state)).toEqual(['bounced', 'sent']);
    await untilNotified(calls, id, ['bounced', 'sent']);
    // The recipient of the copy may have sent it.
    const suppressions = async () => (await account.v1.get('/v1/email/suppressions')).body.data;
    expect(await suppressions()).toMatchObject({ count: 0 });
    const alone = await send(account);
    await bounce((await atRelay(alone)).from, 'jan@klient.example');
    await untilEmail(account, alone, ({ status }) => status === 'bounced');
    expect(await suppressions()).toMatchObject({
      count: 1,
      suppressions: [{ address: 'jan@klient.example', reason: 'bounce', email_id: alone }],
    });
    // What it cost stays: it was handed over.
    expect(await books(account.id)).toMatchObject({ balance: OPENING - 3, ledger: OPENING - 3 });
  });
});

it('where a mail relay keeps one account’s e-mails for long, another’s go at once', async () => {
  const [held, other] = await Promise.all([sender(SMTP), sender(SMTP)]);
  slow = held.domain;
  // More than a worker has tasks of the route.
  const ids = await Promise.all(Array.from({ length: 24 }, () => send(held)));
  await eventually(
    () => Promise.resolve(asked.length),
    (questions) => questions === 3,
  );
  const id = await send(other);
  await atRelay(id);
  expect(asked).toHaveLength(3);
  await expectOnce(other, id, SMTP);
  slow = null;
  for (const answer of asked) answer();
  for (const one of ids) await atRelay(one);
  for (const one of ids) await expectOnce(held, one, SMTP);
});

it('where a mail relay does not relay for a domain, its e-mails wait, and others’ go', async () => {
  const [denied, other] = await Promise.all([sender(SMTP), sender(SMTP)]);
  unrelayed.add(denied.domain);
  const ids = await Promise.all(Array.from({ length: 3 }, () => send(denied)));
  await eventually(
    () => Promise.resolve(denials),
    (seen) => seen >= ids.length,
  );
  const id = await send(other);
  await expectOnce(other, id, SMTP);
  for (const one of ids) expect((await untilEmail(denied, one, () => true)).status).toBe('queued');
  unrelayed.clear();
  for (const one of ids) await expectOnce(denied, one, SMTP);
});

describe('by two routes, the first of which breaks', () => {
  const broken: Mischief = (response) => write(response, errorAnswer(401, 'restricted_api_key'));
  const tries = (id: string) =>
    resend.calls.filter(({ path, headers }) => path === '/emails' && headers['idempotency-key'] === id)
      .length;

  it('an e-mail takes the other where its domain is verified for both', async () => {
    const account = await sender(RESEND, SMTP);
    resend.always(broken);
    const id = await send(account);
    await expectOnce(account, id, SMTP);
    expect(tries(id)).toBeGreaterThan(0);
  });

  it('and waits for the first where its domain is not verified for the other', async () => {
    const account = await sender(RESEND, SMTP);
    const domain = await domainOf(account, [RESEND], false);
    await workingAgain();
    resend.always(broken);
    const id = await send(account, { from: `a@${domain}` });
    await eventually(
      () => Promise.resolve(tries(id)),
      (count) => count >= 2,
    );
    expect((await untilEmail(account, id, () => true)).status).toBe('queued');
    resend.always(null);
    await expectOnce(account, id, RESEND);
  });

  it('and stays with the first where that may have taken it', async () => {
    const account = await sender(RESEND, SMTP);
    await workingAgain();
    resend.next((_response, take) => take());
    const id = await send(account);
    await atResend(id);
    resend.always(broken);
    await eventually(
      () => Promise.resolve(tries(id)),
      (count) => count >= 2,
    );
    expect((await untilEmail(account, id, () => true)).status).toBe('queued');
    resend.always(null);
    await expectOnce(account, id, RESEND);
  });

  /** Waits until an e-mail goes through: the route may have been closed by the failures before. */
  async function workingAgain(): Promise<void> {
    resend.always(null);
    await untilBound(database(), RESEND, 1);
  }
});
