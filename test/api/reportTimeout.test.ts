import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Database, openDatabase, transaction } from '../../db/connection.ts';
import { readReport } from '../../db/reports/reports.ts';
import { apiClient } from '../support/client.ts';
import { type CutOffApi, startCutOffApi } from '../support/cutOffApi.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount } from '../support/factories.ts';
import { HOUR, NOON, report } from '../support/reports.ts';
import { refusal } from './refusal.ts';

// Looked at before the real tables, by this file alone: a lock on the table there holds up no other test's reports.
const SCHEMA = `reports_${process.pid}`;

describe('a report that takes too long', () => {
  const period = { from: NOON, until: NOON + HOUR, grouping: { by: 'time', startsAt: [NOON] } } as const;
  const filter = { sender: null, country: null, reference: null, status: null, type: null };

  let own: CutOffApi;
  let ownDatabase: Database;
  beforeAll(async () => {
    await database().unsafe(
      `create schema ${SCHEMA}; create table ${SCHEMA}.message_effects (like public.message_effects)`,
    );
    const url = new URL(inject('service').databaseUrl);
    url.searchParams.set('search_path', `${SCHEMA},public`);
    ownDatabase = openDatabase(url.href, 1);
    own = await startCutOffApi({ url: url.href });
  });
  afterAll(async () => {
    await own.stop();
    await ownDatabase.end();
    await database().unsafe(`drop schema ${SCHEMA} cascade`);
  });

  it('is ended by the database, answered with 504, and holds up no other request', async () => {
    const account = await newAccount();
    const through = apiClient(own.api.url, account.key);
    const held = () => database()`
      select from pg_stat_activity
       where wait_event_type = 'Lock' and query like '%counted as materialized%' and application_name = 'goniec'
         and pid in (select pid from pg_locks where not granted and relation = ${`${SCHEMA}.message_effects`}::regclass)`;
    const answer = await transaction(database(), async (tx) => {
      await tx.unsafe(`lock table ${SCHEMA}.message_effects in access exclusive mode`);
      const waiting = through.get('/v1/reports');
      await eventually(held, ({ length }) => length === 1);
      expect((await through.get('/v1/messages')).status).toBe(200);
      await expect(
        readReport(ownDatabase, { accountId: account.id, ...period, filter, testMode: false }, 50),
      ).rejects.toMatchObject({ code: '57014' });
      const ended = await waiting;
      await eventually(held, ({ length }) => length === 0);
      return ended;
    });
    expect(answer).toMatchObject(refusal(504));
    expect((await report({ ...account, api: through })).totals.messages).toBe(0);
  });
});
