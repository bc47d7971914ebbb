import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';

/** What happens between two pages. */
type Change = { kind: 'added'; count: number; status: string } | { kind: 'cancelled'; nth: number };

const STATUSES = ['scheduled', 'queued'];

const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('added' as const),
    count: fc.integer({ min: 1, max: 8 }),
    status: fc.constantFrom(...STATUSES),
  }),
  fc.record({ kind: fc.constant('cancelled' as const), nth: fc.nat(50) }),
);

interface Stored {
  id: string;
  status: string;
}

async function add({ id: account }: TestAccount, statuses: string[]): Promise<void> {
  const rows = statuses.map((status) => ({ id: newId('msg'), status }));
  await database()`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route)
    select r->>'id', ${account}, ${newId('req')}, r->>'status', 'scheduled', '+48500100200', 'x', 1, 10, now(),
           'simulator'
      from jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) r`;
}

async function all({ id }: TestAccount): Promise<Stored[]> {
  return await database()<
    Stored[]
  >`select id, status from messages where account_id = ${id} order by id desc`;
}

const idsOf = (rows: Stored[]) => rows.map(({ id }) => id);

async function apply(account: TestAccount, change: Change): Promise<void> {
  if (change.kind === 'added') {
    await add(
      account,
      Array.from({ length: change.count }, () => change.status),
    );
    return;
  }
  const candidates = (await all(account)).filter(({ status }) => status === 'scheduled');
  const chosen = candidates[change.nth % Math.max(candidates.length, 1)];
  if (chosen) await database()`update messages set status = 'cancelled' where id = ${chosen.id}`;
}

it('pages of GET /v1/messages neither skip nor repeat, whatever is added or changes between them', async () => {
  const account = await newAccount();
  const scene = fc.record({
    initial: fc.array(fc.constantFrom(...STATUSES), { maxLength: 40 }),
    limit: fc.integer({ min: 1, max: 12 }),
    between: fc.array(fc.array(changes, { maxLength: 3 }), { maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(scene, async ({ initial, limit, between }) => {
      await database()`delete from messages where account_id = ${account.id}`;
      await add(account, initial);
      const atStart = idsOf(await all(account));
      const seen: string[] = [];
      for (let page = 0, cursor: string | null = ''; cursor !== null; page += 1) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { status, body } = await account.api.get(`/v1/messages?limit=${limit}${query}`);
        expect(status).toBe(200);
        // A page that is not the last is full.
        if (body.next_cursor !== null) expect(body.data).toHaveLength(limit);
        seen.push(...body.data.map(({ id }) => id));
        cursor = body.next_cursor;
        for (const change of between[page] ?? []) await apply(account, change);
      }
      // Newest first, none twice; all that were there at the start; nothing that was never there.
      expect(seen).toEqual([...new Set(seen)].sort().reverse());
      expect(seen).toEqual(expect.arrayContaining(atStart));
      expect(idsOf(await all(account))).toEqual(expect.arrayContaining(seen));
      expect(seen.filter((id) => !atStart.includes(id))).toEqual([]);
    }),
    { seed: 230, numRuns: 25 },
  );
});
