import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { erasePerson } from '../../db/maintenance/erasure.ts';
import { erasePostponed } from '../../db/maintenance/retention.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsReadByAll } from '../support/rowsRead.ts';

const PHONE = '+48500100201';
const MANY = 100_000;
// What good plans need at most for the reports below, in all statements together.
const FEW = 60;

const account = newId('cl');

const { sql } = await fileDatabase(undefined, 1);

beforeAll(async () => {
  await sql`insert into accounts (id, name, mode) values (${account}, 'Reports', 'live')`;
  // Of other people, all younger than the messages below.
  await sql`
    insert into delivery_reports (route, provider_message_id, other_ids, message_id, part, phone, state, details, applied_at, look_at)
    select 'r', 'p' || n, array['a' || n], 'msg_' || n, 1, '+48600' || lpad(n::text, 6, '0'), 'delivered', 'Poufne', now(), null
      from generate_series(1, ${MANY}::int) n`;
  await sql`analyze delivery_reports`;
});

/** A message of long ago that has ended, with reports of each kind. */
async function reported(): Promise<string> {
  const id = newId('msg');
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route,
                          created_at, updated_at)
    values (${id}, ${account}, ${id}, 'delivered', 'queued', ${PHONE}, 'Poufne', 2, 15, now(), 'r', now() - interval '80 days',
            now() - interval '80 days')`;
  await sql`
    insert into message_parts (message_id, part, state, route, provider_message_id)
    values (${id}, 1, 'accepted', 'r', 'x1' || ${id}), (${id}, 2, 'accepted', 'r', 'x2' || ${id})`;
  await sql`
    insert into delivery_reports (route, provider_message_id, other_ids, message_id, part, phone, state, details, applied_at, look_at)
    values ('r', 'x1' || ${id}, '{}', null, null, null, 'delivered', 'Poufne', now(), null),
           ('r', 'y2' || ${id}, array['z2', 'x2' || ${id}], null, null, null, 'delivered', 'Poufne', now(), null),
           ('r', '', '{}', ${id}, 1, null, 'delivered', 'Poufne', now(), null),
           ('r', 'nobody' || ${id}, '{}', null, null, ${PHONE}, 'delivered', 'Poufne', now(), null)`;
  return id;
}

const erase = () => erasePerson(sql, { msisdn: PHONE, accountId: null }, maskMsisdn);

const left = async (): Promise<number> =>
  (
    await sql`select from delivery_reports where provider_message_id !~ '^p' and (phone is not null or details is not null)`
  ).count;

test('an erasure reads the reports that are about the person, however many there are', async () => {
  await reported();
  expect(await rowsReadByAll(sql, 'delivery_reports', erase)).toBeLessThan(FEW);
  expect(await left()).toBe(0);
});

test('the nightly erasure of messages that were open reads the reports to these', async () => {
  const id = await reported();
  const rows = await rowsReadByAll(sql, 'delivery_reports', () => erasePostponed(sql, [id], maskMsisdn));
  expect(rows).toBeLessThan(FEW);
  // That it was about this number is all that the fourth one says.
  expect(await left()).toBe(1);
});
