import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningApi } from '../../../api/server.ts';
import { LEAST, newMailAccount, postEmail, rowsOf } from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { books, database } from '../../support/factories.ts';
import { heldBack } from '../../support/heldBack.ts';
import { startOwnApi } from '../../support/ownApi.ts';

// Of an account it has one request under way: that another one is let in shows that it knows who has gone.
let single: RunningApi;
beforeAll(async () => {
  single = await startOwnApi({ config: { REQUESTS_AT_ONCE: 1 } });
});
afterAll(() => single.stop());

it.each([
  ['with an idx', { idx: 'raz' }],
  ['without one', {}],
])('whoever leaves before the charge is charged nothing, and nothing is left: %s', async (_, more) => {
  const account = await newMailAccount();
  const headers = { authorization: `Bearer ${account.token}`, 'content-type': 'application/json' };
  const email = { ...LEAST, list_unsubscribe: true, ...more };
  const leaving = new AbortController();
  let writing: number[] = [];
  await heldBack(account, async (waiting) => {
    const lost = fetch(`${single.url}/v1/email`, {
      ...{ method: 'POST', headers, body: JSON.stringify(email), signal: leaving.signal },
    }).catch(() => null);
    writing = await waiting();
    leaving.abort();
    expect(await lost).toBeNull();
    await eventually(
      () => fetch(`${single.url}/v1/balance`, { headers }),
      ({ status }) => status === 200,
    );
  });
  // First what was held back is written, then it is ended.
  await eventually(
    () => database()`select from pg_stat_activity where pid = any(${writing}) and state <> 'idle'`,
    ({ count }) => count === 0,
  );
  await eventually(
    () => rowsOf(account.id),
    ({ emails }) => emails === 0,
  );
  expect(await rowsOf(account.id)).toEqual({ emails: 0, keys: 0, links: 0, suppressions: 0, entries: 0 });
  expect(await books(account.id)).toMatchObject({ balance: 10_000, ledger: 10_000 });
  const again = await postEmail(account.v1, email);
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null]);
  expect(await books(account.id)).toMatchObject({ balance: 9_999, ledger: 9_999 });
});
