import type { RouteKind } from '../domain/routing.ts';
import type { Provider } from './provider.ts';
import { closedProvider } from './closed.ts';
import { createSmppProvider } from './smpp/provider.ts';
import { smppCredentials, smppSettings } from './smpp/settings.ts';
import { createSmsapiProvider } from './smsapi/provider.ts';
import type { LookupAnswers } from './smsapi/lookup.ts';
import { smsapiCredentials, smsapiSettings } from './smsapi/settings.ts';
import { createSimulator, type SimulatorStore } from './simulator/provider.ts';

/** What a provider is made from. */
export interface ProviderPlan {
  /** The route's. */
  name: string;
  kind: RouteKind;
  /** As stored; read by the kind's own schema. */
  settings: unknown;
  credentials: unknown;
}

/** What providers remember outside themselves. */
export interface ProviderStores {
  /** Each simulated route has its own. */
  simulator: (route: string) => SimulatorStore;
  /** Answers to look-ups that providers bring by callbacks. */
  lookups: LookupAnswers;
}

/**
 * Makes the provider of a route. One whose settings cannot be used takes nothing and says why.
 * @param onError is told of what goes wrong by itself, outside any call
 */
export function createProvider(
  plan: ProviderPlan,
  stores: ProviderStores,
  onError: (error: unknown) => void,
): Provider {
  try {
    return open(plan, stores, onError);
  } catch (error) {
    onError(error);
    return closedProvider(plan.name, 'its settings or credentials cannot be used');
  }
}

function open(
  { name, kind, settings, credentials }: ProviderPlan,
  stores: ProviderStores,
  onError: (error: unknown) => void,
): Provider {
  switch (kind) {
    case 'simulator':
      return createSimulator(name, stores.simulator(name), onError);
    case 'smpp':
      return createSmppProvider({
        name,
        settings: smppSettings.parse(settings),
        credentials: smppCredentials.parse(credentials),
        onError,
      });
    case 'smsapi':
      return createSmsapiProvider({
        name,
        settings: smsapiSettings.parse(settings),
        credentials: smsapiCredentials.parse(credentials),
        lookups: stores.lookups,
        onError,
      });
  }
}
