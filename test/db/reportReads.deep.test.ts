import { beforeAll, beforeEach, expect, test } from 'vitest';
import { storeReports, takeMatchedReports } from '../../db/incoming/deliveryReports.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsRead } from '../support/rowsRead.ts';

const PHONE = '+48500100201';
const ROUTE = 'r';
const MANY = 30_000;
// What good plans need at most of a table for the one report and the messages it may be about; of each many of the below there would be more.
const FEW = 20;

const { sql } = await fileDatabase();

beforeAll(async () => {
  await sql`insert into accounts (id, name, mode) values ('cl_a', 'Reports', 'live')`;
  await write('final', MANY, {
    status: 'delivered',
    submission: 'answered',
    state: 'accepted',
    age: '1 hour',
  });
  await write('other', MANY, {
    ...{ status: 'delivered', submission: 'answered', state: 'accepted', age: '1 hour' },
    phone: '+48600',
  });
  await sql`update message_parts set provider_message_id = message_id where state = 'accepted'`;
  // Of the hour before all that follows, as autovacuum leaves them.
  await sql`analyze messages, message_parts`;
  await write('lost', MANY, {
    ...{ status: 'expired', submission: 'unanswered', state: 'unanswered', age: '30 days' },
    phone: '+48700',
  });
  await write('waiting', MANY, { status: 'queued', submission: 'waiting', phone: '+48800' });
  await write('open', 1, {
    status: 'queued',
    submission: 'unanswered',
    state: 'unanswered',
    age: '10 minutes',
  });
});
beforeEach(() => sql`truncate delivery_reports`);

/** Messages `msg_(name)(number)`, with a part each where its state is given: to the phone, or each to one that begins so. */
async function write(
  name: string,
  count: number,
  of: { status: string; submission: string; state?: string; age?: string; phone?: string },
): Promise<void> {
  const { status, submission, state, age = '1 hour', phone } = of;
  await sql`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route, created_at)
    select ${`msg_${name}`} || n, 'cl_a', ${name} || n, ${status}, ${submission}, 'queued',
           coalesce(${phone ?? null}::text || lpad(n::text, 6, '0'), ${PHONE}), 'x', 1, 10, now(), ${ROUTE},
           now() - ${age}::interval
      from generate_series(1, ${count}::int) n`;
  if (state === undefined) return;
  await sql`
    insert into message_parts (message_id, part, state, route, submitted_at)
    select ${`msg_${name}`} || n, 1, ${state}, ${ROUTE}, now() - ${age}::interval from generate_series(1, ${count}::int) n`;
}

test.each([
  ['of the phone', 'msg_final5', 'msg_final5'],
  ['of a message to another phone, which counts less than the unanswered one', 'msg_other5', 'msg_open1'],
  ['that is unknown', 'nobody', 'msg_open1'],
])(
  'a report with an id %s reads what is open to its phone, however much it got and however much waits',
  async (_, id, messageId) => {
    await storeReports(sql, ROUTE, [
      { providerMessageId: id, reference: null, state: 'delivered', errorCode: '000', phone: PHONE },
    ]);
    for (const table of ['messages', 'message_parts']) {
      // Older than any answer that might still be stored.
      await sql`update delivery_reports set received_at = now() - interval '1 minute', look_at = now()`;
      const { answer, rows } = await rowsRead(sql, table, (tx) => takeMatchedReports(tx, 200));
      expect(answer.reports).toMatchObject([{ messageId }]);
      expect(rows).toBeLessThan(FEW);
    }
  },
);
