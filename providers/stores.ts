import type { LookupAnswer } from '../domain/lookups.ts';
import type { SimulatorMail } from './simulator/email.ts';
import type { SimulatorStore } from './simulator/provider.ts';

/** The answers to look-ups that came as callbacks. */
export interface LookupAnswers {
  /** The answer with the provider's id, once it has come; null before. */
  find(route: string, providerId: string): Promise<LookupAnswer | null>;
}

/** What providers remember outside themselves. */
export interface ProviderStores {
  /** Each simulated route has its own. */
  simulator: (route: string) => SimulatorStore & SimulatorMail;
  lookups: LookupAnswers;
}
