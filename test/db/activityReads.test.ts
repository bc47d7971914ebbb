import { expect, test } from 'vitest';
import { readActivity } from '../../db/accounts/audit.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsRead } from '../support/rowsRead.ts';

const { sql } = await fileDatabase();

test('a page of activity reads its own entries, however many came before and after', async () => {
  const entries = 20_000;
  await sql`
    insert into audit_log (actor, action, account_id)
    select 'jan', 'keys create', 'cl_' || n % 2 from generate_series(1, ${entries}::int) n`;
  await sql`analyze audit_log`;
  const filters = { before: entries / 2, actor: null, actions: null };
  const { answer, rows } = await rowsRead(sql, 'audit_log', (tx) => readActivity(tx, 'cl_1', filters, 51));
  expect(answer).toHaveLength(51);
  expect(answer[0]!.id).toBe(entries / 2 - 1);
  expect(rows).toBe(51);
});
