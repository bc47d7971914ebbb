import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { insertToken, listTokens } from '../../db/accounts/keys.ts';
import { ChangesTooManyError, listAudit, writeApiChange } from '../../db/accounts/audit.ts';
import { allowKeyword, isAllowed, listKeywords, revokeKeyword } from '../../db/accounts/keywords.ts';
import { readMessageUsage } from '../../db/accounts/quotas.ts';
import {
  activateSender,
  deactivateSender,
  deleteVerifiedNumber,
  insertKey,
  insertVerifiedNumber,
  listKeys,
  listSenderDetails,
  listVerifiedNumbers,
} from '../../db/accounts/staff.ts';
import type { Database, Sql } from '../../db/connection.ts';
import {
  findDomain,
  ensureDefaultDomain,
  listDomains,
  readDomain,
  setDefaultDomain,
} from '../../db/emails/domains.ts';
import { acceptEmail, countWaitingFileBytes, readEmailTerms } from '../../db/emails/accept.ts';
import { emailOfIdx } from '../../db/emails/ownEmails.ts';
import { countAddressTraces, eraseAddressee } from '../../db/emails/retention.ts';
import { listEmailsForStaff } from '../../db/emails/reads.ts';
import { newId } from '../../db/ids.ts';
import { knownOptOuts } from '../../db/incoming/blacklist.ts';
import { knownLinks } from '../../db/links/links.ts';
import { acceptLookup, readKnownResult } from '../../db/lookups/lookups.ts';
import { countTraces, erasePerson, scheduledTo } from '../../db/maintenance/erasure.ts';
import { listFindings, reportFinding } from '../../db/maintenance/findings.ts';
import { readEarlierHistory } from '../../db/messages/history.ts';
import { acceptMessages } from '../../db/messages/accept.ts';
import { readKeyRecord } from '../../db/messages/idempotency.ts';
import { readScheduled } from '../../db/messages/pauses.ts';
import { templateUsage } from '../../db/messages/templates.ts';
import { book, listLedger, readLedgerState, readPayment, sumLedger } from '../../db/money/ledger.ts';
import { settleReservation, stillReserved } from '../../db/money/reservations.ts';
import { insertStatement, listStatements, monthlySum } from '../../db/money/statements.ts';
import { readPending } from '../../db/verifications/verifications.ts';
import { fileDatabase } from '../support/database.ts';
import { newEmail, newMessage } from '../support/messages.ts';

/**
 * What the interface does not show, or shows only by what it refuses: reads and changes of staff, counts, bounds, keys. Two accounts have all
 * the same here, so that whatever does not ask whose a row is finds one too many, or the wrong one. `test/api/twins.test.ts` has the rest.
 */
const { sql } = await fileDatabase();

const NUMBER = '+48500100777';
const ADDRESS = 'jan@klient.example';
const KEY = 'klucz';
const FINGERPRINT = Buffer.alloc(32);
const MONTH = '2026-01';
const hash = (of: string) => createHash('sha256').update(of).digest();

interface Account {
  id: string;
  domain: string;
  request: string;
}

const domainRow = ({ id: account_id, domain: name }: Pick<Account, 'id' | 'domain'>, id: string) => ({
  ...{ id, account_id, name, confirmed_at: new Date() },
  ...{ dkim_selector: 's', dkim_public_key: 'p', dkim_private_key: Buffer.from('k') },
});

/** An account with one of everything. What has to differ from any other's (ids, tokens, domains) has the account's id in it. */
async function newAccount(): Promise<Account> {
  const id = newId('cl');
  const request = newId('req');
  const domain = `${id.slice(-10)}.example`;
  await sql`
    insert into accounts (id, name, mode, billing_mode, credit_limit_grosze, contact_email, sender_name)
    values (${id}, 'Test', 'live', 'postpaid', 0, ${ADDRESS}, 'TEST')`;
  await insertKey(sql, {
    id: newId('key'),
    account: id,
    hash: hash(id),
    hint: 'h',
    mode: 'live',
    scopes: [],
  });
  const token = { id: newId('tok'), account: id, hash: hash(id), hint: 'h', label: 'l', rateLimit: 10 };
  await insertToken(sql, token);
  await activateSender(sql, id, 'TEST');
  await insertVerifiedNumber(sql, id, NUMBER);
  await allowKeyword(sql, id, 'TAK');
  await insertStatement(sql, { id: newId('st'), account: id, month: MONTH, amountGrosze: 7, dueAt: null });
  const found = newId('hlr');
  await sql`insert into number_lookups ${sql({
    ...{
      id: found,
      account_id: id,
      msisdn: NUMBER,
      route: 'r',
      state: 'done',
      cost_grosze: 7,
      status: 'active',
    },
    checked_at: new Date(),
  })}`;
  for (const entry of [
    { kind: 'opening', amount_grosze: 500 },
    { kind: 'charge', amount_grosze: -7, subject_kind: 'lookup', subject_id: found },
  ])
    await sql`insert into ledger_entries ${sql({ ...entry, account_id: id, created_at: new Date('2026-01-15') })}`;
  await book(sql, { account: id, kind: 'topup', grosze: 1_000, reference: 'przelew 1' });
  await reportFinding(sql, { kind: 'workflow_lost', subject: id, accountId: id, details: {} });
  await sql`insert into audit_log ${sql({ actor: 'a', action: 'b', account_id: id, subject: 'c' })}`;
  await sql`insert into sender_domains ${sql({ ...domainRow({ id, domain }, newId('dom')), is_default: true })}`;
  await sql`insert into templates ${sql({ id: newId('tpl'), account_id: id, name: 'n', type: 'sms', body: 'body' })}`;
  await sql`insert into contacts ${sql({ id: newId('ct'), account_id: id, msisdn: NUMBER, email: ADDRESS })}`;
  await sql`insert into blacklist ${sql({ account_id: id, msisdn: NUMBER, reason: 'r' })}`;
  await sql`insert into suppressions ${sql({ account_id: id, address: ADDRESS, reason: 'manual' })}`;
  await sql`insert into tracked_links ${sql({ account_id: id, token: `l${id}`, recipient: NUMBER, url: 'u' })}`;
  await sql`insert into opt_out_links ${sql({ account_id: id, token: `o${id}`, msisdn: NUMBER, sender: 'TEST' })}`;
  await sql`insert into idempotency_keys ${sql({
    ...{ account_id: id, key: KEY, fingerprint: FINGERPRINT, request_id: request },
    ...{ accepted_body: { id, messages: [] } },
  })}`;
  for (const status of ['scheduled', 'cancelled', 'delivered', 'rejected'])
    await sql`insert into messages ${sql({
      ...{ id: newId('msg'), account_id: id, request_id: request, status, recipient: NUMBER, sender: 'TEST' },
      ...{ accepted_as: status === 'rejected' ? status : 'queued', text: 'tekst', parts: 1, cost_grosze: 7 },
      ...{ give_up_at: new Date(), route: 'r' },
    })}`;
  await sql`update messages set sent_key = 1 where account_id = ${id}`;
  await sql`insert into reservations ${sql({ subject_id: newId('msg'), kind: 'message', account_id: id, priority: false })}`;
  for (const status of ['queued', 'suppressed', 'delivered']) {
    const email = newId('em');
    await sql`insert into emails ${sql({
      ...{ id: email, account_id: id, request_id: newId('req'), interface: 'v1', status, route: 'r', domain },
      ...{ from_address: `a@${domain}`, subject: 's', idx: 'idx', file_bytes: status === 'queued' ? 100 : 0 },
      ...{ cost_grosze: status === 'queued' ? 2 : 0, give_up_at: new Date() },
    })}`;
    await sql`insert into email_recipients ${sql({ email_id: email, position: 0, account_id: id, kind: 'to', address: ADDRESS })}`;
    await sql`insert into unsubscribe_links ${sql({ token: `u${email}`, account_id: id, address: ADDRESS, email_id: email })}`;
  }
  await sql`insert into number_lookups ${sql({ id: newId('hlr'), account_id: id, msisdn: NUMBER, route: 'r', cost_grosze: 5 })}`;
  await sql`insert into inbound_messages ${sql({
    ...{ id: newId('in'), route: 'r', provider_reference: id, sender: NUMBER, receiver: '+48500100666' },
    ...{ received_text: 't', state: 'matched', account_id: id, text: 't', matched_by: 'last_message' },
  })}`;
  await sql`insert into verifications ${sql({
    ...{
      id: newId('ver'),
      account_id: id,
      msisdn: NUMBER,
      code_length: 6,
      sent_at: sql.array([]),
      cost_grosze: 7,
    },
    ...{ expires_at: new Date(Date.now() + 3_600_000), created_at: new Date(), updated_at: new Date() },
  })}`;
  await sql`insert into rate_windows ${sql({ account_id: id, started_at: new Date(), used: 1 })}`;
  return { id, domain, request };
}

const LIMITS = { unpaid_messages: 100, unpaid_bytes: 1_000, scheduled_messages: 100 };

/** What would have been accepted, and is taken back. */
class Accepted extends Error {}

/** The database, whose transactions are all taken back at their end. */
const takingBack = (): Database =>
  new Proxy(sql, {
    get: (target, name): unknown =>
      name === 'begin'
        ? (work: (tx: Sql) => Promise<unknown>) =>
            target.begin(async (tx) => {
              await work(tx);
              throw new Accepted();
            })
        : Reflect.get(target, name),
  });

/** Whether something would be accepted; it is not. */
const isAccepted = (accepting: Promise<void>): Promise<boolean> =>
  accepting.then(
    () => true,
    (error: unknown) => error instanceof Accepted,
  );

/** A request with messages that cost nothing, of which there may be no more than is said. */
async function hasRoom({ id }: Account, unpaid_messages: number, unpaid_bytes: number): Promise<boolean> {
  const message = { accountId: id, requestId: newId('req'), status: 'rejected' as const };
  const messages = [newMessage(message), newMessage(message)];
  const limits = { unpaid_messages, unpaid_bytes };
  return await isAccepted(acceptMessages(takingBack(), { messages, claims: [], limits, spending: null }));
}

/** An e-mail to nobody, with a file, where there may be no more than is said. */
async function hasEmailRoom(
  { id, domain }: Account,
  unpaid_messages: number,
  bytes: number,
): Promise<boolean> {
  const file = { filename: 'f', contentType: 'a/b', contentId: null, bytes: 10, pieces: [Buffer.alloc(10)] };
  const email = newEmail({
    ...{ accountId: id, requestId: newId('req'), domain, attachments: [file] },
    recipients: [{ kind: 'to', address: ADDRESS, suppressed: true }],
  });
  return await isAccepted(acceptEmail(takingBack(), email, [], { unpaid_messages, email_file_bytes: bytes }));
}

/** What is to be read of an account alone. */
const READS: Record<string, (account: Account) => Promise<unknown>> = {
  keys: ({ id }) => listKeys(sql, id),
  tokens: ({ id }) => listTokens(sql, id),
  senders: ({ id }) => listSenderDetails(sql, id),
  'verified numbers': ({ id }) => listVerifiedNumbers(sql, id),
  keywords: ({ id }) => listKeywords(sql, id),
  'a keyword that it may have': ({ id }) => isAllowed(sql, id, 'TAK'),
  'a pending verification': ({ id }) => readPending(sql, id, NUMBER),
  acts: ({ id }) => listAudit(sql, id, 10),
  findings: ({ id }) => listFindings(sql, { account: id, state: null }, 10),
  domains: ({ id }) => listDomains(sql, id),
  'a domain by its name': ({ id, domain }) => findDomain(sql, id, domain),
  'terms of e-mails': async ({ id, domain }) => {
    return { ...(await readEmailTerms(sql, id, domain, [])), now: 0 };
  },
  'terms of e-mails from the default domain': async ({ id }) =>
    (await readEmailTerms(sql, id, null, []))!.domain,
  'e-mails': ({ id }) => listEmailsForStaff(sql, { accountId: id, status: null }, 10),
  'an e-mail by its idx': ({ id }) => emailOfIdx(sql, id, 'idx'),
  'traces of an address': ({ id }) => countAddressTraces(sql, { address: ADDRESS, accountId: id }),
  'octets of files that wait': ({ id }) => countWaitingFileBytes(sql, id),
  'room for e-mails to nobody': async (account) => [
    // One is suppressed.
    await hasEmailRoom(account, 2, 1_000),
    await hasEmailRoom(account, 1, 1_000),
  ],
  'room for files': async (account) => [
    await hasEmailRoom(account, 100, 110),
    await hasEmailRoom(account, 100, 109),
  ],
  'counts of messages': ({ id }) => readMessageUsage(sql, id, LIMITS, Date.now()),
  // One is cancelled, and one rejected.
  'room for messages that cost nothing': async (account) => [
    await hasRoom(account, 4, 1_000),
    await hasRoom(account, 3, 1_000),
  ],
  'room for octets that cost nothing': async (account) => [
    await hasRoom(account, 100, 12),
    await hasRoom(account, 100, 11),
  ],
  'scheduled messages': ({ id }) => readScheduled(sql, { accountId: id, requestId: null }, 10),
  templates: ({ id }) => templateUsage(sql, id),
  'the history of the earlier interface': ({ id }) =>
    readEarlierHistory(sql, id, ['delivered', 'queued'], { from: 0, before: 10 }, 10),
  'the record of a key': ({ id }) => readKeyRecord(sql, id, KEY),
  'opt-out links': async ({ id }) => [...(await knownOptOuts(sql, id, 'TEST', [NUMBER]))],
  'tracked links': async ({ id }) => [...(await knownLinks(sql, id, [{ recipient: NUMBER, url: 'u' }]))],
  'the result of a look-up': ({ id }) => readKnownResult(sql, id, NUMBER),
  'a payment by its reference': ({ id }) => readPayment(sql, id, 'przelew 1'),
  'the ledger': ({ id }) => listLedger(sql, id, 10),
  'the sums of the ledger': ({ id }) => sumLedger(sql, id, new Date(0), new Date()),
  'the state of the ledger': ({ id }) => readLedgerState(sql, id),
  statements: ({ id }) => listStatements(sql, id),
  'what a month comes to': ({ id }) => monthlySum(sql, id, MONTH),
  'traces of a person': ({ id }) => countTraces(sql, { msisdn: NUMBER, accountId: id }),
  'messages to a person': ({ id }) => scheduledTo(sql, { msisdn: NUMBER, accountId: id }),
};

const domainOf = async ({ id }: Account) => (await listDomains(sql, id))[0]!;

async function beginsLookup({ id: accountId }: Account): Promise<boolean | undefined> {
  const lookup = { id: newId('hlr'), accountId, msisdn: NUMBER, route: 'r', costGrosze: 5, spending: null };
  return (await acceptLookup(sql, lookup))?.own;
}

/** Accepts a message with a key. @returns what is known of both */
async function acceptsWithKey({ id }: Account, key: string) {
  const message = newMessage({ accountId: id, requestId: newId('req'), costGrosze: 3 });
  const claim = { key, fingerprint: FINGERPRINT, acceptedBody: { of: key } };
  const limits = { unpaid_messages: 0, unpaid_bytes: 0 };
  await acceptMessages(sql, { messages: [message], claims: [claim], limits, spending: null });
  const record = await readKeyRecord(sql, id, key);
  return { body: record?.body, reserved: (await stillReserved(sql, [message.id])).has(message.id) };
}

interface OwnChange {
  /** What both accounts have besides. */
  prepare?: (account: Account) => Promise<unknown>;
  act: (account: Account) => Promise<unknown>;
  gives: unknown;
}

/** What changes something of an account alone. */
const CHANGES: Record<string, OwnChange> = {
  'a sender is removed': { act: ({ id }) => deactivateSender(sql, id, 'TEST'), gives: true },
  'a number is verified no more': { act: ({ id }) => deleteVerifiedNumber(sql, id, NUMBER), gives: true },
  'a keyword is allowed no more': { act: ({ id }) => revokeKeyword(sql, id, 'TAK'), gives: true },
  'another domain is made the default': {
    async act(account) {
      const id = newId('dom');
      const former = await domainOf(account);
      await sql`insert into sender_domains ${sql(domainRow({ ...account, domain: `x-${account.domain}` }, id))}`;
      await setDefaultDomain(sql, (await readDomain(sql, id))!);
      return [(await readDomain(sql, former.id))!.isDefault, (await readDomain(sql, id))!.isDefault];
    },
    gives: [false, true],
  },
  'the oldest domain becomes the default where the other account has one': {
    async act(account) {
      const { id } = await domainOf(account);
      await sql`update sender_domains set is_default = false where id = ${id}`;
      await sql`insert into sender_domains ${sql(domainRow({ ...account, domain: `x-${account.domain}` }, newId('dom')))}`;
      return (await ensureDefaultDomain(sql, account.id)) === id;
    },
    gives: true,
  },
  'the oldest domain becomes the default where neither has one': {
    prepare: ({ id }) => sql`update sender_domains set is_default = false where account_id = ${id}`,
    act: async (account) => (await ensureDefaultDomain(sql, account.id)) === (await domainOf(account)).id,
    gives: true,
  },
  'a look-up that was lost is ended and refunded': {
    prepare: ({ id }) => sql`
      update number_lookups set created_at = now() - interval '1 hour', checked_at = checked_at - interval '2 days'
       where account_id = ${id}`,
    act: beginsLookup,
    gives: true,
  },
  'messages are accepted, charged and reserved with a key': {
    act: (account) => acceptsWithKey(account, 'nowy'),
    gives: { body: { of: 'nowy' }, reserved: true },
  },
  'a key of the day before is taken anew': {
    prepare: ({ id }) => sql`
      update idempotency_keys set created_at = now() - interval '24 hours' where account_id = ${id}`,
    act: (account) => acceptsWithKey(account, KEY),
    gives: { body: { of: KEY }, reserved: true },
  },
  'a reservation is settled': {
    async act({ id }) {
      const [{ subjectId } = { subjectId: '' }] = await sql<{ subjectId: string }[]>`
        select subject_id from reservations where account_id = ${id}`;
      await settleReservation(sql, subjectId);
      return (await stillReserved(sql, [subjectId])).size;
    },
    gives: 0,
  },
  'a person is erased': {
    act: ({ id }) => erasePerson(sql, { msisdn: NUMBER, accountId: id }, () => '+48500***777'),
    gives: { messages: 1, replies: 0, lookups: 1 },
  },
  'an address is erased': {
    act: ({ id }) => eraseAddressee(sql, { address: ADDRESS, accountId: id }),
    gives: 1,
  },
};

/** Every row of every table that belongs to an account. */
async function everythingOf({ id }: Account): Promise<Record<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c
      join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_schema = 'public' and c.column_name = 'account_id' and t.table_type = 'BASE TABLE' order by 1`;
  const rows: Record<string, string[]> = {};
  for (const [name, owner] of [['accounts', 'id'], ...tables.map((table) => [table.name, 'account_id'])] as [
    string,
    string,
  ][]) {
    const found = await sql<{ row: string }[]>`
      select to_jsonb(t)::text as row from ${sql(name)} t where ${sql(owner)} = ${id} order by 1`;
    if (found.length > 0) rows[name] = found.map(({ row }) => row);
  }
  return rows;
}

const ID = /\b[a-z]+_[0-9a-z]{26}\b/g;

/** With what is each account's own by nature out of it. */
function shapeOf(value: unknown, { id, domain }: Account): unknown {
  const text = JSON.stringify(value ?? null)
    .replaceAll(id, '<account>')
    .replaceAll(domain, '<domain>')
    .replaceAll(ID, '<id>')
    .replaceAll(/"id":\d+/g, '"id":0')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>');
  return JSON.parse(text);
}

async function readAll(account: Account): Promise<Map<string, unknown>> {
  const shown = new Map<string, unknown>();
  for (const [name, read] of Object.entries(READS)) shown.set(name, await read(account));
  return shown;
}

test('of two accounts with all the same, each is read its own, and one that has nothing nothing', async () => {
  const bare = { id: newId('cl'), domain: 'nobodys.example', request: newId('req') };
  await sql`insert into accounts (id, name) values (${bare.id}, 'Test')`;
  const nothing = await readAll(bare);
  const first = await newAccount();
  const alone = await readAll(first);
  for (const [name, shown] of alone) {
    expect(shapeOf(shown, first), `nothing is read: ${name}`).not.toEqual(shapeOf(nothing.get(name), bare));
    if (name.startsWith('room ')) expect(shown, name).toEqual([true, false]);
  }

  const second = await newAccount();
  // Nothing of theirs is its own, though it may know the name.
  const curious = { ...bare, domain: first.domain };
  for (const [name, shown] of await readAll(curious))
    expect(shapeOf(shown, curious), name).toEqual(shapeOf(nothing.get(name), bare));
  for (const account of [first, second]) {
    const own = JSON.stringify(await everythingOf(account));
    for (const [name, shown] of await readAll(account)) {
      expect(shapeOf(shown, account), name).toEqual(shapeOf(alone.get(name), first));
      for (const id of JSON.stringify(shown).match(ID) ?? []) expect(own, name).toContain(id);
    }
  }
});

test.each(Object.entries(CHANGES))(
  'of two accounts with all the same, each changes its own: %s',
  async (_, { prepare, act, gives }) => {
    const [first, second] = [await newAccount(), await newAccount()];
    for (const account of [first, second]) await prepare?.(account);
    // The younger one before the older: whichever a statement finds first, one of the two is the wrong one.
    for (const [account, other] of [
      [second, first],
      [first, second],
    ] as const) {
      const before = [await everythingOf(account), await everythingOf(other)];
      expect(await act(account)).toEqual(gives);
      expect(await everythingOf(other)).toEqual(before[1]);
      expect(await everythingOf(account)).not.toEqual(before[0]);
    }
  },
);

test('the changes that an account may make in a day are its own', async () => {
  const change = async ({ id }: Account) => {
    const actor = { kind: 'key', id: 'k', toolBudget: false } as const;
    const by = { actor, accountId: id, requestId: 'r', address: '127.0.0.1' };
    await writeApiChange(sql, by, { action: 'a', subject: null, changes: { name: { from: 1, to: 2 } } });
  };
  for (const older of [true, false]) {
    const [first, second] = [await newAccount(), await newAccount()];
    const [full, other] = older ? [first, second] : [second, first];
    await sql`
      insert into audit_log (actor, action, account_id, request_id)
      select 'k', 'a', ${full.id}, 'r' from generate_series(1, 1000)`;
    await expect(change(full)).rejects.toThrow(ChangesTooManyError);
    await change(other);
  }
});
