import { describe, expect, it } from 'vitest';
import { readReport } from '../../db/reports/reports.ts';
import { transaction } from '../../db/transaction.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount } from '../support/factories.ts';
import { HOUR, NOON, report } from '../support/reports.ts';

describe('a report that takes too long', () => {
  const period = { from: NOON, until: NOON + HOUR, grouping: { by: 'time', startsAt: [NOON] } } as const;
  const filter = { sender: null, country: null, reference: null, status: null, type: null };

  it('is given up by the database, answered with 504, and holds nobody else up', async () => {
    const account = await newAccount();
    const running = () => database()`
      select from pg_stat_activity where state <> 'idle' and query like '%counted as materialized%' and pid <> pg_backend_pid()`;
    const answer = await transaction(database(), async (tx) => {
      await tx`lock table message_effects in access exclusive mode`;
      const waiting = account.api.get('/v1/reports');
      expect((await account.api.get('/v1/messages')).status).toBe(200);
      await expect(
        readReport(database(), { accountId: account.id, ...period, filter, testMode: false }, 50),
      ).rejects.toMatchObject({ code: '57014' });
      const ended = await waiting;
      await eventually(running, ({ length }) => length === 0);
      return ended;
    });
    expect(answer).toMatchObject({ status: 504, body: { error: { code: 'provider_error' } } });
    expect((await report(account)).totals.messages).toBe(0);
  });
});
