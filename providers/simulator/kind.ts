import { z } from 'zod';
import { providerKind } from '../kind.ts';

/** The simulated network: for demo, tests and customers' integrations. */
export const simulator = providerKind({
  name: 'simulator',
  channels: ['sms'],
  looksUp: true,
  simulated: true,
  settings: z.strictObject({}),
  options: {},
  credentials: z.null(),
  async open({ name }, { stores, onError }) {
    const { createSimulator } = await import('./provider.ts');
    return createSimulator(name, stores.simulator(name), onError);
  },
  test: () => Promise.resolve({ ok: true, answer: 'simulated: always there, reaches no phone' }),
});
