import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../domain/reports.ts';
import { addDays, polishDay } from '../../domain/calendar.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { database, newAccount } from '../support/factories.ts';
import { type PastMessage, writePast } from '../support/reportMessages.ts';
import { at, csvOf, HOUR, NOON, NOVEMBER, report } from '../support/reports.ts';
import { refusal } from './refusal.ts';

const keys = ({ data }: Report) => data.map(({ key }) => key);
const counts = ({ data }: Report) =>
  data.filter((row) => row.messages > 0).map((row) => [row.key, row.messages]);

describe('GET /v1/reports: the period', () => {
  it('is the last 30 days by day, today included, by default', async () => {
    const account = await newAccount();
    await writePast(account, [{ at: Date.now() }, { at: Date.now() - 40 * 24 * HOUR }]);
    const found = await report(account, '');
    const today = polishDay(Date.now());
    expect(found).toMatchObject({
      from: addDays(today, -29),
      to: today,
      group_by: 'day',
      timezone: 'Europe/Warsaw',
    });
    expect(found.data).toHaveLength(30);
    expect(found.data.at(-1)).toMatchObject({ key: today, from: today, to: today, messages: 1 });
    expect(found.totals.messages).toBe(1);
  });

  it('begins and ends with Polish days, also where the clocks change', async () => {
    const account = await newAccount();
    const days = [
      '2026-03-28T22:59:59.999Z',
      '2026-03-28T23:00:00Z',
      '2026-03-28T23:30:00Z',
      '2026-03-29T21:59:59.999Z',
      '2026-03-29T22:00:00Z',
      '2026-10-24T22:00:00Z',
      '2026-10-25T22:59:59.999Z',
      '2026-10-25T23:00:00Z',
    ];
    await writePast(
      account,
      days.map((day) => ({ at: at(day) })),
    );
    expect(counts(await report(account, 'from=2026-03-01&to=2026-10-31'))).toEqual([
      ['2026-03-28', 1],
      ['2026-03-29', 3],
      ['2026-03-30', 1],
      ['2026-10-25', 2],
      ['2026-10-26', 1],
    ]);
    expect((await report(account, 'from=2026-03-29&to=2026-03-29')).totals.messages).toBe(3);
    expect((await report(account, 'from=2026-10-25&to=2026-10-25')).totals.messages).toBe(2);
  });

  it.each([
    ['from=2026-11-02&to=2026-11-01', 'from'],
    ['from=2025-11-01&to=2026-11-02', 'from'],
    ['from=2026-02-29', 'from'],
    ['group_by=hour', 'group_by'],
    ['limit=1001', 'limit'],
    ['status=draft', 'status'],
    ['country=pl', 'country'],
    ['day=2026-11-01', 'day'],
  ])('refuses %s', async (query, param) => {
    const { api } = await newAccount();
    expect(await api.get(`/v1/reports?${query}`)).toMatchObject(refusal(400, param));
  });

  it('takes 366 days, and days to come', async () => {
    const account = await newAccount();
    expect((await report(account, 'from=2025-11-01&to=2026-11-01')).data).toHaveLength(366);
    expect((await report(account, 'from=2030-01-01&to=2030-01-02')).totals.messages).toBe(0);
  });
});

describe('GET /v1/reports: the groups', () => {
  const some: PastMessage[] = [
    { at: at('2026-11-01T12:00:00Z'), sender: 'A', country: 'PL', reference: 'x', cost: 10 },
    { at: at('2026-11-02T12:00:00Z'), sender: 'A', country: 'DE', reference: 'x', cost: 20 },
    { at: at('2026-11-08T12:00:00Z'), sender: 'B', country: null, status: 'failed', cost: 30 },
    { at: at('2026-11-09T12:00:00Z'), sender: null, reference: 'y', status: 'rejected', cost: 0 },
  ];

  it('weeks begin on Monday; rows without messages are there with zeros', async () => {
    const account = await newAccount();
    await writePast(account, some);
    const { data } = await report(account, 'from=2026-10-28&to=2026-11-18&group_by=week');
    expect(data.map(({ key, from, to, messages }) => [key, from, to, messages])).toEqual([
      ['2026-W44', '2026-10-28', '2026-11-01', 1],
      ['2026-W45', '2026-11-02', '2026-11-08', 2],
      ['2026-W46', '2026-11-09', '2026-11-15', 1],
      ['2026-W47', '2026-11-16', '2026-11-18', 0],
    ]);
    expect(data.at(-1)).toMatchObject({
      cost_grosze: 0,
      delivery_rate: null,
      delivery_seconds: { median: null, p95: null },
    });
    expect(keys(await report(account, 'from=2026-10-28&to=2026-12-01&group_by=month'))).toEqual([
      '2026-10',
      '2026-11',
      '2026-12',
    ]);
  });

  it('by field, the most messages first, then by name; null where there is none', async () => {
    const account = await newAccount();
    await writePast(account, some);
    const by = async (field: string) =>
      counts(await report(account, `${NOVEMBER}&group_by=${field}`)).map(
        ([key, count]) => `${String(key)}: ${String(count)}`,
      );
    expect(await by('sender')).toEqual(['A: 2', 'null: 1', 'B: 1']);
    expect(await by('country')).toEqual(['PL: 2', 'null: 1', 'DE: 1']);
    expect(await by('reference')).toEqual(['x: 2', 'null: 1', 'y: 1']);
    expect(await by('status')).toEqual(['delivered: 2', 'failed: 1', 'rejected: 1']);
  });

  it('beyond the limit, the others are added up in rest', async () => {
    const account = await newAccount();
    await writePast(account, some);
    const found = await report(account, `${NOVEMBER}&group_by=reference&limit=1`);
    expect(counts(found)).toEqual([['x', 2]]);
    expect(found.rest).toMatchObject({ messages: 2, cost_grosze: 30, failed: 1, rejected: 1 });
    expect(found.totals).toMatchObject({ messages: 4, accepted: 3, cost_grosze: 60 });
    expect((await report(account, `${NOVEMBER}&group_by=reference&limit=3`)).rest).toBeNull();
    for (const field of ['sender', 'country', 'status']) {
      const { data, rest, totals } = await report(account, `${NOVEMBER}&group_by=${field}&limit=1`);
      expect([data.length, data[0]!.messages, rest?.messages, totals.messages], field).toEqual([1, 2, 2, 4]);
    }
    expect((await report(account, `${NOVEMBER}&group_by=day&limit=1`)).data).toHaveLength(30);
  });

  it('filters, together and with any grouping', async () => {
    const account = await newAccount();
    await writePast(account, some);
    const total = async (query: string) => (await report(account, `${NOVEMBER}&${query}`)).totals.messages;
    expect(await total('sender=A')).toBe(2);
    expect(await total('country=PL&group_by=sender')).toBe(2);
    expect(await total('reference=x&group_by=reference')).toBe(2);
    expect(await total('reference=X')).toBe(0);
    expect(await total('status=failed&group_by=status')).toBe(1);
    expect(await total('type=sms')).toBe(4);
    expect(await total('type=mms')).toBe(0);
    expect(await total('sender=A&country=DE&reference=x&status=delivered')).toBe(1);
  });
});

describe('GET /v1/reports: properties', () => {
  // The oracle reads the clock of Intl and adds up in plain loops.
  const intl = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Warsaw', dateStyle: 'short' });
  const message = fc.record({
    at: fc.integer({ min: at('2026-10-23T00:00:00Z'), max: at('2026-10-28T00:00:00Z') }),
    status: fc.constantFrom(...MESSAGE_STATUSES),
    sender: fc.constantFrom('A', 'B', null),
    country: fc.constantFrom('PL', 'DE', null),
    reference: fc.constantFrom('x', 'ż', '=1+1', null),
    cost: fc.integer({ min: 0, max: 50 }),
    refunded: fc.boolean(),
    took: fc.integer({ min: 0, max: 100_000 }).map((tenths) => tenths * 100),
  });
  type Sample = PastMessage & { took: number; cost: number };
  const PERIOD = 'from=2026-10-24&to=2026-10-26';
  const KEYS: Record<string, (one: Sample) => string | null> = {
    day: (one) => intl.format(one.at),
    sender: (one) => one.sender ?? null,
    country: (one) => one.country ?? null,
    reference: (one) => one.reference ?? null,
    status: (one) => one.status ?? null,
  };

  function figures(messages: Sample[]) {
    const refunded = messages.filter((one) => one.refunded).reduce((sum, one) => sum + one.cost, 0);
    const cost = messages.reduce((sum, one) => sum + one.cost, 0);
    const times = messages.filter(({ status }) => status === 'delivered').map(({ took }) => took / 1000);
    const sorted = times.toSorted((a, b) => a - b);
    const rank = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? null;
    return {
      messages: messages.length,
      cost_grosze: cost,
      refunded_grosze: refunded,
      net_grosze: cost - refunded,
      ...Object.fromEntries(
        MESSAGE_STATUSES.map((s) => [s, messages.filter(({ status }) => status === s).length]),
      ),
      delivery_seconds: { median: rank(0.5), p95: rank(0.95) },
    };
  }

  it('every grouping says what a plain count over the messages says, and adds up to the ledger', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 120 }), async (messages) => {
        const account = await newAccount({ balance: 1_000_000 });
        const other = await newAccount({ balance: 1_000_000 });
        await writePast(account, messages);
        await writePast(other, messages.slice(0, 5));
        const inside = messages.filter((one) => {
          const day = intl.format(one.at);
          return '2026-10-24' <= day && day <= '2026-10-26';
        });
        for (const [field, keyOf] of Object.entries(KEYS)) {
          const found = await report(account, `${PERIOD}&group_by=${field}`);
          expect(found.totals).toMatchObject(figures(inside));
          const groups = new Map<string | null, Sample[]>();
          for (const one of inside) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
          expect(new Set(keys(found).filter((key) => field !== 'day' || groups.has(key)))).toEqual(
            new Set(groups.keys()),
          );
          for (const row of found.data) expect(row).toMatchObject(figures(groups.get(row.key) ?? []));
        }
        const [booked] = await database()<{ net: number }[]>`
          select coalesce(-sum(e.amount_grosze), 0)::bigint as net
            from ledger_entries e join messages m on m.id = e.subject_id
           where e.account_id = ${account.id} and (m.created_at at time zone 'Europe/Warsaw')::date
                 between '2026-10-24' and '2026-10-26'`;
        expect((await report(account, PERIOD)).totals.net_grosze).toBe(booked!.net);
      }),
      { numRuns: 8 },
    );
  });
});

describe('GET /v1/reports as CSV', () => {
  it('has the same rows, one for the rest, no totals; formulas are defused', async () => {
    const account = await newAccount();
    await writePast(account, [
      ...Array.from({ length: 3 }, () => ({ at: NOON, reference: '=cmd|"x",1' })),
      { at: NOON, reference: 'a\r\nb', took: 2500 },
      { at: NOON, reference: 'a\r\nb', took: 2500 },
      { at: NOON, status: 'failed' as const },
    ]);
    const query = `${NOVEMBER}&group_by=reference&limit=2`;
    const { response, text } = await csvOf(account, query);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toContain(
      'report_2026-11-01_2026-11-30_reference.csv',
    );
    const rows = parse<Record<string, string>>(text, { columns: true });
    expect(rows.map((row) => [row['row'], row['key'], row['messages'], row['delivery_rate']])).toEqual([
      ['group', `'=cmd|"x",1`, '3', '1'],
      ['group', 'a\r\nb', '2', '1'],
      ['rest', '', '1', '0'],
    ]);
    expect(rows[1]).toMatchObject({
      delivery_seconds_median: '2.5',
      cost_grosze: '20',
      from: '',
      delivered: '2',
    });
    expect(text.split('\r\n')[0]).toMatch(/^row,key,from,to,messages,accepted,parts,cost_grosze,/);
  });
});
