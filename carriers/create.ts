import type { RouteKind } from '../domain/routing.ts';
import type { Carrier } from './carrier.ts';
import { closedCarrier } from './closed.ts';
import { createSmppCarrier } from './smpp/carrier.ts';
import { smppCredentials, smppSettings } from './smpp/settings.ts';
import { createSmsapiCarrier } from './smsapi/carrier.ts';
import type { LookupAnswers } from './smsapi/lookup.ts';
import { smsapiCredentials, smsapiSettings } from './smsapi/settings.ts';
import { createSimulator, type SimulatorStore } from './simulator.ts';

/** What a carrier is made from. */
export interface CarrierPlan {
  /** The route's. */
  name: string;
  kind: RouteKind;
  /** As stored; read by the kind's own schema. */
  settings: unknown;
  credentials: unknown;
}

/** What carriers remember outside themselves. */
export interface CarrierStores {
  /** Each simulated route has its own. */
  simulator: (route: string) => SimulatorStore;
  /** Answers to look-ups that providers bring by callbacks. */
  lookups: LookupAnswers;
}

/**
 * Makes the carrier of a route. One whose settings cannot be used takes nothing and says why.
 * @param onError is told of what goes wrong by itself, outside any call
 */
export function createCarrier(
  plan: CarrierPlan,
  stores: CarrierStores,
  onError: (error: unknown) => void,
): Carrier {
  try {
    return open(plan, stores, onError);
  } catch (error) {
    onError(error);
    return closedCarrier(plan.name, 'its settings or credentials cannot be used');
  }
}

function open(
  { name, kind, settings, credentials }: CarrierPlan,
  stores: CarrierStores,
  onError: (error: unknown) => void,
): Carrier {
  switch (kind) {
    case 'simulator':
      return createSimulator(name, stores.simulator(name), onError);
    case 'smpp':
      return createSmppCarrier({
        name,
        settings: smppSettings.parse(settings),
        credentials: smppCredentials.parse(credentials),
        onError,
      });
    case 'smsapi':
      return createSmsapiCarrier({
        name,
        settings: smsapiSettings.parse(settings),
        credentials: smsapiCredentials.parse(credentials),
        lookups: stores.lookups,
        onError,
      });
  }
}
