import { readRoute, routeCredentials } from '../../db/routes/routes.ts';
import { Refused } from '../../domain/refusals.ts';
import { ownRoutes } from '../../domain/routing.ts';
import type { ProviderBalance } from '../../providers/kind.ts';
import { providerKinds } from '../../providers/registry.ts';
import type { Asked } from '../asked.ts';

// Any number in Poland: what is asked for is the route of most messages.
const SOMEBODY = '+48500000000';

/**
 * What is left at the provider by whose route the account's messages go (v1.2.0, Balance response: an account that was not migrated).
 * Of a route that others send by as well it is not the account's money, nor the name its own.
 * @throws Refused `account_not_migrated` where no route of the account's alone has a balance; `unavailable` where the provider does not say
 */
export async function upstreamBalance({ services, caller }: Asked<unknown>): Promise<ProviderBalance> {
  const { accountId } = caller;
  const traffic = { key: accountId, msisdn: SOMEBODY, accountId, type: 'sms', priority: false } as const;
  const routing = await services.routing();
  for (const name of ownRoutes(routing, traffic)) {
    const route = await readRoute(services.sql, name);
    const kind = route === undefined ? undefined : providerKinds.named(route.kind);
    if (route === undefined || kind?.balance === undefined) continue;
    const balance = await kind.balance(route.settings, routeCredentials(services.secretsKey, route));
    if (balance === null) throw new Refused({ reason: 'unavailable' });
    return balance;
  }
  throw new Refused({ reason: 'account_not_migrated' });
}
