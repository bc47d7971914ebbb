import { z } from 'zod';
import { readCallingHours } from '../../domain/sendWindow.ts';
import { ownRecords } from '../../domain/email/dns.ts';
import { callingHours, providerKind } from '../kind.ts';

const BETWEEN_TRIES_S = 300;
// Stands for the host that receives bounces; it is never resolved.
const MAIL_HOST = 'mail.simulator.invalid';

export const simulator = providerKind({
  name: 'simulator',
  channels: ['sms', 'mms', 'vms'],
  email: { domains: { by: 'us', records: (_settings, domain) => ownRecords(domain, MAIL_HOST) } },
  looksUp: true,
  simulated: true,
  settings: z.strictObject({ callingHours: callingHours.optional() }),
  callingHours: (set) =>
    set.callingHours === undefined ? null : readCallingHours(set.callingHours, BETWEEN_TRIES_S),
  options: {},
  credentials: z.null(),
  async open({ name }, { stores, onError }) {
    const { createSimulator } = await import('./provider.ts');
    return createSimulator(name, stores.simulator(name), onError);
  },
  test: () => Promise.resolve({ ok: true, answer: 'simulated: always there, reaches no phone' }),
});
