import { expect, test } from 'vitest';
import { createChargeNotices } from '../../pipeline/chargeNotices.ts';
import type { Database } from '../../db/connection.ts';
import { eventually } from '../support/eventually.ts';

/** A database that answers when it is told to; of each statement it keeps the ids. */
function slowDatabase() {
  const asked: string[][] = [];
  const answers: ((error?: Error) => void)[] = [];
  const sql = (_: TemplateStringsArray, __: string, ids: string[]) => {
    asked.push(ids);
    return new Promise<void>((resolve, reject) => {
      answers.push((error) => (error ? reject(error) : resolve()));
    });
  };
  return { sql: sql as unknown as Database, asked, answers };
}

const seen = async (what: unknown[][], count: number): Promise<void> => {
  await eventually(
    () => Promise.resolve(what.length),
    (length) => length === count,
  );
};

const paid = (requestId: string) => ({ requestId, acceptance: { accepted: true } as const });

test('charges made while others are told are told together, also after a failure', async () => {
  const { sql, asked, answers } = slowDatabase();
  const errors: unknown[] = [];
  const notices = createChargeNotices(sql, (error) => errors.push(error));
  notices.decided(paid('req_1'));
  notices.decided(paid('req_2'));
  notices.decided(paid('req_3'));
  expect(asked).toEqual([['req_1']]);
  answers[0]!(new Error('away'));
  await seen(asked, 2);
  expect(asked[1]).toEqual(['req_2', 'req_3']);
  expect(errors).toHaveLength(1);
  answers[1]!();
  notices.decided(paid('req_4'));
  await seen(asked, 3);
  expect(asked[2]).toEqual(['req_4']);
});
