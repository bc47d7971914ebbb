import { describe, expect, it } from 'vitest';
import { readUsage } from '../../db/accounts/quotas.ts';
import { database, newAccount } from '../support/factories.ts';

describe('a customer with 100,000 contacts', () => {
  it('is within the usual quotas, and adding one more is as quick as ever', async () => {
    const account = await newAccount();
    const { id, api } = account;
    await database()`
      insert into contacts (account_id, id, msisdn, first_name)
      select ${id}, 'ct_' || lpad(i::text, 26, '0'), '+48' || (500000000 + i), 'Jan' from generate_series(1, 100000) i`;
    await database()`
      insert into contact_groups (account_id, id, name) values (${id}, 'gr_00000000000000000000000001', 'wszyscy')`;
    // As autovacuum would have by then: of a table that was small a moment ago each reference is looked up by reading all of it.
    await database()`analyze contacts`;
    await database()`
      insert into group_members (account_id, group_id, contact_id)
      select account_id, 'gr_00000000000000000000000001', id from contacts where account_id = ${id}`;
    expect((await readUsage(database(), id)).used).toMatchObject({ contacts: 100_000, memberships: 100_000 });
    expect((await api.post('/v1/contacts', { msisdn: '600100200', groups: ['wszyscy'] })).status).toBe(201);
    const [plan] = await database()<{ 'QUERY PLAN': [{ Plan: { 'Actual Total Time': number } }] }[]>`
      explain (analyze, format json)
      select jsonb_object_agg(kind, used) from account_usage where account_id = ${id}`;
    expect(plan!['QUERY PLAN'][0].Plan['Actual Total Time']).toBeLessThan(200);
    await api.delete('/v1/groups/gr_00000000000000000000000001');
    expect((await readUsage(database(), id)).used).toMatchObject({ contacts: 100_001, memberships: 0 });
  });
});
