import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../../support/client.ts';
import { type CutOffApi, startCutOffApi } from '../../support/cutOffApi.ts';
import { giveDomain, LEAST, newMailAccount, rowsOf } from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';
import { newId } from '../../../db/ids.ts';

it('without a route that works for its domain an e-mail is 503, and nothing is left of it', async () => {
  const account = await newMailAccount();
  // Verified for a route alone that no worker has.
  const route = `none-${newId('dom').slice(-8)}`;
  await database()`insert into routes (name, kind, state) values (${route}, 'simulator', 'disabled')`;
  const domain = await giveDomain(account.id, { isDefault: false, routes: [route] });
  const email = { ...LEAST, from: `a@${domain}`, idx: 'raz' };
  expect(await account.v1.post('/v1/email', email)).toMatchObject({
    status: 503,
    body: { error: { code: 503 } },
  });
  expect(await account.api.post('/v1/email', email)).toMatchObject({
    status: 503,
    body: { error: { code: 'provider_error' } },
  });
  expect(await rowsOf(account.id)).toMatchObject({ emails: 0, keys: 0, entries: 0 });
  await database()`delete from sender_domain_routes where route = ${route}`;
  await database()`delete from routes where name = ${route}`;
});

describe('where something of ours is away', () => {
  let cutOff: CutOffApi;
  beforeAll(async () => {
    cutOff = await startCutOffApi();
  });
  afterAll(() => cutOff.stop());

  const healthy = () =>
    eventually(
      () => call(`${cutOff.api.url}/v1/health`),
      ({ status }) => status === 200,
    );

  async function statusOf(key: string): Promise<number> {
    const answer = await fetch(`${cutOff.api.url}/v1/email`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(LEAST),
    });
    const { error } = (await answer.json()) as { error?: { code: unknown } };
    expect([answer.status, 'provider_error', undefined]).toContain(error?.code);
    return answer.status;
  }

  it('without the database an e-mail is 503 with a token, 502 or 504 with a key, and nothing is left of it', async () => {
    const account = await newMailAccount();
    await healthy();
    cutOff.database.cut();
    try {
      const [token, key] = await Promise.all([account.token, account.key].map(statusOf));
      expect(token).toBe(503);
      expect([502, 504]).toContain(key);
    } finally {
      cutOff.database.restore();
    }
    await healthy();
    expect(await rowsOf(account.id)).toMatchObject({ emails: 0, keys: 0, entries: 0 });
  });

  it('without Temporal an e-mail is accepted', async () => {
    const account = await newMailAccount();
    await healthy();
    cutOff.temporal.cut();
    try {
      expect(await Promise.all([account.token, account.key].map(statusOf))).toEqual([200, 200]);
    } finally {
      cutOff.temporal.restore();
    }
    await healthy();
    expect(await rowsOf(account.id)).toMatchObject({ emails: 2 });
  });
});
