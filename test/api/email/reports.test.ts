import { describe, expect, inject, it } from 'vitest';
import { storeEmailEvents } from '../../../db/emails/events.ts';
import { newId } from '../../../db/ids.ts';
import type { ProviderEmailEvent } from '../../../domain/email/statuses.ts';
import { commandLine } from '../../admin/support.ts';
import {
  LEAST,
  type MailAccount,
  newMailAccount,
  receiverOf,
  takenFrom,
  untilEmail,
} from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';

const { ok } = commandLine(() => inject('service').databaseUrl);

/** Addresses of which the simulated provider reports nothing by itself but that they are sent. */
const [JAN, OLA] = ['silent+jan@klient.example', 'silent+ola@klient.example'];

async function sentTo(account: MailAccount, ...to: string[]): Promise<string> {
  const { id } = await takenFrom(account, { to, subject: 'Temat' });
  await untilEmail(account, id, ({ events }) => events.length === to.length);
  return id;
}

/** Brings an event as its provider does. */
async function stored(id: string, event: Partial<ProviderEmailEvent>): Promise<void> {
  const common = { emailId: id, providerEmailId: null, permanent: null, addresses: [], at: new Date() };
  await storeEmailEvents(database(), 'simulator', [
    { ...common, eventId: newId('evt'), kind: 'complained', payload: { type: 'x' }, ...event },
  ]);
}

/** The same, and waits until the e-mail shows it. */
async function reported(account: MailAccount, id: string, event: Partial<ProviderEmailEvent>) {
  const before = (await untilEmail(account, id, () => true)).events.length;
  await stored(id, event);
  return await untilEmail(account, id, ({ events }) => events.length > before);
}

async function suppressed({ v1 }: MailAccount): Promise<string[]> {
  const { data } = (await v1.get('/v1/email/suppressions')).body;
  return (data as unknown as { suppressions: { address: string }[] }).suppressions.map(
    ({ address }) => address,
  );
}

type Call = Record<string, unknown>;
const bodies = (calls: { raw: string }[]): Call[] => calls.map(({ raw }) => JSON.parse(raw) as Call);
async function told(calls: { raw: string }[], kind: string): Promise<Call> {
  const seen = await eventually(
    () => Promise.resolve(bodies(calls).filter((call) => call['kind'] === kind)),
    (found) => found.length > 0,
  );
  return seen[0]!;
}

const UNVERIFIED = { unverified: true } as const;
const DEAD = { kind: 'bounced', permanent: true } as const;

describe('what came to the return path', () => {
  it('of one of several is shown at once, and suppresses the address when it came for two e-mails', async () => {
    const account = await newMailAccount();
    const other = await newMailAccount();
    await reported(other, await sentTo(other, JAN, OLA), { ...DEAD, ...UNVERIFIED, addresses: [JAN] });
    const first = await sentTo(account, JAN, OLA);
    const bounced = await reported(account, first, { ...DEAD, ...UNVERIFIED, addresses: [JAN] });
    expect(bounced.recipients.map(({ state }) => state)).toEqual(['bounced', 'sent']);
    await reported(account, first, { ...DEAD, ...UNVERIFIED, addresses: [JAN] });
    expect(await suppressed(account)).toEqual([]);
    const second = await sentTo(account, JAN, OLA);
    await reported(account, second, { kind: 'bounced', permanent: false, ...UNVERIFIED, addresses: [JAN] });
    await reported(account, second, { ...UNVERIFIED, addresses: [JAN] });
    await reported(account, second, { ...DEAD, ...UNVERIFIED, addresses: [OLA] });
    expect(await suppressed(account)).toEqual([]);
    await reported(account, second, { ...DEAD, ...UNVERIFIED, addresses: [JAN.toUpperCase()] });
    expect(await suppressed(account)).toEqual([JAN]);
  });

  it('about somebody who did not get the e-mail is not shown, and not notified', async () => {
    const account = await newMailAccount();
    const calls = await receiverOf(account);
    const id = await sentTo(account, JAN, OLA);
    for (const kind of ['complained', 'bounced', 'delivered'] as const)
      await stored(id, {
        kind,
        permanent: kind === 'bounced',
        ...UNVERIFIED,
        addresses: ['obcy@klient.example'],
      });
    // Comes and is notified after them.
    await reported(account, id, { kind: 'opened', addresses: [JAN] });
    await told(calls, 'opened');
    const kept = await eventually(
      () => database()<{ applied: boolean }[]>`
        select applied_at is not null as applied, addresses, payload, webhook_event from provider_email_events
         where email_id = ${id} and unverified`,
      (rows) => rows.every(({ applied }) => applied),
    );
    expect(kept).toEqual(
      Array.from({ length: 3 }, () => ({ applied: true, addresses: [], payload: {}, webhookEvent: null })),
    );
    const { status, events } = await untilEmail(account, id, () => true);
    expect([status, ...events.map(({ kind }) => kind)]).toEqual(['sent', 'sent', 'sent', 'opened']);
    expect(bodies(calls).map((call) => call['kind'])).toEqual(['sent', 'sent', 'opened']);
    expect(await suppressed(account)).toEqual([]);
  });
});

describe('what the provider says', () => {
  it('of all in `to` is about the copies too: all have it, and nobody is suppressed', async () => {
    const account = await newMailAccount();
    const calls = await receiverOf(account);
    const { id } = await takenFrom(account, { to: [JAN], bcc: [OLA] });
    await untilEmail(account, id, ({ events }) => events.length === 2);
    const email = await reported(account, id, { ...DEAD, addresses: [JAN], namesAllTo: true });
    expect(email.recipients.map(({ state }) => state)).toEqual(['bounced', 'bounced']);
    expect(await told(calls, 'bounced')).toMatchObject({ to: JAN });
    await reported(account, id, { addresses: [JAN], namesAllTo: true });
    expect(await suppressed(account)).toEqual([]);
  });

  it.each([
    ['suppressed', [JAN]],
    ['failed', []],
  ] as const)('an e-mail that it %s is told as bounced, with its words', async (kind, list) => {
    const account = await newMailAccount();
    const calls = await receiverOf(account);
    const id = await sentTo(account, JAN);
    const payload = { type: `email.${kind}`, data: { [kind]: { message: 'why' } } };
    expect(await reported(account, id, { kind, addresses: [JAN], payload })).toMatchObject({
      status: 'bounced',
      recipients: [{ state: 'bounced' }],
    });
    expect(await told(calls, 'bounced')).toMatchObject({ to: JAN, provider_payload: payload });
    expect(await suppressed(account)).toEqual(list);
  });
});

it.each([
  ['manual', DEAD, 'bounce'],
  ['manual', {}, 'complaint'],
  ['bounce', {}, 'complaint'],
  ['unsubscribe', {}, 'complaint'],
  ['unsubscribe', DEAD, 'unsubscribe'],
  ['complaint', DEAD, 'complaint'],
])('of an address that is on the list for a %s, %j makes the entry say %s', async (before, event, after) => {
  const account = await newMailAccount();
  const id = await sentTo(account, JAN);
  await database()`
    insert into suppressions (account_id, address, reason) values (${account.id}, ${JAN}, ${before})`;
  await reported(account, id, { ...event, addresses: [JAN] });
  const { data } = (await account.v1.get('/v1/email/suppressions')).body;
  expect(data).toMatchObject({
    count: 1,
    suppressions: [{ reason: after, email_id: after === before ? null : id }],
  });
});

describe('an event of an erased e-mail', () => {
  const erased = async (account: MailAccount, id: string): Promise<void> => {
    await ok('erase', '--email', JAN, '--account', account.id, '--yes');
    const [email] = await database()`select erased_at is not null as erased from emails where id = ${id}`;
    expect(email).toEqual({ erased: true });
  };

  it('leaves nothing personal, counts, and suppresses whom the provider names', async () => {
    const account = await newMailAccount();
    const calls = await receiverOf(account);
    const id = await sentTo(account, JAN, OLA);
    await erased(account, id);
    const payload = { data: { to: [OLA], subject: 'Temat' } };
    const email = await reported(account, id, { addresses: [OLA], payload });
    expect(email.events.at(-1)).toMatchObject({ kind: 'complained', address: null });
    const rows = await database()`
      select addresses, payload from provider_email_events where email_id = ${id} and kind = 'complained'`;
    expect(rows).toEqual([{ addresses: [], payload: {} }]);
    expect(await told(calls, 'complained')).toMatchObject({ to: '', subject: '', provider_payload: {} });
    expect(await suppressed(account)).toEqual([OLA]);
  });
});

it('an e-mail to nobody, which costs nothing, is not made sent or delivered by a report that names nobody', async () => {
  const account = await newMailAccount();
  await account.v1.post('/v1/email/suppressions', { addresses: [JAN] });
  const { id } = await takenFrom(account, { to: JAN });
  // As of one whose recipients came onto the list before it left.
  await database()`update emails set route = 'simulator' where id = ${id}`;
  for (const kind of ['sent', 'delivered'] as const)
    expect(await reported(account, id, { kind })).toMatchObject({ status: 'suppressed', cost: 0 });
  const { data } = (await account.v1.get(`/v1/email/${id}`)).body;
  expect(data).toMatchObject({ sent_at: null, recipients: [{ state: 'suppressed' }] });
});

it('events are shown by the time at which they happened, the oldest first, whenever they came', async () => {
  const account = await newMailAccount();
  const id = await sentTo(account, JAN);
  const now = Date.now();
  const inHours = (hours: number) => new Date(now + hours * 3_600_000);
  await reported(account, id, { kind: 'clicked', addresses: [JAN], at: inHours(3) });
  await reported(account, id, { kind: 'opened', addresses: [JAN], at: inHours(2) });
  const { events } = await reported(account, id, { kind: 'delivered', addresses: [JAN], at: inHours(1) });
  expect(events.map(({ kind }) => kind)).toEqual(['sent', 'delivered', 'opened', 'clicked']);
});

it('a webhook that is sent again after the days of the logs names whom it named before', async () => {
  const account = await newMailAccount();
  const calls = await receiverOf(account);
  const id = await sentTo(account, JAN, OLA);
  await reported(account, id, { ...DEAD, addresses: [OLA] });
  expect(await told(calls, 'bounced')).toMatchObject({ to: OLA });
  const sql = database();
  const [event] = await sql<{ id: string }[]>`
    select webhook_event as id from provider_email_events where email_id = ${id} and kind = 'bounced'`;
  await eventually(
    () => sql`select from webhook_events where id = ${event!.id} and state = 'delivered'`,
    ({ count }) => count === 1,
  );
  // As the clean-up leaves it.
  await sql`update provider_email_events set payload = '{}', addresses = '{}' where email_id = ${id}`;
  const { status } = await account.api.post(`/v1/account/webhook/deliveries/${event!.id}/resend`, '');
  expect(status).toBe(202);
  await eventually(
    () => Promise.resolve(bodies(calls).filter((call) => call['kind'] === 'bounced').length),
    (count) => count === 2,
  );
  expect(bodies(calls).at(-1)).toMatchObject({ kind: 'bounced', to: OLA, provider_payload: {} });
});

it.each([
  ['its `to`, as one who names no copies does', { addresses: [JAN], namesAllTo: true }, JAN],
  ['nobody', { addresses: [] }, `${JAN}, ${OLA}`],
  ['one copy', { addresses: ['bcc@klient.example'] }, 'bcc@klient.example'],
  ['two of them', { addresses: [OLA, 'cc@klient.example'] }, `${OLA}, cc@klient.example`],
])('a report that names %s comes to the webhook with those, or with `to`', async (_, report, to) => {
  const account = await newMailAccount();
  const calls = await receiverOf(account);
  const copies = { cc: ['cc@klient.example'], bcc: ['bcc@klient.example'] };
  const sent = { ...LEAST, to: to === JAN ? [JAN] : [JAN, OLA], ...copies };
  const { id } = await takenFrom(account, sent);
  await reported(account, id, { kind: 'delayed', ...report });
  expect((await told(calls, 'delayed'))['to']).toBe(to);
});
