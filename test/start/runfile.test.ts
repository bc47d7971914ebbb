import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../bin/config.ts';
import { connectTo } from '../../bin/connections.ts';
import { readRunFile, removeRunFile, writeRunFile } from '../../bin/runfile.ts';
import { loadSecretsKey } from '../../bin/secrets.ts';
import { dataFolder } from './support.ts';

const CONTENT = {
  databaseUrl: 'postgres://goniec:secret@127.0.0.1:20001/goniec',
  temporal: { address: '127.0.0.1:20002', namespace: 'default', embedded: true },
  temporalUiUrl: 'http://127.0.0.1:8233',
  apiUrl: null,
};

describe('the run file', () => {
  it('is read back while its writer lives, by its owner alone', () => {
    const folder = dataFolder();
    writeRunFile(folder, CONTENT);
    expect(readRunFile(folder)).toMatchObject(CONTENT);
    expect(statSync(join(folder, 'run.json')).mode & 0o777).toBe(0o600);
    removeRunFile(folder);
    expect(readRunFile(folder)).toBeNull();
  });

  it('counts for nothing when its writer has ended', () => {
    const folder = dataFolder();
    writeRunFile(folder, CONTENT);
    const path = join(folder, 'run.json');
    const written = JSON.parse(readFileSync(path, 'utf8')) as { process: object };
    writeFileSync(path, JSON.stringify({ ...written, process: { ...written.process, started: 'before' } }));
    expect(readRunFile(folder)).toBeNull();
  });
});

describe('connectTo', () => {
  it('finds the servers of the running service by its data folder', () => {
    const folder = dataFolder();
    writeRunFile(folder, CONTENT);
    expect(connectTo(readConfig({ DATA_DIR: folder }), 'api')).toEqual({
      databaseUrl: CONTENT.databaseUrl,
      temporal: { address: '127.0.0.1:20002', namespace: 'default' },
    });
  });

  it('connects each part of the service by the role that it has in an embedded database', () => {
    const folder = dataFolder();
    const partUrls = {
      api: 'postgres://api@h/d',
      worker: 'postgres://worker@h/d',
      admin: 'postgres://admin@h/d',
    };
    writeRunFile(folder, { ...CONTENT, partUrls });
    const config = readConfig({ DATA_DIR: folder });
    for (const part of ['api', 'worker', 'admin'] as const)
      expect(connectTo(config, part).databaseUrl).toBe(partUrls[part]);
    expect(connectTo(config, 'owner').databaseUrl).toBe(CONTENT.databaseUrl);
  });

  it('prefers the settings, with what a hosted cluster needs', () => {
    const folder = dataFolder();
    writeRunFile(folder, CONTENT);
    const config = readConfig({
      DATA_DIR: folder,
      DATABASE_URL: 'postgres://db.example/goniec',
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'prod',
      TEMPORAL_API_KEY: 'k',
      TEMPORAL_TLS_CA: '-----BEGIN CERTIFICATE-----\n',
    });
    expect(connectTo(config, 'api')).toEqual({
      databaseUrl: 'postgres://db.example/goniec',
      temporal: {
        address: 'temporal.example:7233',
        namespace: 'prod',
        apiKey: 'k',
        tls: { serverRootCACertificate: Buffer.from('-----BEGIN CERTIFICATE-----\n') },
      },
    });
  });

  it('says in one sentence what is missing', () => {
    const folder = dataFolder();
    expect(() => connectTo(readConfig({ DATA_DIR: folder }), 'api')).toThrow(
      `DATABASE_URL is not set and no service is running in ${folder}`,
    );
    const withDatabase = readConfig({ DATA_DIR: folder, DATABASE_URL: 'postgres://db.example/goniec' });
    expect(() => connectTo(withDatabase, 'api')).toThrow('TEMPORAL_ADDRESS is not set');
    const withFile = readConfig({
      DATA_DIR: folder,
      TEMPORAL_ADDRESS: 'a:1',
      TEMPORAL_TLS_CA: '/no/such.pem',
    });
    expect(() => connectTo({ ...withFile, DATABASE_URL: 'postgres://db.example/goniec' }, 'api')).toThrow(
      'TEMPORAL_TLS_CA: /no/such.pem cannot be read (ENOENT)',
    );
  });
});

describe('the key for secrets at rest', () => {
  it('is made once, for its owner alone, and the same for everybody who makes it at once', async () => {
    const folder = dataFolder();
    const config = readConfig({ DATA_DIR: folder });
    const keys = await Promise.all(Array.from({ length: 10 }, () => loadSecretsKey(config)));
    expect(keys[0]).toHaveLength(32);
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(statSync(join(folder, 'secrets.key')).mode & 0o777).toBe(0o600);
  });

  it('is never replaced when its file is damaged', async () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'secrets.key'), 'c2hvcnQ=');
    await expect(loadSecretsKey(readConfig({ DATA_DIR: folder }))).rejects.toThrow('does not hold a key');
    expect(readFileSync(join(folder, 'secrets.key'), 'utf8')).toBe('c2hvcnQ=');
  });
});
