import { readCallingHours } from '../../domain/sendWindow.ts';
import type { Callback } from '../callbacks.ts';
import { providerKind } from '../kind.ts';
import {
  CALLBACK_PATHS,
  type CallbackKind,
  MAX_PARTS,
  smsapiCredentials,
  smsapiSettings,
} from './settings.ts';

/** SMSAPI.pl. Callbacks (https://www.smsapi.pl/docs/#9-raporty-callback) are unsigned, so a secret in their path authenticates them. */
export const smsapi = providerKind({
  name: 'smsapi',
  channels: ['sms', 'mms', 'vms'],
  looksUp: true,
  maxParts: MAX_PARTS,
  settings: smsapiSettings,
  callingHours: ({ callingHours, callIntervalSeconds }) =>
    readCallingHours(callingHours, callIntervalSeconds),
  options: {
    url: {
      placeholder: 'URL',
      about: 'the provider’s address; default: the usual one',
      read: { as: 'text' },
    },
    callbackUrl: { placeholder: 'URL', about: 'our API as the provider reaches it', read: { as: 'text' } },
  },
  credentials: smsapiCredentials,
  secret: { bare: 'token', own: 'callbackSecret' },
  callbacks: {
    base: ({ callbackUrl }) => callbackUrl,
    guard({ callbackAddresses }, { callbackSecret, former }) {
      const secrets = [{ secret: callbackSecret, until: Infinity }];
      if (former !== undefined) secrets.push({ secret: former.callbackSecret, until: former.until });
      return { secrets, addresses: callbackAddresses };
    },
    calls: { reports: called('reports'), replies: called('replies'), lookups: called('lookups') },
  },
  async open({ name, settings, credentials }, { stores, onError }) {
    const { createSmsapiProvider } = await import('./provider.ts');
    return createSmsapiProvider({ name, settings, credentials, lookups: stores.lookups, onError });
  },
  describeCode: async (code) => (await import('./answers.ts')).describeCode(code),
  test: async (...given) => (await import('./http.ts')).testSmsapiRoute(...given),
  balance: async (...given) => (await import('./http.ts')).readBalance(...given),
});

function called(what: CallbackKind): Callback {
  return {
    path: CALLBACK_PATHS[what],
    async read(call) {
      const { readContent } = await import('./callbacks.ts');
      return readContent(what, call);
    },
  };
}
