import type { Database } from '../db/connection.ts';
import { raiseBalanceAlerts, refreshDailyCosts, watchLiveAccounts } from '../db/money/balanceAlerts.ts';

/** Looks at the balances of all live accounts, and queues what their people are to be told. Any number may run at once. */
export async function alertOfBalances(sql: Database, stopping: AbortSignal): Promise<void> {
  await watchLiveAccounts(sql);
  try {
    while (!stopping.aborted && (await refreshDailyCosts(sql)));
  } finally {
    // Whatever a sum of costs meets: balances need none.
    while (!stopping.aborted && (await raiseBalanceAlerts(sql)));
  }
}
