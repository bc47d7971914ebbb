import { closedProvider, type Provider } from './provider.ts';
import type { RoutePlan, ProviderContext } from './kind.ts';
import { providerKinds } from './registry.ts';

/** Creates the provider of a route. An unknown kind or unusable settings give a closed provider that says why. @param kind as stored */
export async function createProvider(
  kind: string,
  plan: RoutePlan<unknown, unknown>,
  context: ProviderContext,
): Promise<Provider> {
  const known = providerKinds.named(kind);
  if (known === undefined) return closedProvider(plan.name, `this release does not know the kind ${kind}`);
  try {
    return await known.open(plan, context);
  } catch (error) {
    context.onError(error);
    return closedProvider(plan.name, 'its settings or credentials cannot be used');
  }
}
