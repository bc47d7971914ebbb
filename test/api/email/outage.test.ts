import { expect, it } from 'vitest';
import { giveDomain, LEAST, newMailAccount, rowsOf } from '../../support/email.ts';
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
