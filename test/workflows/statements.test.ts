import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statementActivities } from '../../activities/statements.ts';
import { newId } from '../../db/ids.ts';
import { readDocument } from '../../db/money/statementDocuments.ts';
import { listStatements } from '../../db/money/statements.ts';
import { staffServices } from '../../operations/staff.ts';
import { ensureSchedules } from '../../worker/schedules.ts';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { readPdf } from '../support/pdf.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';

let pipeline: Pipeline;
/** Last month and this one in Poland, `YYYY-MM`. */
let [last, current] = ['', ''];
beforeAll(async () => {
  pipeline = await startPipeline('real');
  const [months] = await pipeline.sql<{ last: string; current: string }[]>`
    select to_char(t - interval '1 month', 'YYYY-MM') as last, to_char(t, 'YYYY-MM') as current
      from (select (now() - interval '5 minutes') at time zone 'Europe/Warsaw' as t)`;
  [last, current] = [months!.last, months!.current];
});
afterAll(() => pipeline?.close());

/** A postpaid account since long, with these columns. */
async function postpaid(columns: object = {}): Promise<string> {
  const id = newId('cl');
  const { sql } = pipeline;
  const usual = { name: 'Apteka', mode: 'live', billing_mode: 'postpaid', credit_limit_grosze: 1_000_000 };
  await sql`insert into accounts ${sql({ id, ...usual, created_at: new Date('2020-01-01'), ...columns })}`;
  return id;
}

interface Charged {
  kind?: 'charge' | 'refund';
  of?: string;
  grosze: number;
  /** A Polish time. */
  at: string;
  message?: object;
  subject?: 'email' | 'lookup';
}

/** Books a charge or refund. @returns its subject */
async function booked(
  account: string,
  { kind = 'charge', of, grosze, at, message, subject }: Charged,
): Promise<string> {
  const { sql } = pipeline;
  const isNew = of === undefined;
  const id = of ?? newId(subject === 'email' ? 'em' : subject === 'lookup' ? 'hlr' : 'msg');
  if (subject === undefined && isNew)
    await sql`insert into messages ${sql({
      ...{ id, account_id: account, request_id: 'r', status: 'delivered', accepted_as: 'queued', text: 'x' },
      ...{ recipient: '+48500100200', country: 'PL', parts: 1, cost_grosze: grosze, route: 'simulator' },
      ...{ give_up_at: new Date(), ...message },
    })}`;
  if (subject === 'lookup' && isNew)
    await sql`
      insert into number_lookups (id, account_id, msisdn, route, cost_grosze)
      values (${id}, ${account}, '+48500100200', 'simulator', ${grosze})`;
  if (subject === 'email' && isNew)
    await sql`
      insert into emails (id, account_id, request_id, interface, status, route, domain, from_address, subject, cost_grosze, give_up_at)
      values (${id}, ${account}, 'r', 'v2', 'sent', 'simulator', 'a.example', 'a@a.example', 'x', ${grosze}, now())`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
    values (${account}, ${kind}, ${kind === 'charge' ? -grosze : grosze}, ${subject ?? 'message'}, ${id},
            ${at}::timestamp at time zone 'Europe/Warsaw')`;
  return id;
}

/** One run of the schedule. */
const run = () =>
  pipeline.client.workflow.execute('statements', { workflowId: newId('req'), taskQueue: MESSAGES_QUEUE });

/** One try of a step. */
function step(name: 'issueStatements' | 'documentStatements'): Promise<unknown> {
  const { sql, client, secretsKey } = pipeline;
  const services = staffServices({ sql, temporal: client, secretsKey });
  const steps = statementActivities(services, null);
  return new MockActivityEnvironment().run(() => steps[name]());
}

const statementOf = async (account: string) => (await listStatements(pipeline.sql, account))[0];

async function csvOf(statement: string): Promise<string[]> {
  const csv = await readDocument(pipeline.sql, statement, 'csv');
  return csv!.toString().trimEnd().split('\r\n');
}

test('last month’s statements are issued by the service once, for accounts that were postpaid then', async () => {
  const { sql } = pipeline;
  const billed = await postpaid();
  await booked(billed, { grosze: 15, at: `${last}-01 00:00` });
  await booked(billed, { grosze: 99, at: `${current}-01 00:00` });
  const silent = await postpaid();
  const others = {
    prepaid: await postpaid({ billing_mode: 'prepaid' }),
    new: await postpaid({ created_at: new Date() }),
    since: await postpaid({ postpaid_since: new Date() }),
    closed: await postpaid({ status: 'closed' }),
  };
  const closedBilled = await postpaid({ status: 'closed' });
  await booked(closedBilled, { grosze: 5, at: `${last}-28 12:00`, subject: 'lookup' });
  expect(await run()).toEqual({ issued: 3, documented: 3 });
  expect(await run()).toEqual({ issued: 0, documented: 0 });
  expect(await statementOf(billed)).toMatchObject({
    month: last,
    amountGrosze: 15,
    paidAt: null,
    documented: true,
  });
  expect(await statementOf(silent)).toMatchObject({ amountGrosze: 0, documented: true });
  expect(await statementOf(closedBilled)).toMatchObject({ amountGrosze: 5 });
  for (const [name, account] of Object.entries(others))
    expect(await statementOf(account), name).toBeUndefined();
  const audit =
    await sql`select actor, action, details->>'month' as month from audit_log where account_id = ${billed}`;
  expect([...audit]).toEqual([{ actor: 'statements', action: 'statements issue', month: last }]);
});

test('documents list what was billed by day and price, and sum up to the amount', async () => {
  const account = await postpaid({ name: 'Sklep', postpaid_since: new Date(`${last}-01T12:00:00Z`) });
  await pipeline.sql`
    insert into company_profiles (account_id, kind, name, nip, street, postal_code, city)
    values (${account}, 'company', 'Sklep #1 sp. z o.o.', '5260250274', 'ul. Długa 1', '00-950', 'Łódź')`;
  const before = await booked(account, { grosze: 1_000, at: `${last}-01 08:00` });
  await booked(account, { kind: 'refund', of: before, grosze: 1_000, at: `${last}-02 08:00` });
  const [day, later] = [`${last}-02`, `${last}-27`];
  await booked(account, { grosze: 30, at: `${day} 00:00`, message: { parts: 2 } });
  const refunded = await booked(account, { grosze: 15, at: `${day} 23:59:59` });
  await booked(account, { grosze: 15, at: `${later} 12:00` });
  await booked(account, { kind: 'refund', of: refunded, grosze: 15, at: `${later} 13:00` });
  const german = { recipient: '+49151', country: 'DE', priority: true };
  await booked(account, { grosze: 60, at: `${later} 14:00`, message: german });
  await booked(account, { grosze: 60, at: `${later} 15:00`, message: { channel: 'mms', country: null } });
  const email = await booked(account, { grosze: 7, at: `${later} 16:00`, subject: 'email' });
  await booked(account, { kind: 'refund', of: email, grosze: 2, at: `${later} 17:00`, subject: 'email' });
  await booked(account, { grosze: 5, at: `${later} 18:00`, subject: 'lookup' });
  expect(await run()).toEqual({ issued: 1, documented: 1 });
  const { id, amountGrosze } = (await statementOf(account))!;
  const lines = await csvOf(id);
  expect(lines).toEqual([
    'day,type,product,country,priority,unit_grosze,count,units,net_grosze',
    `${day},charge,sms,PL,false,15,2,3,45`,
    `${later},charge,email,,false,1,1,7,7`,
    `${later},charge,lookup,,false,5,1,1,5`,
    `${later},charge,mms,,false,60,1,1,60`,
    `${later},charge,sms,DE,true,60,1,1,60`,
    `${later},charge,sms,PL,false,15,1,1,15`,
    `${later},refund,email,,false,1,1,2,-2`,
    `${later},refund,sms,PL,false,15,1,1,-15`,
  ]);
  const sum = lines.slice(1).reduce((all, line) => all + Number(line.split(',').at(-1)), 0);
  expect([sum, amountGrosze]).toEqual([175, 175]);
  const { text } = await readPdf((await readDocument(pipeline.sql, id, 'pdf'))!);
  for (const shown of [
    'Sklep #1 sp. z o.o.',
    'NIP 5260250274',
    'SMS, Polska 3 4 0,15 0,60',
    'Razem brutto 2,15',
  ])
    expect(text).toContain(shown);
});

test('documents are made of the statement as it was issued, whatever the account has become', async () => {
  const { sql } = pipeline;
  const account = await postpaid({ name: 'Dawna nazwa' });
  await booked(account, { grosze: 15, at: `${last}-10 12:00` });
  expect(await step('issueStatements')).toBe(1);
  expect(await statementOf(account)).toMatchObject({ amountGrosze: 15, documented: false });
  await sql`update accounts set name = 'Nowa nazwa', postpaid_since = now(), status = 'closed' where id = ${account}`;
  expect(await run()).toEqual({ issued: 0, documented: 1 });
  const { id } = (await statementOf(account))!;
  const { text } = await readPdf((await readDocument(sql, id, 'pdf'))!);
  expect(text).toContain('Nabywca Dawna nazwa');
});

test('one that fails keeps no other from its statement and documents', async () => {
  const { sql } = pipeline;
  const accounts = await Promise.all([1, 2, 3].map(() => postpaid()));
  const [failing = '', ...others] = accounts.sort();
  await sql`create function refuse_row() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`;
  await sql.unsafe(`
    create trigger refuse_row before insert on statements for each row when (new.account_id = '${failing}')
      execute function refuse_row()`);
  await expect(step('issueStatements')).rejects.toThrow('not now');
  expect(await statementOf(failing)).toBeUndefined();
  await sql`drop trigger refuse_row on statements`;
  expect(await step('issueStatements')).toBe(1);
  const { id } = (await statementOf(failing))!;
  // Its lines cannot sum up to this.
  await sql`update statements set amount_grosze = 1 where id = ${id}`;
  await expect(step('documentStatements')).rejects.toThrow(`the lines of ${id} sum up to 0, not to 1`);
  for (const other of others) expect(await statementOf(other)).toMatchObject({ documented: true });
  expect(await statementOf(failing)).toMatchObject({ documented: false });
  await sql`update statements set amount_grosze = 0 where id = ${id}`;
  expect(await step('documentStatements')).toBe(1);
});

test('the schedule runs every morning of the Polish clock', async () => {
  await ensureSchedules(pipeline.client);
  const { spec } = await pipeline.client.schedule.getHandle('statements').describe();
  expect(spec).toMatchObject({
    timezone: 'Europe/Warsaw',
    calendars: [{ hour: [{ start: 6 }], minute: [{ start: 11 }] }],
  });
});
