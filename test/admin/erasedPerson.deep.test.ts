import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { addSmsapiRoute, type Callbacks, report } from '../providers/smsapiRoute.ts';
import { callBack } from '../smsapi/callbacks.ts';
import { type Provider, startProvider } from '../smsapi/provider.ts';
import { incoming } from '../smsc/incoming.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { insertDomain } from '../support/email.ts';
import { eventually } from '../support/eventually.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { TELEPHONE, visit } from '../support/pages.ts';
import { type Product, type ProductAccount, startProduct } from '../support/product.ts';
import { searchDatabase, searchTemporal } from '../support/traces.ts';

const PHONE = '573914682';
const NUMBER = `+48${PHONE}`;
const OTHER = '+48573914777';
const MASKED = '+48*****682';
const PERSON = {
  ...{ first_name: 'Xzaneta', last_name: 'Wiolonczelska', email: 'xzaneta@wiolonczela.example' },
  fields: { ulubione: 'Kontrabasowa' },
  groups: ['Klub'],
};
const [TEXT, PARAM, REPLY, AGENT] = ['Tajnotekst', 'Parametrowy', 'Odpowiedniak', 'Klientowa'];
// The nine digits are in every spelling of the number.
const WORDS = [
  ...[PHONE, 'Xzaneta', 'Wiolonczelska', 'wiolonczela.example', 'Kontrabasowa'],
  ...[TEXT, PARAM, REPLY, AGENT],
];
// The receiver says all it was told, and refuses: that is kept for support.
const SECRET = 'whsec_0123456789';

let product: Product;
let everything: Database;
let smsc: Smsc;
let provider: Provider;
let receiver: HttpReceiver;
let connection: Connection;
let client: Client;
let callbacks: Callbacks;
/** By the way their messages take. */
let accounts: { smpp: ProductAccount; smsapi: ProductAccount; simulator: ProductAccount };
const kept: { account: ProductAccount; path: string; key: string; body: object; text: string }[] = [];

beforeAll(async () => {
  receiver = await startHttpReceiver((response, raw) => response.writeHead(500).end(raw));
  [product, smsc, provider] = await Promise.all([startProduct(2), startSmsc(), startProvider()]);
  everything = openDatabase(product.superuserUrl, 1);
  connection = await Connection.connect({ address: product.service.temporalAddress });
  client = new Client({ connection, namespace: product.service.temporalNamespace });
  ({ callbacks } = await addSmsapiRoute(product, provider));
  const newAccount = () => product.account({ url: receiver.url, secret: SECRET });
  accounts = { smpp: await newAccount(), smsapi: await newAccount(), simulator: await newAccount() };
  await product.route('smsc', smsc, accounts.smpp);
  const { sql } = product;
  await sql`insert into route_rules (route, account_id) values ('simulator', ${accounts.simulator.id})`;
  // An SMSC carries no MMS.
  await sql`insert into route_rules (route, account_id, type) values ('simulator', ${accounts.smpp.id}, 'mms')`;
  // Somebody else's data stay, and show that not everything was emptied.
  await accounts.smpp.api.post('/v1/contacts', { msisdn: OTHER, first_name: 'Ktos' });
  for (const account of Object.values(accounts)) await live(account);
  await liveBeyondAccounts();
  await untilQuiet();
});
afterAll(async () => {
  await everything.end();
  await connection?.close();
  await product?.stop();
  await Promise.all([smsc?.stop(), provider?.close(), receiver?.close()]);
});

/** Sends with an idempotency key, and remembers it. */
async function send(
  account: ProductAccount,
  body: object,
  path = '/v1/messages',
): Promise<{ id: string; text: string; batch: string[] }> {
  const key = `k-${kept.length}`;
  const answer = await account.api.post(path, body, { 'Idempotency-Key': key });
  expect(answer.status, answer.text).toBe(201);
  kept.push({ account, path, key, body, text: answer.text });
  return {
    id: answer.body.id,
    text: answer.body.text,
    batch: (answer.body.messages ?? []).map(({ id }) => id),
  };
}

const untilStatus = ({ api }: ProductAccount, id: string, status: string) =>
  eventually(
    async () => (await api.get(`/v1/messages/${id}`)).body,
    (message) => message.status === status,
  );

/** All that an account can know of the person. */
async function live(account: ProductAccount): Promise<void> {
  const { api, id: accountId } = account;
  const number = `+4850${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`;
  await product.sql`
    update accounts
       set inbound_number = ${number}, legacy_webhook_url = ${receiver.url}, legacy_webhook_secret = webhook_secret
     where id = ${accountId}`;
  await writeEmails(account);
  await api.post('/v1/contacts', { msisdn: NUMBER, ...PERSON });
  await product.sql`insert into verified_numbers (account_id, msisdn) values (${accountId}, ${NUMBER})`;
  expect((await api.get(`/v1/numbers/${PHONE}/lookup`)).status).toBeLessThan(600);
  const { body: template } = await api.post('/v1/templates', {
    name: 'T',
    body: '{{imie}} {{ulubione}} {{kod}}',
  });
  const params = { kod: PARAM };
  const text = `${TEXT} {{imie}} {{link:https://example.com/oferta}} {{opt_out}}`;
  const first = await send(account, { to: PHONE, text, reference: 'r-1' });
  const smil = `<smil><body><text>{{imie}} ${TEXT}</text></body></smil>`;
  const sent = [
    first.id,
    (await send(account, { to: NUMBER, subject: TEXT, smil }, '/v1/mms')).id,
    (await send(account, { to: NUMBER, template_id: template.id, params })).id,
    ...(await send(account, { to: [`48${PHONE}`, OTHER], text: 'Zbiorczy {{nazwisko}} {{email}}' })).batch,
    ...(await send(account, { to: 'group:Klub', text: `${TEXT} do grupy`, priority: true })).batch,
  ];
  await send(account, { to: PHONE, text: TEXT, send_at: new Date(Date.now() + 3_600_000).toISOString() });
  await api.post('/v1/messages/estimate', { to: PHONE, text: TEXT });
  for (const id of sent) {
    if (account === accounts.smsapi) await reportBy(id);
    await untilStatus(account, id, 'delivered');
  }
  const paths = [...first.text.matchAll(/\/([lo]\/[0-9A-Za-z]+)/g)].map(([, path]) => path!);
  for (const path of paths) {
    await visit(`${product.service.apiUrl}/${path}`, { headers: { 'user-agent': `${TELEPHONE} ${AGENT}` } });
  }
  expect(paths.map((path) => path[0]).sort()).toEqual(['l', 'o']);
  const rejected = await api.send({ to: PHONE, text: TEXT });
  expect(rejected.body.status).toBe('rejected');
  await reply(account, number.slice(1));
  await eventually(
    async () => (await api.get('/v1/inbound')).body.data,
    (replies) => replies.length === 1 && replies[0]!.text.includes(REPLY),
  );
}

/** One to the person alone, who may unsubscribe; one to the person among others, with a file that names them. */
async function writeEmails({ id, api }: ProductAccount): Promise<void> {
  await product.sql`insert into route_rules (route, account_id, type) values ('simulator', ${id}, 'email')`;
  await insertDomain(product.sql, Buffer.from(product.service.secretsKey, 'base64'), id);
  const file = { filename: `${TEXT}.txt`, content: Buffer.from(TEXT).toString('base64') };
  const { email: to } = PERSON;
  for (const wish of [
    { to, list_unsubscribe: true },
    { to: ['inny@klient.example', to.toUpperCase()], attachments: [file] },
  ]) {
    const sent = await api.post('/v1/email', {
      ...{ subject: `${TEXT} dla Xzanety`, text: TEXT, html: `<p>${TEXT}</p>`, reply_to: to },
      ...{ idx: `zam-${typeof wish.to}`, ...wish },
    });
    expect(sent.status, sent.text).toBe(200);
  }
}

async function reportBy(id: string): Promise<void> {
  const [, taken] = await eventually(
    async () => [await untilStatus(accounts.smsapi, id, 'sent'), idxed(id)] as const,
    ([, found]) => found !== undefined,
  );
  await report(taken!);
}
const idxed = (id: string) => provider.taken.find(({ idx }) => idx?.startsWith(id.replace('_', '')) === true);

async function reply(account: ProductAccount, to: string): Promise<void> {
  const long = `${REPLY} `.repeat(30).trim();
  if (account === accounts.smpp) {
    for (const part of incoming(`48${PHONE}`, to, long, { cut: 153 })) await smsc.deliver(part);
  } else if (account === accounts.smsapi) {
    const fields = { sms_from: `48${PHONE}`, sms_to: to, sms_text: long, sms_date: '1764000000', MsgId: '' };
    expect(await callBack(callbacks.replies, fields, 'POST')).toMatchObject({ status: 200 });
  } else {
    await product.admin(['simulator', 'reply', '--from', NUMBER, '--to', `+${to}`, '--text', long]);
  }
}

/** What no account has: a reply to nobody, a report that meets nothing, parts of an unfinished reply. */
async function liveBeyondAccounts(): Promise<void> {
  await smsc.deliver(incoming(`48${PHONE}`, '48999', REPLY)[0]!);
  await smsc.deliver(incoming(`48${PHONE}`, '48999', `${REPLY} `.repeat(30), { cut: 153 })[0]!);
  await product.admin(['messages', 'show', (await firstOf(accounts.smpp)).id, '--text', 'yes']);
}

const firstOf = async ({ api }: ProductAccount) => (await api.get('/v1/messages')).body.data[0]!;

/** Until nothing is under way any more but what is scheduled. */
async function untilQuiet(): Promise<void> {
  await eventually(
    async () => {
      const [left] = await product.sql<{ pending: number; received: number; open: number }[]>`
        select (select count(*)::int from webhook_events where state = 'pending') as pending,
               (select count(*)::int from inbound_messages where state = 'received') as received,
               (select count(*)::int from messages where status in ('queued', 'sent'))
                 + (select count(*)::int from emails where status in ('queued', 'sent')) as open`;
      return left!;
    },
    ({ pending, received, open }) => pending + received + open === 0,
  );
}

describe('a person whom three accounts wrote to, by SMSC, HTTP provider and simulated network', () => {
  test('is known in many places before', async () => {
    await product.sql`analyze`;
    const found = Object.keys(await searchDatabase(everything, WORDS));
    expect(found).toEqual(
      expect.arrayContaining([
        ...['blacklist.msisdn', 'contacts.email', 'contacts.fields', 'contacts.search'],
        ...['delivery_reports.phone', 'idempotency_keys.accepted_body', 'inbound_messages.received_text'],
        ...['inbound_messages.sender', 'link_clicks.user_agent', 'messages.recipient', 'messages.text'],
        ...['number_lookups.msisdn', 'opt_out_links.msisdn', 'reply_parts.content', 'reply_parts.sender'],
        ...['simulator_submits.content', 'simulator_submits.options', 'tracked_links.recipient'],
        ...['verified_numbers.msisdn', 'webhook_attempts.answer', 'emails.subject', 'emails.reply_to'],
        ...['email_contents.html', 'email_contents.text', 'email_events.address'],
        ...['email_attachments.filename', 'email_recipients.address', 'provider_email_events.addresses'],
        ...['simulator_emails.mail', 'unsubscribe_links.address', 'pg_catalog.pg_statistic.stavalues1'],
      ]),
    );
  });

  test('erased for one account, is nowhere in what that account has, and stays with the others', async () => {
    const { smpp: one } = accounts;
    const before = await searchDatabase(everything, WORDS, accounts.smsapi.id);
    await product.admin(['erase', '--number', NUMBER, '--account', one.id, '--yes']);
    await product.admin(['erase', '--email', PERSON.email, '--account', one.id, '--yes']);
    expect(Object.keys(await searchDatabase(everything, WORDS, one.id))).toEqual(['blacklist.msisdn']);
    expect(await searchDatabase(everything, WORDS, accounts.smsapi.id)).toEqual(before);
    const answers = await product.sql`
      select from webhook_attempts t join webhook_events e on e.id = t.event_id
       where e.account_id = ${one.id} and t.answer ~ ${WORDS.join('|')}`;
    expect(answers.count).toBe(0);
  });

  test('a repeated request is not sent again, and shows nothing of the person', async () => {
    const stored = async () => (await product.sql`select from messages`).count;
    const before = await stored();
    for (const { account, path, key, body, text } of kept) {
      const again = await account.api.post(path, body, { 'Idempotency-Key': key });
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      if (account !== accounts.smpp) {
        expect(again.text).toBe(text);
        continue;
      }
      for (const word of WORDS) expect(again.text).not.toContain(word);
      expect(again.text).toContain(`"to":"${MASKED}","from":`);
      // Of the two recipients of one request, the other one's message is shown as it was.
      if (text.includes(OTHER))
        expect(again.body.messages[1]).toEqual(expect.objectContaining({ to: OTHER }));
    }
    expect(await stored()).toBe(before);
  });

  test('erased for all, is nowhere but where that is said', async () => {
    // The network may still report on this one: it is erased once it has ended.
    await product.sql`update accounts set webhook_url = null`;
    smsc.behave = () => ({ reports: [] });
    await product.sql`delete from blacklist where account_id = ${accounts.smpp.id}`;
    const open = await send(accounts.smpp, { to: NUMBER, text: `${TEXT} w drodze` });
    await untilStatus(accounts.smpp, open.id, 'sent');
    expect(await product.admin(['erase', '--number', PHONE, '--yes'])).toMatchObject({ open_messages: 1 });
    expect(await product.admin(['erase', '--email', PERSON.email, '--yes'])).toMatchObject({
      open_emails: 0,
    });

    const STAYS: Record<string, string> = {
      'blacklist.msisdn': 'without it nobody could keep to the person’s own wish to get no more messages',
      'messages.recipient': 'of the message that is under way',
      'messages.text': 'of the same',
    };
    // PostgreSQL's own statistics are made anew: of a table that is empty now by its next rows.
    const search = async () =>
      Object.keys(await searchDatabase(everything, WORDS)).filter((name) => !name.startsWith('pg_catalog.'));
    expect((await search()).sort()).toEqual(Object.keys(STAYS));
    expect(await searchTemporal(client, WORDS)).toEqual([]);
    // What a step came to is only in the history.
    expect(await searchTemporal(client, ['"status":"sent"'])).toContain(open.id);

    const submit = smsc.submits.at(-1)!;
    await smsc.report(submit, { stat: 'DELIVRD' });
    await untilStatus(accounts.smpp, open.id, 'delivered');
    await client.schedule.getHandle('retention').trigger();
    await eventually(search, (left) => !left.includes('messages.text'));
    expect(await search()).toEqual(['blacklist.msisdn']);
    // Those of `messages` are made anew by the next autovacuum.
    const statistics = await product.sql`
      select attname from pg_stats where tablename in ('inbound_messages', 'number_lookups')
         and (most_common_vals::text ~ ${WORDS.join('|')} or histogram_bounds::text ~ ${WORDS.join('|')})`;
    expect(statistics.map(({ attname }) => String(attname))).toEqual([]);
  });
});
