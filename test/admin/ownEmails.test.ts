import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alertOfBalances } from '../../worker/balanceAlerts.ts';
import { sendDueOwnEmails } from '../../worker/ownEmails.ts';
import { readBacklog } from '../../db/money/reservations.ts';
import { cachedRouting } from '../../db/routes/routes.ts';
import { newId } from '../../db/ids.ts';
import { listStatements } from '../../db/money/statements.ts';
import { type OwnEmail, sendOwnEmail } from '../../operations/email/ownEmail.ts';
import { providerKinds } from '../../providers/registry.ts';
import { insertDomain } from '../support/email.ts';
import { mailAccount } from '../workflows/emails.ts';
import { type Pipeline, pauseSchedule, startPipeline, WEBHOOK_SECRET } from '../workflows/pipeline.ts';
import { findingsOf } from '../workflows/reconciling.ts';
import { type Answer, listIn, pipelineLine } from './support.ts';
import { until } from '../support/eventually.ts';
import { startReceiver } from '../support/webhookReceiver.ts';

const HOUSE = newId('cl');

let pipeline: Pipeline;
let domain: string;
beforeAll(async () => {
  pipeline = await startPipeline('real', { OWN_EMAIL_ACCOUNT: HOUSE, PANEL_URL: 'https://panel.example' });
  await pauseSchedule(pipeline.client);
  await openHouse();
});
afterAll(() => pipeline?.close());

const { run, ok, no } = pipelineLine(() => pipeline);

async function openHouse(): Promise<void> {
  await pipeline.sql`insert into accounts (id, name, mode) values (${HOUSE}, 'Goniec', 'live')`;
  await pipeline.sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${HOUSE}, 'opening', 100)`;
  domain = await insertDomain(pipeline.sql, pipeline.secretsKey, HOUSE);
}

let customers = 0;

/** A postpaid account, with an address of its own unless told otherwise, that owes 10.80 PLN for October 2026. */
async function customer(contact: string | null = `biuro${(customers += 1)}@klient.example`) {
  const words = contact === null ? [] : ['--contact-email', contact];
  const created = await ok(
    ...['accounts', 'create', '--name', 'Sklep', '--mode', 'live', '--billing', 'postpaid'],
    ...['--credit-limit', '100000', ...words],
  );
  const id = String(created['id']);
  await charge(id, 1080);
  return { id, contact: contact ?? '' };
}

async function charge(account: string, grosze: number): Promise<void> {
  const message = newId('msg');
  await pipeline.sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
    values (${message}, ${account}, ${newId('req')}, 'failed', 'queued', '+48600100200', 'x', 1, ${grosze}, now(), 'simulator')`;
  await pipeline.sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
    values (${account}, 'charge', ${-grosze}, 'message', ${message}, '2026-10-10T12:00:00Z')`;
}

async function member(account: string, address: string, alerted: boolean): Promise<void> {
  const id = newId('per');
  await pipeline.sql`insert into people (id, address) values (${id}, ${address})`;
  await pipeline.sql`
    insert into memberships (person_id, account_id, role, alerted) values (${id}, ${account}, 'billing', ${alerted})`;
}

const issue = (account: string, ...words: string[]): Promise<Answer> =>
  ok('statements', 'issue', '--account', account, '--month', '2026-10', ...words);

/** What the provider was handed over of the service's own e-mails to an address, the first first. */
async function mailsTo(address: string): Promise<{ subject: string; text: string; from: unknown }[]> {
  const rows = await pipeline.sql<{ mail: { subject: string; text: string; from: unknown } }[]>`
    select s.mail from simulator_emails s join emails e on e.id = s.reference
     where e.account_id = ${HOUSE} and s.mail->'to' ? ${address} order by e.id`;
  return rows.map(({ mail }) => mail);
}

const services = () => ({
  ...{ sql: pipeline.sql, temporal: pipeline.client, secretsKey: pipeline.secretsKey },
  ...{
    routing: cachedRouting(pipeline.sql, providerKinds.withTraits),
    backlog: () => readBacklog(pipeline.sql),
    log: pino({ level: 'silent' }),
  },
  ...{ ownEmailAccount: HOUSE, panelUrl: 'https://panel.example' },
});

/** Sends what is due beside the worker, which does so every five seconds: any number may. */
const sendDue = (): Promise<void> => sendDueOwnEmails(services(), new AbortController().signal);

const comeTo = (address: string, count: number): Promise<void> =>
  until(`${count} e-mails to an address`, async () => (await mailsTo(address)).length === count);

async function untilMails(address: string, count: number): Promise<void> {
  await sendDue();
  await comeTo(address, count);
}

async function listed(account: string): Promise<Answer> {
  return listIn(await ok('statements', 'list', '--account', account))[0]!;
}

async function untilStatus(account: string, status: string): Promise<void> {
  await sendDue();
  const now = async () => (await listStatements(pipeline.sql, account))[0]!.emailStatus;
  await until(`an e-mail is ${status}`, async () => (await now()) === status);
}

const refusalOf = async (statement: unknown): Promise<string | null> => {
  const [row] = await pipeline.sql<{ refusal: string | null }[]>`
    select refusal from own_emails where subject = ${String(statement)}`;
  return row?.refusal ?? null;
};

async function untilRefused(statement: unknown, reason: string): Promise<void> {
  await sendDue();
  await until(`refused: ${reason}`, async () => (await refusalOf(statement)) === reason);
}

/** Has everything that waits tried now, as if its minute or hour was over. */
const tryNow = () => pipeline.sql`update own_emails set next_try_at = now() where next_try_at is not null`;

const balance = () => pipeline.balance(HOUSE);

describe('the account of the house', () => {
  test('pays for a statement, which is e-mailed to its account once it is issued', async () => {
    const { id, contact } = await customer();
    const before = await balance();
    const issued = await issue(id, '--due', '2026-12-01T00:00:00+01:00');
    expect(issued).toMatchObject({ email_status: 'waiting', amount_grosze: 1080 });
    // By the worker itself.
    await comeTo(contact, 1);
    await untilStatus(id, 'delivered');
    expect((await listed(id))['emailed_at']).not.toBeNull();
    expect(await mailsTo(contact)).toMatchObject([
      {
        ...{ from: { address: `noreply@${domain}`, name: null }, to: [contact], cc: [], bcc: [] },
        subject: 'Rozliczenie za październik 2026',
        text: expect.stringContaining(
          `Konto: ${id}\nKwota netto: 10,80 PLN\nTermin płatności: 01.12.2026, godz. 00:00 czasu polskiego\nTytuł płatności: ${String(issued['id'])}\n`,
        ) as string,
      },
    ]);
    expect(await balance()).toBe(before - 1);
    expect((await no('statements', 'issue', '--account', id, '--month', '2026-10')).code).toBe('refused');
  });

  test('with too little money has it e-mailed later', async () => {
    const { id, contact } = await customer();
    const left = await balance();
    await ok('adjust', '--account', HOUSE, '--grosze', String(-left), '--note', 'nothing left');
    const issued = await issue(id);
    await untilRefused(issued['id'], 'insufficient_funds');
    expect(await mailsTo(contact)).toEqual([]);
    expect(await listed(id)).toMatchObject({ email_status: 'waiting', emailed_at: null });

    await ok('topup', '--account', HOUSE, '--pln', '50');
    await tryNow();
    await untilMails(contact, 1);
    expect(await balance()).toBe(4999);
  });

  test.each(['suspended', 'closed'])('that is %s sends nothing until it is active', async (status) => {
    const { id, contact } = await customer();
    await ok('accounts', 'set', '--account', HOUSE, '--status', status);
    const issued = await issue(id);
    await untilRefused(issued['id'], `account_${status}`);
    expect(await listed(id)).toMatchObject({ email_status: 'waiting', emailed_at: null });
    await ok('accounts', 'set', '--account', HOUSE, '--status', 'active');
    await tryNow();
    await untilMails(contact, 1);
  });

  test('that cannot send for three days leaves it to staff, who have it sent again', async () => {
    const { id, contact } = await customer();
    await ok('accounts', 'set', '--account', HOUSE, '--status', 'suspended');
    const issued = await issue(id);
    const statement = String(issued['id']);
    await untilRefused(statement, 'account_suspended');
    await pipeline.sql`
      update own_emails set created_at = now() - interval '73 hours', next_try_at = now() where subject = ${statement}`;
    const found = async () => (await findingsOf(pipeline, statement))[0];
    await sendDue();
    await until('it is given up', async () => (await found()) !== undefined);
    expect(await found()).toMatchObject({ kind: 'own_email_left', state: 'open' });
    expect(await listed(id)).toMatchObject({ email_status: 'account_suspended', emailed_at: null });

    await ok('accounts', 'set', '--account', HOUSE, '--status', 'active');
    expect(await ok('statements', 'send', '--statement', statement)).toMatchObject({
      email_status: 'waiting',
    });
    await untilMails(contact, 1);
    await sendDue();
    await until('the finding is gone', async () => (await found())?.state === 'gone');
  });
});

describe('a statement', () => {
  test('is e-mailed again when staff want it, once for each time, and not twice at once', async () => {
    const { id, contact } = await customer();
    const statement = String((await issue(id))['id']);
    await untilMails(contact, 1);
    const tries = await Promise.all([1, 2, 3].map(() => run('statements', 'send', '--statement', statement)));
    expect(tries.map(({ code }) => code)).toEqual([0, 0, 0]);
    await untilMails(contact, 2);
    await untilStatus(id, 'delivered');
    expect(await mailsTo(contact)).toHaveLength(2);
    const audit = listIn(await ok('audit', '--account', id));
    expect(audit.filter(({ action }) => action === 'statements send')).toHaveLength(3);
  });

  test('whose worker ended before it noted the e-mail is not e-mailed again, a day later either', async () => {
    const { id, contact } = await customer();
    const statement = String((await issue(id))['id']);
    await untilMails(contact, 1);
    await untilStatus(id, 'delivered');
    const before = await balance();
    await pipeline.sql`delete from idempotency_keys where account_id = ${HOUSE}`;
    await pipeline.sql`
      update own_emails set email_id = null, accepted_at = null, next_try_at = now() where subject = ${statement}`;
    await untilStatus(id, 'delivered');
    expect(await mailsTo(contact)).toHaveLength(1);
    expect(await balance()).toBe(before);
  });

  test('without an address, or that asks for nothing, is not e-mailed', async () => {
    const nowhere = await customer(null);
    const issued = await issue(nowhere.id);
    expect(issued['email_status']).toBeNull();
    expect((await no('statements', 'send', '--statement', String(issued['id']))).message).toContain(
      'no contact address',
    );
    const { id } = await customer();
    const nothing = await ok('statements', 'issue', '--account', id, '--month', '2026-09');
    expect(nothing).toMatchObject({ amount_grosze: 0, email_status: null });
    expect(await listed(id)).toMatchObject({ email_status: null, emailed_at: null });
    expect((await no('statements', 'send', '--statement', newId('st'))).code).toBe('not_found');
  });

  test('to an address that is suppressed goes to nobody, says so, and is sent again once it is not', async () => {
    const { id, contact } = await customer();
    await pipeline.sql`
      insert into suppressions (account_id, address, reason) values (${HOUSE}, ${contact}, 'bounce')`;
    const before = await balance();
    const statement = String((await issue(id))['id']);
    await untilStatus(id, 'suppressed');
    expect(await findingsOf(pipeline, statement)).toMatchObject([{ kind: 'own_email_left', state: 'open' }]);
    expect(await balance()).toBe(before);
    await pipeline.sql`delete from suppressions where account_id = ${HOUSE}`;
    await ok('statements', 'send', '--statement', statement);
    await untilMails(contact, 1);
    expect(await balance()).toBe(before - 1);
  });

  test('of an account that is closed is e-mailed: it owes what it owes', async () => {
    const { id, contact } = await customer();
    await ok('accounts', 'set', '--account', id, '--status', 'closed');
    await issue(id);
    await untilMails(contact, 1);
  });

  test('that is due within three days is announced, unless it was issued today or is paid', async () => {
    const [soon, later, today, paid] = [
      await customer(),
      await customer(),
      await customer(),
      await customer(),
    ];
    for (const { id } of [soon, later, today, paid]) await issue(id);
    for (const { contact } of [soon, later, today, paid]) await untilMails(contact, 1);
    await ok('statements', 'pay', String((await listed(paid.id))['id']));
    const dueIn = (id: string, days: number, issued = 2) => pipeline.sql`
      update statements set due_at = now() + make_interval(days => ${days}), issued_at = now() - make_interval(days => ${issued})
       where account_id = ${id}`;
    await Promise.all([dueIn(soon.id, 2), dueIn(later.id, 4), dueIn(today.id, 2, 0), dueIn(paid.id, 2)]);
    await untilMails(soon.contact, 2);
    expect((await mailsTo(soon.contact))[1]!.subject).toContain('Zbliża się termin');
    const announced = await pipeline.sql<{ subject: string }[]>`
      select subject from own_emails where kind = 'due'`;
    expect(announced.map(({ subject }) => subject)).toEqual([(await listed(soon.id))['id']]);
  });

  test('goes to the contact address and to people who want it, once to an address', async () => {
    const { id, contact } = await customer('Biuro@klient.example');
    const people = ['biuro@klient.example', 'ola@klient.example', 'jan@klient.example'];
    await member(id, people[0]!, true);
    await member(id, people[1]!, true);
    await member(id, people[2]!, false);
    await issue(id);
    await untilMails('ola@klient.example', 1);
    const [{ to } = { to: [] }] = (await mailsTo('ola@klient.example')) as unknown as { to: string[] }[];
    expect(to.map((address) => address.toLowerCase())).toEqual(people.slice(0, 2));
    const alone = await customer(null);
    await member(alone.id, 'sama@klient.example', true);
    expect(await issue(alone.id)).toMatchObject({ email_status: 'waiting' });
    await untilMails('sama@klient.example', 1);
    expect(contact).toBe('Biuro@klient.example');
  });

  test('that is a day overdue is reminded of once, and of a paid or an old one nobody', async () => {
    const [late, paid, old] = [await customer(), await customer(), await customer()];
    for (const { id } of [late, paid, old]) await issue(id);
    for (const { contact } of [late, paid, old]) await untilMails(contact, 1);
    await ok('statements', 'pay', String((await listed(paid.id))['id']));
    const overdue = (id: string, days: number) => pipeline.sql`
      update statements set due_at = now() - make_interval(days => ${days}) where account_id = ${id}`;
    await Promise.all([overdue(late.id, 2), overdue(paid.id, 2), overdue(old.id, 9)]);
    await untilMails(late.contact, 2);
    expect((await mailsTo(late.contact))[1]!.subject).toContain('Przypomnienie');
    const reminders = await pipeline.sql<{ subject: string }[]>`
      select subject from own_emails where kind = 'reminder'`;
    expect(reminders.map(({ subject }) => subject)).toEqual([(await listed(late.id))['id']]);
    await until(
      'its statement is delivered',
      async () => (await listed(late.id))['email_status'] === 'delivered',
    );
  });
});

describe('an alert about a balance', () => {
  const look = () => alertOfBalances(pipeline.sql, new AbortController().signal);
  const hold = (account: string, grosze: number) => pipeline.sql`
    insert into ledger_entries (account_id, kind, amount_grosze)
    select id, 'adjustment', ${grosze} - balance_grosze from accounts where id = ${account}`;
  const told = async (account: string) => {
    const rows = await pipeline.sql<{ kind: string }[]>`
      select kind from own_emails where subject = ${account} order by created_at, kind`;
    return rows.map(({ kind }) => kind);
  };
  const threshold = (account: string, grosze: number) => pipeline.sql`
    insert into balance_alerts (account_id, low_balance_grosze) values (${account}, ${grosze})`;
  /** An account that has paid a złoty a day for ten days. */
  async function spender(): Promise<string> {
    const id = await pipeline.account({ balance: 5_000 });
    await charge(id, 1_000);
    await pipeline.sql`alter table ledger_entries disable trigger ledger_append_only`;
    await pipeline.sql`
      update ledger_entries set created_at = now() - interval '10 days' where account_id = ${id} and kind = 'charge'`;
    await pipeline.sql`alter table ledger_entries enable trigger ledger_append_only`;
    return id;
  }

  test.each([
    ['low', 'balance_low', [1_500, 900, 1_050, 950, 1_200, 900], [0, 1, 1, 1, 1, 1]],
    [
      'soon used up',
      'runway',
      [2_000, 790, 650, 830, 790, 390, 190, 0, 5_000, 250],
      [0, 1, 1, 1, 1, 2, 3, 3, 3, 3],
    ],
  ])('that is %s comes once a day for each threshold that is crossed', async (_, kind, balances, counts) => {
    const id = kind === 'runway' ? await spender() : await pipeline.account({ balance: 1_500 });
    if (kind === 'balance_low') await threshold(id, 1_000);
    const seen: number[] = [];
    for (const grosze of balances) {
      await hold(id, grosze);
      await Promise.all([look(), look(), look()]);
      const kinds = await told(id);
      expect(kinds.every((one) => one === kind)).toBe(true);
      seen.push(kinds.length);
    }
    expect(seen).toEqual(counts);
    await pipeline.sql`update own_emails set idx = idx || 'yesterday' where subject = ${id}`;
    for (const grosze of [5_000, 250]) {
      await hold(id, grosze);
      await look();
    }
    expect(await told(id)).toHaveLength(counts.at(-1)! + 1);
  });

  test('counts the credit of a postpaid account, and leaves out what is no live account in use', async () => {
    const others = [];
    for (const columns of [
      { billing_mode: 'postpaid', credit_limit_grosze: 2_000 },
      { billing_mode: 'postpaid', credit_limit_grosze: 500 },
      { mode: 'test' },
      { status: 'suspended' },
      { status: 'closed' },
    ]) {
      const id = await pipeline.account({ balance: 100 });
      await pipeline.sql`update accounts set ${pipeline.sql(columns)} where id = ${id}`;
      await threshold(id, 1_000);
      others.push(id);
    }
    await look();
    expect(await Promise.all(others.map(told))).toEqual([[], ['balance_low'], [], [], []]);
  });

  test('says what is left, and is no more sent once the balance has recovered', async () => {
    const [id, recovered] = [await spender(), await spender()];
    for (const account of [id, recovered]) {
      await threshold(account, 1_000);
      await member(account, `${account}@klient.example`, true);
      await hold(account, 250);
    }
    await look();
    await pipeline.sql`update own_emails set next_try_at = now() + interval '1 hour' where subject = ${recovered} and accepted_at is null`;
    await untilMails(`${id}@klient.example`, 2);
    const mails = await mailsTo(`${id}@klient.example`);
    expect(mails.map(({ subject }) => subject).sort()).toEqual([
      'Niskie saldo: Test',
      'Środków wystarczy na około 2 dni: Test',
    ]);
    for (const { text } of mails)
      for (const said of [
        `Konto: Test (${id})\nDo wykorzystania: 2,50 PLN netto`,
        'https://panel.example/panel/billing',
      ])
        expect(text).toContain(said);
    await hold(recovered, 9_000);
    await look();
    const accepted =
      await pipeline.sql`select from own_emails where subject = ${recovered} and accepted_at is not null`;
    await tryNow();
    await until('both are ended', async () => {
      await sendDue();
      const open =
        await pipeline.sql`select from own_emails where subject = ${recovered} and next_try_at is not null`;
      return open.count === 0;
    });
    expect(await mailsTo(`${recovered}@klient.example`)).toHaveLength(accepted.count);
    // What was not sent is sent when it is so again, the same day.
    await hold(recovered, 250);
    await look();
    await untilMails(`${recovered}@klient.example`, 2);
  });

  test('goes to the webhook as balance.low, once', async () => {
    const receiver = await startReceiver();
    receiver.useSecret(WEBHOOK_SECRET);
    const id = await spender();
    await pipeline.sql`update accounts set webhook_url = ${receiver.url} where id = ${id}`;
    await threshold(id, 1_000);
    await hold(id, 350);
    await Promise.all([look(), look()]);
    await look();
    const [call] = await receiver.until((calls) => calls.length > 0);
    expect(call).toMatchObject({
      ...{ verified: true, breach: null },
      event: { type: 'balance.low', data: { balance_grosze: 350, threshold_grosze: 1_000, runway_days: 3 } },
    });
    const events = await pipeline.sql`select from webhook_events where account_id = ${id}`;
    expect(events).toHaveLength(1);
    await receiver.close();
  });
});

describe('the contact address', () => {
  test.each(['klient.example', 'jan@klient.example\r\nBcc: ola@klient.example'])(
    'is no %s',
    async (address) => {
      const { id } = await customer(null);
      for (const words of [
        ['accounts', 'set', '--account', id],
        ['accounts', 'create', '--name', 'Sklep'],
      ]) {
        const refused = await no(...words, '--contact-email', address);
        expect(refused).toMatchObject({ code: 'invalid_argument' });
        expect(refused.message).toContain('--contact-email');
      }
      expect(await ok('accounts', 'show', '--account', id)).toMatchObject({ contact_email: null });
    },
  );

  test('is set, taken away and erased, and nowhere in the audit log', async () => {
    const { id } = await customer('Ksiegowa.Zofia@KLIENT.example');
    const shown = () => ok('accounts', 'show', '--account', id);
    expect(await shown()).toMatchObject({ contact_email: 'Ksiegowa.Zofia@klient.example' });
    await ok('accounts', 'set', '--account', id, '--contact-email', 'none');
    expect(await shown()).toMatchObject({ contact_email: null });
    await ok('accounts', 'set', '--account', id, '--contact-email', 'Ksiegowa.Zofia@klient.example');
    await issue(id);
    await untilStatus(id, 'delivered');

    const words = ['erase', '--email', 'ksiegowa.zofia@klient.example'];
    expect(await ok(...words)).toMatchObject({ erased: false, contact_addresses: 1, emails: 1 });
    expect(await shown()).toMatchObject({ contact_email: 'Ksiegowa.Zofia@klient.example' });
    await ok(...words, '--yes');
    expect(await shown()).toMatchObject({ contact_email: null });
    const [left] = await pipeline.sql<{ count: number }[]>`
      select count(*)::int as count from audit_log where details::text ilike '%zofia%'`;
    expect(left!.count).toBe(0);
    const [record] = await pipeline.sql`
      select details->'changes' as changes from audit_log
       where account_id = ${id} and action = 'accounts set' order by id limit 1`;
    expect(record).toEqual({ changes: { contact_email: { from: 'K…@klient.example', to: null } } });
  });
});

describe('an own e-mail', () => {
  const email = (to: string): OwnEmail & { to: string } => ({
    ...{ to, subject: 'Zaloguj się', text: 'https://panel.example/' },
    idx: `sign-in:${newId('key')}`,
  });

  test('is sent once under calls at the same time, and under later ones, also after a day', async () => {
    const one = email('logowanie@klient.example');
    const outcomes = await Promise.all([1, 2, 3].map(() => sendOwnEmail(services(), one)));
    const accepted = outcomes.filter(({ state }) => state === 'accepted');
    expect(accepted.length).toBeGreaterThan(0);
    for (const outcome of outcomes)
      if (outcome.state === 'refused')
        expect(outcome).toEqual({ state: 'refused', reason: 'idempotency_in_progress', again: true });
    await pipeline.sql`delete from idempotency_keys where account_id = ${HOUSE}`;
    expect(await sendOwnEmail(services(), one)).toEqual(accepted[0]);
    await untilMails(one.to, 1);
  });

  test('is sent also where a customer has used its idx', async () => {
    const one = email('wlasne@klient.example');
    const other = await mailAccount(pipeline);
    const theirs = await sendOwnEmail({ ...services(), ownEmailAccount: other }, one);
    const ours = await sendOwnEmail(services(), one);
    expect([theirs.state, ours.state]).toEqual(['accepted', 'accepted']);
    expect(ours).not.toEqual(theirs);
    await untilMails(one.to, 1);
  });

  test('is off unless there is an account for it, and says so', async () => {
    const off = { ...services(), ownEmailAccount: null };
    expect(await sendOwnEmail(off, email('nikt@klient.example'))).toEqual({ state: 'off' });
    await sendDueOwnEmails(off, new AbortController().signal);
    expect(await mailsTo('nikt@klient.example')).toEqual([]);
  });
});
