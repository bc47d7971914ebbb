import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { OutOfPatienceError, withPatience } from '../../db/patience.ts';
import type { Draft } from '../../db/messages/drafts.ts';
import { createSingles, type Singles } from '../../operations/sending/singles.ts';
import { draftOf, singleOf } from '../support/drafts.ts';
import { HOUR, type Pipeline, startPipeline } from '../workflows/pipeline.ts';

let pipeline: Pipeline;
let singles: Singles;
beforeAll(async () => {
  pipeline = await startPipeline('real');
  singles = createSingles({ sql: pipeline.sql, temporal: pipeline.client });
});
afterAll(() => pipeline?.close());

const later = { acceptedAs: 'scheduled', status: 'scheduled', sendAt: new Date(Date.now() + HOUR) } as const;
const draft = (account: string, other: Partial<Draft> = {}) => draftOf(account, 15, { ...later, ...other });
// On a busy machine calls take long: what is looked at here is who rides with whom.
const PATIENCE_MS = 600_000;
const accept = (one: Draft, key?: string) => singles.accept(singleOf(one, key), Date.now() + PATIENCE_MS);

async function gatheredIn(drafts: readonly Draft[]): Promise<(string | null | undefined)[]> {
  const rows = await pipeline.sql<{ id: string; gatheredIn: string | null }[]>`
    select id, gathered_in from messages where id = any(${drafts.map(({ id }) => id)})`;
  return drafts.map(({ id }) => rows.find((row) => row.id === id)?.gatheredIn);
}

/** Keeps the next call under way: that of an account whose money is held. */
async function underWay() {
  const account = await pipeline.account();
  const own = await pipeline.sql.reserve();
  let held = true;
  const end = async (): Promise<void> => {
    if (!held) return;
    held = false;
    await own`rollback`;
    own.release();
  };
  // Also where the test fails before: its workflow would wait for ever.
  onTestFinished(end);
  await own`begin`;
  await own`select from accounts where id = ${account} for no key update`;
  const first = draft(account);
  const { written, deciding } = accept(first);
  await written;
  return { first, deciding, end };
}

test('one that comes alone is accepted by its own workflow; those that come meanwhile, together', async () => {
  const [a, b] = [await pipeline.account(), await pipeline.account({ balance: 14 })];
  const { first, deciding, end } = await underWay();
  const drafts = [draft(a), draft(b), draft(a)];
  const accepting = drafts.map((one) => accept(one));
  const decided = await Promise.all(accepting.map(({ deciding }) => deciding));
  expect(decided).toEqual([
    { accepted: true },
    { accepted: false, reason: 'insufficient_funds' },
    { accepted: true },
  ]);
  const [one, none, other] = await gatheredIn(drafts);
  expect([one, none]).toEqual([other, undefined]);
  expect(one).toMatch(/^acc_/);
  await end();
  expect(await deciding).toEqual({ accepted: true });
  expect(await gatheredIn([first])).toEqual([null]);
});

test('a call that could begin waits for those being read, not for what is announced later, and not for long', async () => {
  const account = await pipeline.account();
  const [one, other, later, never] = [draft(account), draft(account), draft(account), draft(account)];
  singles.announce(other.requestId);
  const first = accept(one);
  singles.announce(never.requestId)();
  const { deciding } = accept(other);
  expect(await first.deciding).toEqual({ accepted: true });
  expect(await deciding).toEqual({ accepted: true });
  const [id, ...ids] = await gatheredIn([one, other]);
  expect(id).toMatch(/^acc_/);
  expect(ids).toEqual([id]);

  // Announced, and still being read when the others have waited long enough.
  singles.announce(later.requestId);
  const last = draft(account);
  expect(await accept(last).deciding).toEqual({ accepted: true });
  expect(await gatheredIn([last])).toEqual([null]);
  expect(await accept(later).deciding).toEqual({ accepted: true });
  expect(await gatheredIn([later])).toEqual([null]);
});

test('a hundred are taken at a time, of each account one before another one of any', async () => {
  const [flooding, other] = [await pipeline.account({ balance: 10_000 }), await pipeline.account()];
  const { end } = await underWay();
  const flood = Array.from({ length: 130 }, () => draft(flooding));
  const single = draft(other);
  const accepting = [...flood, single].map((one) => accept(one));
  for (const { deciding } of accepting) expect(await deciding).toEqual({ accepted: true });
  const calls = await gatheredIn(flood);
  const [own] = await gatheredIn([single]);
  expect(new Set(calls).size).toBe(2);
  // It is charged beside those, which have a call of their own.
  expect(own).toBeNull();
  expect(calls.filter((call) => call === calls[0])).toHaveLength(99);
  await end();
});

test('one whose caller has gone meanwhile is not written, and one whose time is over', async () => {
  const account = await pipeline.account();
  const { end } = await underWay();
  const gone = new AbortController();
  const drafts = [draft(account), draft(account), draft(account)];
  const [left, late, patient] = [
    withPatience({ owner: account, until: Date.now() + 600_000, signal: gone.signal }, () =>
      accept(drafts[0]!),
    ),
    withPatience({ owner: account, until: Date.now() + 1, signal: null }, () => accept(drafts[1]!)),
    accept(drafts[2]!),
  ];
  gone.abort();
  await expect(left.written).rejects.toThrow(OutOfPatienceError);
  await expect(late.written).rejects.toThrow(OutOfPatienceError);
  expect(await patient.deciding).toEqual({ accepted: true });
  expect((await gatheredIn(drafts)).map((found) => found === undefined)).toEqual([true, true, false]);
  await end();
});

test('one that cannot be written fails alone; of several with one key one is written', async () => {
  const account = await pipeline.account();
  const { end } = await underWay();
  const broken = draft(account, { channel: 'fax' as never });
  const drafts = [draft(account), broken, draft(account), draft(account), draft(account)];
  const keys = ['x', undefined, 'same', 'same', undefined];
  const accepting = drafts.map((one, i) => accept(one, keys[i]));
  await expect(accepting[1]!.written).rejects.toThrow('messages_channel_check');
  const written = await Promise.all(accepting.map((one) => one.written.catch(() => false)));
  // After the one that broke the statement they are written each by itself: either of the two may be first.
  const [first, second] = [written[2]!, written[3]!];
  expect([written[0], written[4], first !== second]).toEqual([true, true, true]);
  for (const [i, one] of accepting.entries())
    if (written[i] === true) expect(await one.deciding).toEqual({ accepted: true });
  expect(await pipeline.balance(account)).toBe(1000 - 3 * 15);
  await end();
});

test('where Temporal does not answer each of them is answered so, and the next ones go on', async () => {
  const account = await pipeline.account();
  const { client } = pipeline;
  let calls = 0;
  const failing = new Proxy(client, {
    get: (target, name) => {
      if (name === 'connection') calls += 1;
      if (name === 'connection' && calls <= 2) throw new Error('away');
      return Reflect.get(target, name) as unknown;
    },
  });
  const others = createSingles({ sql: pipeline.sql, temporal: failing });
  const first = others.accept(singleOf(draft(account)), Date.now() + PATIENCE_MS);
  await first.written;
  const drafts = [draft(account), draft(account)];
  const accepting = drafts.map((one) => others.accept(singleOf(one), Date.now() + PATIENCE_MS));
  for (const { written, deciding } of [first, ...accepting]) {
    expect(await written).toBe(true);
    await expect(deciding).rejects.toThrow('away');
  }
  const last = others.accept(singleOf(draft(account)), Date.now() + PATIENCE_MS);
  expect(await last.deciding).toEqual({ accepted: true });
});
