import { expect, test } from 'vitest';
import { forgetOldSecrets } from '../../db/webhooks/webhooks.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsRead } from '../support/rowsRead.ts';

const { sql } = await fileDatabase();

test('of 5,000 accounts only those are read whose former secret’s time is over', async () => {
  await sql`
    insert into accounts (id, name, webhook_secret, webhook_secret_before, webhook_secret_changed_at)
    select 'cl_' || n, 'Sklep', 'now', case when n <= 3 then 'before'::bytea end,
           now() - case when n = 3 then interval '23 hours 59 minutes' else interval '24 hours' end
      from generate_series(1, 5000) n`;
  await sql`analyze accounts`;
  const { rows } = await rowsRead(sql, 'accounts', forgetOldSecrets);
  expect(rows).toBeLessThan(20);
  expect(await sql`select id from accounts where webhook_secret_before is not null`).toEqual([
    { id: 'cl_3' },
  ]);
});
