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
      add: async (...given) => (await import('./domains.ts')).addDomain(...given),
      check: async (...given) => (await import('./domains.ts')).checkDomain(...given),
      remove: async (...given) => (await import('./domains.ts')).removeDomain(...given),
    },
    suppressions: { remove: async (...given) => (await import('./domains.ts')).removeSuppression(...given) },
    callback: {
      signed: async (...given) => (await import('./events.ts')).isSigned(...given),
      read: async (...given) => (await import('./events.ts')).readEvents(...given),
    },
  },
  async open({ name, settings, credentials }, { onError }) {
    const { createResendProvider } = await import('./provider.ts');
    return createResendProvider({ name, settings, credentials, onError });
  },
  describeCode: async (code) => (await import('./answers.ts')).describeCode(code),
  test: async (...given) => (await import('./http.ts')).testResendRoute(...given),
});
