import { ownRecords } from '../../domain/email/dns.ts';
import { providerKind } from '../kind.ts';
import { smtpCredentials, smtpSettings } from './settings.ts';

const MAX_PORT = 65_535;

/** A mail relay by SMTP (RFC 5321). We sign the e-mails, and receive the bounces ourselves. */
export const smtp = providerKind({
  name: 'smtp',
  channels: [],
  email: { domains: { by: 'us', records: ({ mailHost, spf }, domain) => ownRecords(domain, mailHost, spf) } },
  looksUp: false,
  reportsFailuresAlone: true,
  settings: smtpSettings,
  options: {
    host: { placeholder: 'HOST', about: 'the mail relay', read: { as: 'text' } },
    port: { placeholder: 'PORT', about: 'default 587', read: { as: 'number', min: 1, max: MAX_PORT } },
    security: {
      placeholder: 'starttls|tls|none',
      about: 'default starttls; none on this machine only',
      read: { as: 'word', words: ['starttls', 'tls', 'none'] },
    },
    tlsCa: {
      placeholder: 'FILE|-',
      about: 'the certificates to trust, PEM; default: those of Node',
      read: { as: 'file' },
    },
    mailHost: {
      placeholder: 'NAME',
      about: 'our name to other mail servers, where bounces come to',
      read: { as: 'text' },
    },
    bounces: { placeholder: 'ADDRESS:PORT', about: 'where to listen for bounces', read: { as: 'text' } },
  },
  credentials: smtpCredentials,
  secret: {
    bare: 'password',
    own: 'returnPathKey',
    options: {
      user: { placeholder: 'NAME', about: 'who logs in with a password alone', read: { as: 'text' } },
    },
  },
  async open({ name, settings, credentials }, { onError }) {
    const { createSmtpProvider } = await import('./provider.ts');
    return createSmtpProvider({ name, settings, credentials, onError });
  },
  describeCode: async (code) => (await import('./provider.ts')).describeCode(code),
  test: async (...given) => (await import('./provider.ts')).testSmtpRoute(...given),
});
