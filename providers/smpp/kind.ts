import { providerKind } from '../kind.ts';
import { smppCredentials, smppSettings } from './settings.ts';

const MAX_PORT = 65_535;

/** SMSCs that speak SMPP 3.4. */
export const smpp = providerKind({
  name: 'smpp',
  channels: ['sms'],
  looksUp: false,
  settings: smppSettings,
  options: {
    host: { placeholder: 'HOST', about: 'the SMSC', read: { as: 'text' } },
    port: { placeholder: 'PORT', about: 'default 2775', read: { as: 'number', min: 1, max: MAX_PORT } },
    tls: { placeholder: 'yes|no', about: 'default no', read: { as: 'yes or no' } },
    tlsCa: {
      placeholder: 'FILE|-',
      about: 'the certificates to trust, PEM; default: those of Node',
      read: { as: 'file' },
    },
    bind: {
      placeholder: 'transceiver|pair',
      about: 'pair binds a transmitter and a receiver',
      read: { as: 'word', words: ['transceiver', 'pair'] },
    },
    sessions: {
      placeholder: 'N',
      about: 'binds per worker process; default 1',
      read: { as: 'number', min: 1, max: 16 },
    },
    window: {
      placeholder: 'N',
      about: 'submits open per session; default 10',
      read: { as: 'number', min: 1, max: 1000 },
    },
  },
  credentials: smppCredentials,
  secret: {
    bare: 'password',
    options: {
      systemId: {
        placeholder: 'ID',
        about: 'the system_id that goes with a password alone',
        read: { as: 'text' },
      },
    },
  },
  async open({ name, settings, credentials }, { onError }) {
    const { createSmppProvider } = await import('./provider.ts');
    return createSmppProvider({ name, settings, credentials, onError });
  },
  describeCode: async (code) => (await import('./receipts.ts')).describeCode(code),
  test: async (...given) => (await import('./provider.ts')).testSmppRoute(...given),
});
