import { parse } from 'csv-parse/sync';
import { describe, expect, inject, it } from 'vitest';
import { blacklistForOptOut } from '../../db/incoming/blacklist.ts';
import { newId } from '../../db/ids.ts';
import { carryLinks } from '../support/carriedLinks.ts';
import { linkTokens } from '../support/madeLinks.ts';
import { EMAIL_STATUSES } from '../../domain/email/statuses.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { apiClient } from '../support/client.ts';
import { database, newAccount, newKey } from '../support/factories.ts';
import { writeEmails, writePast } from '../support/reportMessages.ts';
import { at, csvOf, HOUR, NOON, NOVEMBER, report } from '../support/reports.ts';
import { clickOn } from '../support/clicked.ts';

describe('GET /v1/reports: money', () => {
  it('of messages sent and cancelled for real, the totals are what the ledger holds', async () => {
    const account = await newAccount({ balance: 1000, price: 10 });
    const later = new Date(Date.now() + 24 * HOUR).toISOString();
    const body = await account.api.accepted({ to: ['500100200', '500100201'], text: 'x', send_at: later });
    await account.api.delete(`/v1/messages/${body.messages[0]!.id}`);
    const [booked] = await database()<{ net: number }[]>`
      select -sum(amount_grosze)::bigint as net from ledger_entries
       where account_id = ${account.id} and subject_kind = 'message'`;
    const { totals } = await report(account, '');
    expect(totals).toMatchObject({
      messages: 2,
      scheduled: 1,
      cancelled: 1,
      cost_grosze: 20,
      refunded_grosze: 10,
    });
    expect(totals.net_grosze).toBe(booked!.net);
  });

  it('a message rejected at its submit was charged what came back: nothing remains', async () => {
    const account = await newAccount();
    const [id] = await writePast(account, [{ at: NOON, cost: 10, status: 'rejected', refunded: true }]);
    // As its submit leaves it.
    await database()`update messages set cost_grosze = 0 where id = ${id!}`;
    const { totals } = await report(account);
    expect(totals).toMatchObject({ rejected: 1, cost_grosze: 10, refunded_grosze: 10, net_grosze: 0 });
  });

  it('a refund counts with its message, however late it came', async () => {
    const account = await newAccount();
    const [id] = await writePast(account, [{ at: at('2026-10-31T12:00:00Z'), status: 'cancelled' }]);
    await database()`
      insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
      values (${account.id}, 'refund', 10, 'message', ${id!}, '2026-11-15')`;
    expect((await report(account, 'from=2026-10-01&to=2026-10-31')).totals.refunded_grosze).toBe(10);
    expect((await report(account)).totals.refunded_grosze).toBe(0);
  });

  it('a test account sees what it would cost; once live, test messages cost nothing', async () => {
    const account = await newAccount({ mode: 'test', balance: 0 });
    await writePast(account, [
      { at: NOON, cost: 20, testCredits: 1 },
      { at: NOON, cost: 30, testCredits: 1, status: 'cancelled', refunded: true },
    ]);
    const money = { cost_grosze: 50, refunded_grosze: 30, net_grosze: 20 };
    expect(await report(account)).toMatchObject({ test_mode: true, totals: money });
    await database()`update accounts set mode = 'live' where id = ${account.id}`;
    const { key } = await newKey(account.id, 'live');
    const { text } = await csvOf({ ...account, key }, `${NOVEMBER}&group_by=status`);
    const rows = parse<Record<string, string>>(text, { columns: true });
    expect(rows.map((row) => [row['messages'], row['cost_grosze'], row['refunded_grosze']])).toEqual([
      ['1', '0', '0'],
      ['1', '0', '0'],
    ]);
  });

  it('look-ups are a figure of their own, those refunded left out', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    const sql = database();
    for (const [of, refunded] of [
      [account, false],
      [account, false],
      [account, true],
      [other, false],
    ] as const) {
      const id = newId('hlr');
      await sql`
        insert into number_lookups (id, account_id, msisdn, route, state, cost_grosze)
        values (${id}, ${of.id}, '+48500100200', 'simulator', 'failed', 5)`;
      await sql`
        insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
        values (${of.id}, 'charge', -5, 'lookup', ${id}, ${new Date(NOON)})`;
      if (refunded) {
        await sql`
          insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
          values (${of.id}, 'refund', 5, 'lookup', ${id}, ${new Date(NOON + 40 * 24 * HOUR)})`;
      }
    }
    const found = await report(account);
    expect(found.lookups).toEqual({ count: 2, cost_grosze: 10 });
    expect(found.totals.cost_grosze).toBe(0);
    expect((await report(account, 'from=2026-10-01&to=2026-10-31')).lookups).toEqual({
      count: 0,
      cost_grosze: 0,
    });
    expect((await report(account, `${NOVEMBER}&sender=A`)).lookups).toBeNull();
  });

  it('e-mails are figures of their own by status, with what came back of them, whenever that was', async () => {
    const account = await newAccount();
    const other = await newAccount();
    const none = Object.fromEntries(EMAIL_STATUSES.map((status) => [status, 0]));
    const nothing = { count: 0, cost_grosze: 0, refunded_grosze: 0, net_grosze: 0, ...none };
    expect((await report(account)).emails).toEqual(nothing);
    await writeEmails(account, [
      { status: 'delivered', cost: 3 },
      { status: 'delivered', cost: 2, refunded: 1 },
      { status: 'failed', cost: 5, refunded: 5 },
      { status: 'suppressed', cost: 0 },
      { status: 'sent', cost: 11, at: at('2026-10-31T22:59:59.999Z') },
      { status: 'sent', cost: 1, at: at('2026-10-31T23:00:00Z') },
      { status: 'unknown', cost: 1, at: at('2026-11-30T22:59:59.999Z') },
      { status: 'sent', cost: 13, at: at('2026-11-30T23:00:00Z') },
    ]);
    await writeEmails(other, [{ status: 'queued', cost: 1 }]);
    const found = await report(account);
    expect(found.emails).toEqual({
      ...nothing,
      ...{ count: 6, cost_grosze: 12, refunded_grosze: 6, net_grosze: 6 },
      ...{ delivered: 2, failed: 1, suppressed: 1, sent: 1, unknown: 1 },
    });
    expect(found.totals).toMatchObject({ messages: 0, cost_grosze: 0, refunded_grosze: 0 });
    expect((await report(account, `${NOVEMBER}&group_by=sender`)).emails).toEqual(found.emails);
    expect((await report(other)).emails).toMatchObject({ count: 1, queued: 1, cost_grosze: 1 });
    for (const filter of ['sender=A', 'country=PL', 'reference=x', 'status=sent', 'type=sms'])
      expect([filter, (await report(account, `${NOVEMBER}&${filter}`)).emails]).toEqual([filter, null]);
    const { text } = await csvOf(account, `${NOVEMBER}&group_by=month`);
    const rows = parse<Record<string, string>>(text, { columns: true });
    expect(rows.map((row) => [row['key'], row['messages'], row['cost_grosze']])).toEqual([
      ['2026-11', '0', '0'],
    ]);
  });

  it('e-mails of a test account are shown at what they would cost; once live, they cost nothing', async () => {
    const account = await newAccount({ mode: 'test', balance: 0 });
    await writeEmails(account, [
      { status: 'delivered', cost: 2, testCredits: 2 },
      { status: 'failed', cost: 3, testCredits: 3, refunded: 3 },
    ]);
    const money = { count: 2, cost_grosze: 5, refunded_grosze: 3, net_grosze: 2, delivered: 1, failed: 1 };
    expect(await report(account)).toMatchObject({ test_mode: true, emails: money });
    await database()`update accounts set mode = 'live' where id = ${account.id}`;
    const { key } = await newKey(account.id, 'live');
    const { emails } = await report({ ...account, api: apiClient(inject('service').apiUrl, key) });
    expect(emails).toMatchObject({ count: 2, cost_grosze: 0, refunded_grosze: 0, net_grosze: 0 });
  });
});

describe('GET /v1/reports: delivery', () => {
  it('the rate is of messages that ended after an attempt', async () => {
    const account = await newAccount();
    const statuses = [...MESSAGE_STATUSES, 'delivered', 'delivered'] as const;
    await writePast(
      account,
      statuses.map((status) => ({ at: NOON, status })),
    );
    const { totals } = await report(account);
    expect(totals).toMatchObject(
      Object.fromEntries(MESSAGE_STATUSES.map((s) => [s, s === 'delivered' ? 3 : 1])),
    );
    expect(totals.delivery_rate).toBe(0.5);
  });

  it('is measured from the send time; percentiles by nearest rank', async () => {
    const account = await newAccount();
    const times = Array.from({ length: 20 }, (_, i) => (i + 1) * 1500);
    await writePast(
      account,
      times.map((took, i) => ({ at: NOON, took, sendAfter: i % 2 ? HOUR : null, sender: i < 2 ? 'A' : 'B' })),
    );
    const { totals, data } = await report(account, `${NOVEMBER}&group_by=sender`);
    expect(totals.delivery_seconds).toEqual({ median: 15, p95: 28.5 });
    expect(data.map(({ key, delivery_seconds }) => [key, delivery_seconds])).toEqual([
      ['B', { median: 16.5, p95: 30 }],
      ['A', { median: 1.5, p95: 3 }],
    ]);
  });
});

describe('GET /v1/reports: what came of messages', () => {
  it('a click belongs to the last message sent with the link, and counts once it is counted', async () => {
    const account = await newAccount();
    const sql = database();
    const [first, second, waiting] = await writePast(account, [
      { at: NOON, reference: 'first' },
      { at: NOON + HOUR, reference: 'second' },
      { at: NOON + 2 * HOUR, reference: 'waiting', status: 'scheduled', sendAfter: 80 * 24 * HOUR },
    ]);
    const pair = { recipient: '+48500100200', url: 'https://example.com/' };
    const [token] = [...(await linkTokens(sql, account.id, [pair])).values()];
    await carryLinks(sql, [first!, second!, waiting!], [token!]);
    // As if the second one had come after it.
    await sql`update message_links set answerable_at = now() + interval '1 hour' where message_id = ${second!}`;
    await clickOn(sql, token!, { robot: true });
    await sql`update message_links set answerable_at = now() where message_id = ${second!}`;
    for (let i = 0; i < 2; i += 1) await clickOn(sql, token!);
    const { data, totals } = await report(account, `${NOVEMBER}&group_by=reference`);
    const shown = data.map((row) => [row.key, row.clicks, row.robot_clicks, row.clicked_messages]);
    expect(shown.sort()).toEqual([
      ['first', 1, 1, 0],
      ['second', 2, 0, 1],
      ['waiting', 0, 0, 0],
    ]);
    expect(totals).toMatchObject({ clicks: 3, robot_clicks: 1, clicked_messages: 1 });
  });

  it('replies and opt-outs count with their message; a STOP and its blacklist entry are one', async () => {
    const account = await newAccount();
    const sql = database();
    const phones = ['+48500100301', '+48500100302', '+48500100303'];
    const ids = await writePast(
      account,
      phones.map((recipient, i) => ({ at: NOON, recipient, reference: `r${i}` })),
    );
    const reply = async (i: number, optOut: boolean) => {
      await sql`
        insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id, text,
                                      matched_by, reply_to, opt_out, received_at)
        values (${newId('in')}, 'simulator', ${newId('in')}, ${phones[i]!}, 'x', 'matched', ${account.id}, 'x',
                'last_message', ${ids[i]!}, ${optOut}, ${new Date(NOON + 40 * 24 * HOUR)})`;
    };
    await reply(0, false);
    await reply(0, false);
    await reply(1, true);
    await blacklistForOptOut(sql, account.id, phones[1]!);
    await blacklistForOptOut(sql, account.id, phones[2]!);
    await account.api.post('/v1/blacklist', { msisdn: phones[0]! });
    const { data, totals } = await report(account, `${NOVEMBER}&group_by=reference`);
    expect(data.map((row) => [row.key, row.replies, row.opt_outs])).toEqual([
      ['r0', 2, 0],
      ['r1', 1, 1],
      ['r2', 0, 1],
    ]);
    expect(totals).toMatchObject({ replies: 3, opt_outs: 2 });
  });
});
