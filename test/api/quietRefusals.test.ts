import pino from 'pino';
import { expect, it } from 'vitest';
import { apiClient } from '../support/client.ts';
import { giveDomain, LEAST } from '../support/email.ts';
import { database, newAccount } from '../support/factories.ts';
import { startOwnApi } from '../support/ownApi.ts';

it('that no route leads to where an e-mail or a look-up is to go is a refusal like others, no error in the log', async () => {
  const account = await newAccount({ balance: 100 });
  const sql = database();
  const name = 'closed-quietly';
  await sql`insert into routes (name, kind, state) values (${name}, 'smsapi', 'disabled') on conflict do nothing`;
  await sql`insert into route_rules (route, account_id, type) values (${name}, ${account.id}, 'hlr')`;
  const domain = await giveDomain(account.id, { routes: [name] });
  const lines: { level: number; msg: string; reason?: string }[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]);
  const api = await startOwnApi({ log: pino({ level: 'info' }, { write }) });
  try {
    const client = apiClient(api.url, account.key);
    expect((await client.get('/v1/numbers/500100204/lookup')).status).toBe(502);
    expect((await client.post('/v1/email', { ...LEAST, from: `a@${domain}` })).status).toBe(503);
  } finally {
    await api.stop();
    await sql`delete from route_rules where route = ${name}`;
    await sql`delete from sender_domain_routes where route = ${name}`;
    await sql`delete from routes where name = ${name}`;
  }
  expect(lines.filter(({ level }) => level > 30)).toEqual([]);
  expect(lines.filter(({ msg }) => msg === 'request').map(({ reason }) => reason)).toEqual([
    'lookup_no_route',
    'email_no_route',
  ]);
});
