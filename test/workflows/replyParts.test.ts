import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReplyParts } from '../../pipeline/replies.ts';
import type { Database } from '../../db/connection.ts';
import { encodeGsm7 } from '../../domain/gsm7.ts';
import type { ReplyPart } from '../../domain/incoming.ts';
import { splitIntoParts } from '../../domain/sms.ts';
import { startDatabase } from '../support/database.ts';

let sql: Database;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
});
afterAll(() => stop());

const parts = () => createReplyParts(sql);

let phones = 0;
const newPhone = () => `+48600${String((phones += 1)).padStart(6, '0')}`;

/** A long reply as it comes: one for each deliver_sm. */
function segmentsOf(text: string, from: string, given: Partial<ReplyPart> = {}): ReplyPart[] {
  const { encoding, parts } = splitIntoParts(text);
  return parts.map((part, index) => ({
    ...{ reference: 'udh8:7', number: index + 1, total: parts.length, from, to: '+48500600700', encoding },
    content: encoding === 'gsm7' ? encodeGsm7(part) : Buffer.from(part, 'utf16le').swap16(),
    ...given,
  }));
}

function part(from: string, number: number, total: number, text: string, given: Partial<ReplyPart> = {}) {
  return { ...segmentsOf(text, from)[0]!, number, total, ...given };
}

async function receive(...all: ReplyPart[]): Promise<void> {
  for (const one of all) await parts().receive('test', one);
}

/** What a phone's replies say, oldest first; each of them must be reserved for its workflow. */
async function textsFrom(sender: string): Promise<string[]> {
  const rows = await sql<{ id: string; text: string }[]>`
    select id, received_text as text from inbound_messages where sender = ${sender} order by id`;
  const ids = rows.map(({ id }) => id);
  const reserved = await sql<{ id: string }[]>`
    select subject_id as id from reservations where subject_id = any(${ids}) order by subject_id`;
  expect(reserved.map(({ id }) => id)).toEqual(ids);
  return rows.map(({ text }) => text);
}

/** Lets all that is stored of a phone grow older. */
async function grow(sender: string, age: string): Promise<void> {
  await sql`
    update reply_parts
       set received_at = received_at - ${age}::interval, joined_at = joined_at - ${age}::interval
     where sender = ${sender}`;
}

const LONG = 'Zażółć gęślą jaźń, '.repeat(10);

describe('a reply in parts', () => {
  test('is one reply once all are there, with its numbers', async () => {
    const from = newPhone();
    const [last, ...others] = segmentsOf(LONG, from).reverse();
    await receive(...others);
    expect(await textsFrom(from)).toEqual([]);
    await receive(last!);
    expect(await textsFrom(from)).toEqual([LONG]);
    const [row] = await sql`select route, sender, receiver from inbound_messages where sender = ${from}`;
    expect(row).toEqual({ route: 'test', sender: from, receiver: '+48500600700' });
  });

  test('any text, in any order, each part once or more', async () => {
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 70, maxLength: 300 }),
      fc.string({ unit: fc.constantFrom('a', '€', '{'), minLength: 161, maxLength: 400 }),
    );
    const shuffled = texts.chain((text) => {
      const numbers = segmentsOf(text, '').map(({ number }) => number);
      const twice = fc.shuffledSubarray([...numbers, ...numbers], { minLength: 2 * numbers.length });
      return fc.record({ text: fc.constant(text), order: twice });
    });
    await fc.assert(
      fc.asyncProperty(shuffled, async ({ text, order }) => {
        const from = newPhone();
        const all = segmentsOf(text, from);
        fc.pre(all.length > 1);
        await receive(...order.map((number) => all[number - 1]!));
        // The last ones may be repeated after the reply was made: known, and no reply of their own.
        expect(await textsFrom(from)).toEqual([text.replace(/^\uFEFF/, '').replaceAll('\0', '\uFFFD')]);
      }),
      { seed: 11, numRuns: 25 },
    );
  });

  test('all at once, twice each, over many connections: one reply', async () => {
    const from = newPhone();
    const all = segmentsOf(LONG, from);
    const workers = [parts(), parts()];
    await Promise.all(workers.flatMap((worker) => all.map((one) => worker.receive('test', one))));
    expect(await textsFrom(from)).toEqual([LONG]);
  });

  test('is kept apart from others by route, numbers, reference and total', async () => {
    const from = newPhone();
    await receive(
      part(from, 1, 2, 'a'),
      part(from, 2, 2, 'b', { reference: 'udh16:7' }),
      part(from, 2, 2, 'c', { to: null }),
      part(from, 2, 3, 'd'),
      part(newPhone(), 2, 2, 'e'),
    );
    await parts().receive('other', part(from, 2, 2, 'f'));
    expect(await textsFrom(from)).toEqual([]);
    await receive(part(from, 2, 2, 'g'));
    expect(await textsFrom(from)).toEqual(['ag']);
  });
});

describe('handed over again', () => {
  test('after the reply was made, it is the same reply; after ten minutes another one', async () => {
    const from = newPhone();
    const all = segmentsOf(LONG, from);
    await receive(...all, ...all);
    await grow(from, '9 minutes');
    await receive(...all);
    expect(await textsFrom(from)).toEqual([LONG]);
    await grow(from, '2 minutes');
    await receive(...all);
    expect(await textsFrom(from)).toEqual([LONG, LONG]);
  });

  test('after it could not be stored, it is stored then', async () => {
    const from = newPhone();
    await sql`alter table inbound_messages add constraint refused check (received_text <> 'refused')`;
    await receive(part(from, 1, 2, 'ref'));
    await expect(receive(part(from, 2, 2, 'used'))).rejects.toThrow('refused');
    await sql`alter table inbound_messages drop constraint refused`;
    expect(await textsFrom(from)).toEqual([]);
    await receive(part(from, 2, 2, 'used'));
    expect(await textsFrom(from)).toEqual(['refused']);
  });
});

describe('the same numbers again', () => {
  test('another text right after a reply is another reply', async () => {
    const from = newPhone();
    await receive(part(from, 1, 2, 'a'), part(from, 2, 2, 'b'));
    await receive(part(from, 2, 2, 'd'), part(from, 1, 2, 'c'));
    expect(await textsFrom(from)).toEqual(['ab', 'cd']);
  });

  test('what contradicts a part that waits is another reply’s; the one before is handed over as it is', async () => {
    const from = newPhone();
    await receive(part(from, 1, 2, 'a'), part(from, 1, 2, 'c'), part(from, 2, 2, 'd'));
    expect(await textsFrom(from)).toEqual(['a[…]', 'cd']);
  });

  test('a part that comes after the others’ time is not joined with them', async () => {
    const from = newPhone();
    await receive(part(from, 1, 2, 'a'));
    await grow(from, '6 minutes');
    await receive(part(from, 2, 2, 'd'));
    expect(await textsFrom(from)).toEqual(['a[…]']);
    await receive(part(from, 1, 2, 'c'));
    expect(await textsFrom(from)).toEqual(['a[…]', 'cd']);
  });
});

describe('parts that never come', () => {
  test('are marked, five minutes after the last one that came', async () => {
    const from = newPhone();
    await receive(part(from, 2, 4, 'b'));
    await grow(from, '4 minutes');
    await receive(part(from, 4, 4, 'd'));
    await grow(from, '4 minutes');
    await parts().flush();
    expect(await textsFrom(from)).toEqual([]);
    await grow(from, '2 minutes');
    await parts().flush();
    expect(await textsFrom(from)).toEqual(['[…]b[…]d']);
    await parts().flush();
    expect(await textsFrom(from)).toHaveLength(1);
  });

  test('and come then after all, are a reply of their own', async () => {
    const from = newPhone();
    await receive(part(from, 1, 2, 'a'));
    await grow(from, '6 minutes');
    await parts().flush();
    await receive(part(from, 2, 2, 'b'), part(from, 1, 2, 'a'));
    expect(await textsFrom(from)).toEqual(['a[…]']);
    await grow(from, '6 minutes');
    await parts().flush();
    expect(await textsFrom(from)).toEqual(['a[…]', '[…]b']);
  });

  test('many at once, by several workers, each once', async () => {
    const from = Array.from({ length: 120 }, newPhone);
    for (const phone of from) await receive(part(phone, 1, 2, 'a'));
    await sql`update reply_parts set received_at = received_at - interval '1 hour' where joined_at is null`;
    const late = part(from[0]!, 2, 2, 'b');
    await Promise.all([parts().flush(), parts().flush(), parts().flush(), receive(late)]);
    for (const phone of from) expect(await textsFrom(phone)).toEqual(['a[…]']);
  });
});

test('what was handed over is forgotten after ten minutes, what waits is not', async () => {
  const [done, waiting] = [newPhone(), newPhone()];
  await receive(part(done, 1, 2, 'a'), part(done, 2, 2, 'b'), part(waiting, 1, 2, 'a'));
  await grow(done, '9 minutes');
  const count = async (sender: string) =>
    (await sql`select from reply_parts where sender = ${sender}`).length;
  await parts().flush();
  expect([await count(done), await count(waiting)]).toEqual([2, 1]);
  await grow(done, '2 minutes');
  await parts().flush();
  expect([await count(done), await count(waiting)]).toEqual([0, 1]);
});
