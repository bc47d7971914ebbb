import { providerKind } from '../kind.ts';
import { resendCredentials, resendSettings } from './settings.ts';

/** Resend (https://resend.com/docs/api-reference). It keeps its own list of sender domains, and reports events by signed webhooks. */
export const resend = providerKind({
  name: 'resend',
  channels: [],
  looksUp: false,
  settings: resendSettings,
  options: {
    url: {
      placeholder: 'URL',
      about: 'the provider’s address; default: the usual one',
      read: { as: 'text' },
    },
    window: {
      placeholder: 'N',
      about:
        'e-mails handed over at once per worker; default 5. It takes 5 requests a second of a team: --rate 5',
      read: { as: 'number', min: 1, max: 1000 },
    },
  },
  credentials: resendCredentials,
  secret: { bare: 'apiKey' },
  email: {
    domains: {
      by: 'provider',
      async add(settings, credentials, name) {
        const { addDomain } = await import('./domains.ts');
        return addDomain(settings, credentials, name);
      },
      async check(settings, credentials, id) {
        const { checkDomain } = await import('./domains.ts');
        return checkDomain(settings, credentials, id);
      },
      async remove(settings, credentials, id) {
        const { removeDomain } = await import('./domains.ts');
        return removeDomain(settings, credentials, id);
      },
    },
    suppressions: {
      async remove(settings, credentials, address, awaitRateLimit) {
        const { removeSuppression } = await import('./domains.ts');
        return removeSuppression(settings, credentials, address, awaitRateLimit);
      },
    },
    callback: {
      async signed(credentials, call) {
        const { isSigned } = await import('./events.ts');
        return isSigned(credentials, call);
      },
      async read(call) {
        const { readEvents } = await import('./events.ts');
        return readEvents(call);
      },
    },
  },
  async open({ name, settings, credentials }, { onError }) {
    const { createResendProvider } = await import('./provider.ts');
    return createResendProvider({ name, settings, credentials, onError });
  },
  async test(settings, credentials) {
    const { testResendRoute } = await import('./http.ts');
    return testResendRoute(settings, credentials);
  },
});
