import { describe, expect, inject, it } from 'vitest';
import { storeEmailEvents } from '../../../db/emails/events.ts';
import { newId } from '../../../db/ids.ts';
import type { ProviderEmailEvent } from '../../../domain/email/events.ts';
import { commandLine } from '../../admin/support.ts';
import { type MailAccount, newMailAccount, receiverOf, takenFrom, untilEmail } from '../../support/email.ts';
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

/** Brings an event as its provider does, and waits until the e-mail shows it. */
async function reported(account: MailAccount, id: string, event: Partial<ProviderEmailEvent>) {
  const before = (await untilEmail(account, id, () => true)).events.length;
  const common = { emailId: id, providerEmailId: null, permanent: null, addresses: [], at: new Date() };
  await storeEmailEvents(database(), 'simulator', [
    { ...common, eventId: newId('evt'), kind: 'complained', payload: { type: 'x' }, ...event },
  ]);
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

const HEARSAY = { hearsay: true } as const;
const DEAD = { kind: 'bounced', permanent: true } as const;

describe('what somebody wrote to the return path', () => {
  it('of an e-mail to one, whether it names them or not, is believed', async () => {
    const account = await newMailAccount();
    const id = await sentTo(account, JAN);
    expect(await reported(account, id, HEARSAY)).toMatchObject({ status: 'complained' });
    expect(await suppressed(account)).toEqual([JAN]);
  });

  it('of an e-mail to several, naming nobody, is shown and told, and concerns nobody', async () => {
    const account = await newMailAccount();
    const calls = await receiverOf(account);
    const id = await sentTo(account, JAN, OLA);
    const email = await reported(account, id, HEARSAY);
    expect(email.recipients.map(({ state }) => state)).toEqual(['sent', 'sent']);
    expect(email.events.at(-1)).toMatchObject({ kind: 'complained', address: null });
    expect(await told(calls, 'complained')).toMatchObject({ email_id: id, to: '' });
    expect(await suppressed(account)).toEqual([]);
  });

  it('of one of several is shown at once, and keeps them from being written to only when it is said of two e-mails', async () => {
    const account = await newMailAccount();
    const other = await newMailAccount();
    await reported(other, await sentTo(other, JAN, OLA), { ...DEAD, ...HEARSAY, addresses: [JAN] });
    const first = await sentTo(account, JAN, OLA);
    const bounced = await reported(account, first, { ...DEAD, ...HEARSAY, addresses: [JAN] });
    expect(bounced.recipients.map(({ state }) => state)).toEqual(['bounced', 'sent']);
    await reported(account, first, { ...DEAD, ...HEARSAY, addresses: [JAN] });
    expect(await suppressed(account)).toEqual([]);
    const second = await sentTo(account, JAN, OLA);
    await reported(account, second, { kind: 'bounced', permanent: false, ...HEARSAY, addresses: [JAN] });
    await reported(account, second, { ...HEARSAY, addresses: [JAN] });
    await reported(account, second, { ...DEAD, ...HEARSAY, addresses: [OLA] });
    expect(await suppressed(account)).toEqual([]);
    await reported(account, second, { ...DEAD, ...HEARSAY, addresses: [JAN.toUpperCase()] });
    expect(await suppressed(account)).toEqual([JAN]);
  });
});

describe('what the provider says', () => {
  it('of several of an e-mail at once is known of none of them', async () => {
    const account = await newMailAccount();
    const id = await sentTo(account, JAN, OLA);
    await reported(account, id, { ...DEAD, addresses: [JAN, OLA] });
    await reported(account, id, { addresses: [JAN, OLA] });
    expect(await suppressed(account)).toEqual([]);
    await reported(account, id, { addresses: [OLA] });
    expect(await suppressed(account)).toEqual([OLA]);
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

  it('that nobody vouches for suppresses nobody, and nothing that cannot be taken off the list', async () => {
    const account = await newMailAccount();
    const id = await sentTo(account, JAN);
    await erased(account, id);
    expect(await reported(account, id, HEARSAY)).toMatchObject({ status: 'complained' });
    await reported(account, id, { ...HEARSAY, addresses: [OLA] });
    expect(await suppressed(account)).toEqual([]);
  });
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
