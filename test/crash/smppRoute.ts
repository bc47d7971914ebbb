import { openDatabase } from '../../db/connection.ts';
import { addRoute, addRule, sealCredentials } from '../../db/routes/routes.ts';
import type { Smsc } from '../smsc/smsc.ts';
import { untilBound } from '../support/product.ts';
import type { Account } from './load.ts';

/** The name of the route to an SMSC that is not simulated. */
export const ROUTE = 'operator';

const SMPP = {
  window: 20,
  enquireLinkSeconds: 1,
  responseSeconds: 4,
  bindSeconds: 2,
  reconnectMinMs: 50,
  reconnectMaxMs: 500,
};
// Longer than anything is away here: what waits for the route goes by it.
const BROKEN_AFTER_S = 600;

/**
 * Sends what these accounts send by SMPP, and waits until the worker is bound.
 * @param port where the SMSC is reached, or what stands in front of it
 */
export async function sendBySmpp(
  { databaseUrl, secretsKey }: { databaseUrl: string; secretsKey: Buffer },
  { systemId, password }: Pick<Smsc, 'systemId' | 'password'>,
  port: number,
  accounts: Account[],
): Promise<void> {
  const sql = openDatabase(databaseUrl, 1);
  try {
    await addRoute(sql, {
      name: ROUTE,
      kind: 'smpp',
      state: 'active',
      settings: { host: '127.0.0.1', port, ...SMPP },
      credentials: sealCredentials(secretsKey, ROUTE, { systemId, password }),
      ratePerSecond: null,
      brokenAfterS: BROKEN_AFTER_S,
    });
    for (const { id: accountId } of accounts)
      await addRule(sql, { route: ROUTE, prefix: '', accountId, type: null, priority: null, weight: 100 });
    await untilBound(sql, ROUTE, 1);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
