import { newApiKey } from '../../db/accounts/keys.ts';
import { openDatabase } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { eventually } from '../support/eventually.ts';
import type { ServiceUnderTest } from '../support/service.ts';

/**
 * Has a new service answer a send and a look-up once. An answer has to come within ten seconds, of which a busy machine may need some for what
 * only the first one loads.
 */
export async function warmUp({ apiUrl, databaseUrl }: ServiceUnderTest): Promise<void> {
  const headers = {
    authorization: `Bearer ${await newKey(databaseUrl)}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ to: '+48500100200', text: 'x' });
  const send = () => fetch(`${apiUrl}/v1/messages`, { method: 'POST', headers, body });
  const lookUp = () => fetch(`${apiUrl}/v1/numbers/500100200/lookup`, { headers });
  for (const ask of [send, lookUp]) await eventually(ask, ({ ok }) => ok);
}

async function newKey(databaseUrl: string): Promise<string> {
  const sql = openDatabase(databaseUrl, 1);
  const account = newId('cl');
  const { key, hash, hint } = newApiKey('live');
  try {
    await sql`insert into accounts (id, name, mode) values (${account}, 'Warm-up', 'live')`;
    await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${account}, 'opening', 10000)`;
    await sql`
      insert into api_keys (id, account_id, hash, hint, mode, scopes)
      values (${newId('key')}, ${account}, ${hash}, ${hint}, 'live', ${['send', 'read']})`;
    return key;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
