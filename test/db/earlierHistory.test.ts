import { beforeAll, describe, expect, test } from 'vitest';
import { readEarlierHistory } from '../../db/messages/history.ts';
import { migrate } from '../../db/migrate.ts';
import {
  classesShowing,
  EARLIER_STATUSES,
  type EarlierStatus,
  historyClassOf,
  type LoggedRow,
  pageOfHistory,
  secondOf,
  shownStatus,
  pageRangeOf,
} from '../../domain/earlier.ts';
import { type AcceptedStatus, MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsRead } from '../support/rowsRead.ts';

const SECOND = 1_795_000_000;
const MANY = 10_000;

const { sql } = await fileDatabase(migrate);

beforeAll(async () => {
  await sql`
    insert into accounts (id, name, mode) select 'cl_' || n, 'Test', 'live' from generate_series(1, 6) n`;
});

let requests = 0;

/** Messages as they stand later, one for each key. */
async function add(
  account: string,
  keys: readonly number[],
  status = 'delivered',
  submission = 'answered',
): Promise<void> {
  const request = `req_${(requests += 1)}`;
  await sql`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze, give_up_at,
                          route, interface)
    select 'msg_' || ${request} || '_' || k, ${account}, ${request}, ${status}, ${submission}, 'queued', '+48500100200', 'x', 1, 15,
           now(), 'simulator', 'v1'
      from unnest(${keys as number[]}::bigint[]) k`;
  // As it is written it gets a place of this second.
  await sql`
    update messages m set sent_key = k from unnest(${keys as number[]}::bigint[]) k
     where m.id = 'msg_' || ${request} || '_' || k`;
}

const page = async (
  account: string,
  cursor: number | null,
  limit: number,
  status: EarlierStatus | null = null,
) => {
  const stretch = pageRangeOf({ cursor, from: null, to: null });
  return pageOfHistory(
    await readEarlierHistory(sql, account, classesShowing(status), stretch, limit + 1),
    limit,
  );
};

/** All pages to the end. @param between runs after each page */
async function walk(account: string, limit: number, between?: () => Promise<void>): Promise<LoggedRow[]> {
  const shown: LoggedRow[] = [];
  for (let cursor: number | null = null; ;) {
    const { page: rows, nextCursor } = await page(account, cursor, limit);
    expect(rows.length).toBeLessThanOrEqual(limit);
    shown.push(...rows);
    if (nextCursor === null) return shown;
    cursor = nextCursor;
    await between?.();
  }
}

const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n);

describe('three hundred records in one second', () => {
  const first = SECOND * 1_000_000 + 500_000;
  const keys = numbers(first, 300);
  beforeAll(async () => {
    await add('cl_1', keys);
    await add('cl_1', [(SECOND - 1) * 1_000_000 + 7, (SECOND + 1) * 1_000_000 + 3]);
    await add('cl_2', numbers(first + 2_000, 300));
  });

  test.each([1, 7, 200])('are all shown once by pages of %i, while others are added', async (limit) => {
    let added = first + 10_000 * limit;
    let pages = 0;
    const between = async () => {
      // In the same second, in the next one, and of another account.
      if ((pages += 1) % (limit === 1 ? 50 : 3) === 0) {
        await add('cl_1', [(added += 1)]);
        await add('cl_2', [added]);
        await add('cl_1', [added + 1_000_000]);
      }
    };
    const shown = await walk('cl_1', limit, between);
    const shownKeys = shown.map(({ sentKey }) => sentKey);
    expect(new Set(shownKeys).size).toBe(shownKeys.length);
    expect(shownKeys).toEqual([...shownKeys].sort((a, b) => b - a));
    expect(shownKeys.filter((key) => keys.includes(key))).toHaveLength(300);
    expect(shownKeys).toContain((SECOND - 1) * 1_000_000 + 7);
  });
});

describe('the index', () => {
  beforeAll(async () => {
    // One account with many messages, of which few are rejected and cancelled, among others.
    for (const [account, count] of [
      ['cl_4', MANY],
      ['cl_5', 1_000],
    ] as const) {
      await sql`
        insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                              give_up_at, route, sent_key)
        select 'msg_' || ${account} || '_' || n, ${account}, 'req_many',
               case when n % 500 = 7 then 'rejected' when n = 11 then 'cancelled' else (array['delivered', 'sent', 'undelivered'])[1 + n % 3] end,
               'answered', 'queued', '+48500100200', 'Treść', 1, 15, now(), 'simulator', ${SECOND}::bigint * 1000000 + n * 400000::bigint
          from generate_series(1, ${count}::int) n`;
    }
    await sql`analyze messages`;
  });

  /** How many rows of messages PostgreSQL looks at for a page. */
  async function cost(status: EarlierStatus | null, cursor: number | null, limit: number): Promise<number> {
    const stretch = pageRangeOf({ cursor, from: null, to: null });
    const { rows } = await rowsRead(sql, 'messages', (tx) =>
      readEarlierHistory(tx, 'cl_4', classesShowing(status), stretch, limit + 1),
    );
    return rows;
  }

  test.each([
    [null, null],
    ['delivered', SECOND + 1_000],
    ['rejected', null],
    ['expired', null],
  ] as const)(
    'reads of status %s before %s no more than a page, and one of each class',
    async (status, cursor) => {
      for (const limit of [1, 50, 200]) {
        expect(await cost(status, cursor, limit)).toBeLessThanOrEqual(
          limit + 1 + classesShowing(null).length,
        );
      }
    },
  );
});

test('what the history tells apart is the same in SQL', async () => {
  for (const status of MESSAGE_STATUSES.filter((one) => one !== 'scheduled')) {
    for (const errorCode of [null, 'rejected_on_report', 'given_up']) {
      for (const submission of ['waiting', 'submitting', 'answered', 'unanswered']) {
        const [row] = await sql`select history_class(${status}, ${errorCode}, ${submission}) as found`;
        expect(row!.found).toBe(historyClassOf({ status, errorCode, submission }));
      }
    }
  }
});

test('each status of the document finds what shows it, and nothing else', () => {
  for (const status of EARLIER_STATUSES) {
    for (const one of MESSAGE_STATUSES) {
      for (const submission of ['waiting', 'answered']) {
        const row = { status: one, errorCode: null, submission };
        const shown = shownStatus(row);
        const shows = shown.status === status || shown.dlrStatus === status;
        expect([status, one, classesShowing(status).includes(historyClassOf(row))]).toEqual([
          status,
          one,
          shows,
        ]);
      }
    }
  }
});

describe('a message', () => {
  async function accept(id: string, status: AcceptedStatus): Promise<void> {
    await sql`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route, send_at)
      values (${id}, 'cl_6', ${`req_${id}`}, ${status}, ${status}, '+48500100200', 'x', 1, 0, now(), 'simulator',
              ${status === 'scheduled' ? new Date(Date.now() + 3_600_000) : null})`;
  }
  const placeOf = async (id: string): Promise<number | null> => {
    const [row] = await sql<{ sentKey: number | null }[]>`select sent_key from messages where id = ${id}`;
    return row!.sentKey;
  };

  test('gets its place when it is accepted to be sent at once, or not at all, and keeps it', async () => {
    for (const acceptedAs of ['queued', 'rejected'] as const) {
      const from = Math.floor(Date.now() / 1000);
      await accept(`msg_${acceptedAs}`, acceptedAs);
      const until = Math.ceil(Date.now() / 1000);
      const place = await placeOf(`msg_${acceptedAs}`);
      expect(secondOf(place!)).toBeGreaterThanOrEqual(from);
      expect(secondOf(place!)).toBeLessThanOrEqual(until + 1);
    }
    const place = await placeOf('msg_queued');
    await sql`update messages set status = 'sent' where id = 'msg_queued'`;
    await sql`update messages set status = 'delivered' where id = 'msg_queued'`;
    expect(await placeOf('msg_queued')).toBe(place);
  });
});
