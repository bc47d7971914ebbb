import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../bin/config.ts';

describe('readConfig', () => {
  it('has a value for everything that a first start needs', () => {
    expect(readConfig({})).toMatchObject({
      PORT: 3000,
      DATA_DIR: resolve('.data'),
      LOG_LEVEL: 'info',
      TRUST_PROXY: false,
      SIMULATOR_PUBLIC: false,
      WEBHOOK_ALLOW_PRIVATE: false,
      TEMPORAL_NAMESPACE: 'default',
    });
  });

  it.each([
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PUBLIC_URL', 'ftp://x'],
    ['MCP_URL', 'ftp://x'],
    ['PANEL_URL', 'http://panel.example.pl'],
    ['PANEL_URL', 'https://panel.example.pl/x'],
    ['PANEL_ULR', 'https://panel.example.pl'],
    ['LOG_LEVEL', 'loud'],
    ['WEBHOOK_ALLOW_PRIVATE', 'yes'],
    ['SECRETS_KEY', 'short'],
    ['DEFAULT_SENDER', 'INFO '],
    ['WEBHOOK_ALOW_PRIVATE', 'true'],
    ['OWN_EMAIL_ACCOUNT', 'sklep'],
    ['ADMIN_ACTOR', 'x'.repeat(65)],
    ['ADMIN_ACTOR', 'jan\nkowalski'],
  ])('names %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(name);
  });

  it.each(['PUBLIC_URL', 'SHORT_URL', 'MCP_URL'])(
    '%s is a plain address, and stands before paths without a slash of its own',
    (name) => {
      for (const rest of ['user:pw@x.pl', 'user@x.pl', 'x.pl/?q=1', 'x.pl/#f'])
        expect(() => readConfig({ [name]: `https://${rest}` })).toThrow(
          new ConfigError(`${name}: must have no user, query or fragment`),
        );
      for (const given of ['x.pl', 'x.pl/', 'x.pl/?', 'x.pl#'])
        expect(readConfig({ [name]: `https://${given}` })).toMatchObject({ [name]: 'https://x.pl' });
      expect(readConfig({ [name]: 'http://żółw.pl:8080/a/' })).toMatchObject({
        [name]: 'http://xn--w-uga1v8h.pl:8080/a',
      });
    },
  );

  it('knows every name in .env.example, and takes the values there', () => {
    const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
    const lines = [...example.matchAll(/^#?([A-Z][A-Z_]*)=(.*)$/gm)];
    expect(lines.length).toBeGreaterThan(10);
    for (const [, name = ''] of lines)
      expect(() => readConfig({ [name]: '?' })).not.toThrow('unknown setting');
    readConfig(Object.fromEntries<string>(lines.map(([, name = '', value = '']) => [name, value])));
  });

  it('docker-compose hands on every setting that is not about the machine or the servers', () => {
    const [example = '', compose = ''] = ['.env.example', 'docker-compose.yml'].map((name) =>
      readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'),
    );
    const names = [...example.matchAll(/^#?([A-Z][A-Z_]*)=/gm)].map(([, name = '']) => name);
    const own = names.filter((name) => !/^(HOST|DATA_DIR|TEMPORAL_.*)$/.test(name));
    expect(own.length).toBeGreaterThan(10);
    expect(
      own.filter((name) => !new RegExp(`(^\\s+${name}: |\\$\\{${name}[:}])`, 'm').test(compose)),
    ).toEqual([]);
  });

  it('sends no e-mails of its own unless told as which account', () => {
    expect(readConfig({})).not.toHaveProperty('OWN_EMAIL_ACCOUNT');
    const OWN_EMAIL_ACCOUNT = 'cl_01k00000000000000000000000';
    expect(readConfig({ OWN_EMAIL_ACCOUNT })).toMatchObject({ OWN_EMAIL_ACCOUNT });
  });

  it.each(['GON/{n}', 'GON/{year}', 'GON/{year}/{n}/{day}', '{year}{n}}', 'a\n{year}{n}'])(
    'numbers no documents by %j',
    (INVOICE_NUMBER) => {
      expect(() => readConfig({ INVOICE_NUMBER })).toThrow(/^INVOICE_NUMBER: /);
    },
  );

  it('names all that is wrong at once', () => {
    expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'y' })).toThrow(/PORT: .*; LOG_LEVEL: /);
  });

  it('leaves the variables of others alone, those that begin like ours too', () => {
    expect(() => readConfig({ REQUESTS_CA_BUNDLE: '/etc/ssl/ca.pem' })).not.toThrow();
    expect(() => readConfig({ REQUESTS_AT_ONCES: '5' })).toThrow('REQUESTS_AT_ONCES: unknown setting');
  });

  it('leaves the variables of the temporal command line alone', () => {
    for (const name of ['PROFILE', 'TLS_CLIENT_CERT_PATH', 'TLS_SERVER_CA_CERT_DATA', 'GRPC_META_TEAM'])
      expect(readConfig({ [`TEMPORAL_${name}`]: 'x' })).toEqual(readConfig({}));
    expect(() => readConfig({ TEMPORAL_TLS_CERTS: 'x' })).toThrow('TEMPORAL_TLS_CERTS: unknown setting');
  });

  it('leaves alone what Kubernetes says of a service in its namespace that is called as a family of ours', () => {
    const ofService = (name: string) => ({
      [`${name}_SERVICE_HOST`]: '10.96.0.7',
      [`${name}_SERVICE_PORT`]: '7233',
      [`${name}_SERVICE_PORT_GRPC_RPC`]: '7233',
      [`${name}_PORT`]: 'tcp://10.96.0.7:7233',
      [`${name}_PORT_7233_TCP`]: 'tcp://10.96.0.7:7233',
      [`${name}_PORT_7233_TCP_PROTO`]: 'tcp',
      [`${name}_PORT_7233_TCP_PORT`]: '7233',
      [`${name}_PORT_7233_TCP_ADDR`]: '10.96.0.7',
    });
    for (const name of ['TEMPORAL', 'TEMPORAL_FRONTEND', 'DATABASE', 'MCP', 'WEBHOOK_RECEIVER'])
      expect(readConfig(ofService(name))).toEqual(readConfig({}));
    expect(() => readConfig({ DATABASE_PORT: '5432' })).toThrow('DATABASE_PORT: unknown setting');
    expect(readConfig({ ...ofService('METRICS'), METRICS_PORT: '9464' })).toMatchObject({
      METRICS_PORT: 9464,
    });
  });
});
