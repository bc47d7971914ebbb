import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { text as readStream } from 'node:stream/consumers';
import type { Client } from '@temporalio/client';
import { type Database, LONGEST_TRANSACTION_MS, openDatabase } from '../../db/connection.ts';
import type { Numbering } from '../../db/money/invoices.ts';
import type { Seller } from '../../domain/parties.ts';
import { type Config, readConfig, sellerOf } from '../config.ts';
import { errorCode } from '../../domain/errors.ts';
import { AdminError, invalidArgument, refused } from '../../commands/errors.ts';
import type { Tools } from '../../commands/tools.ts';

const CONNECT_TIMEOUT = '5s';
const MAX_BYTES = 1_000_000;

export type OpenTools = Tools & { close(): Promise<void> };

/** `ADMIN_ACTOR`, because a container has one user for all staff, else the user of the operating system. */
export function actorOf({ ADMIN_ACTOR }: { ADMIN_ACTOR?: string | undefined }): string {
  return ADMIN_ACTOR ?? operatingUser();
}

export function operatingUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** DATABASE_URL, else the embedded database found by DATA_DIR. @throws AdminError unavailable when there is neither; ConfigError */
export async function openServiceDatabase(): Promise<Database> {
  const config = readConfig();
  const url = config.DATABASE_URL ?? (await embeddedUrl(config.DATA_DIR));
  // Releases the locks (on a route, an account's money) of a command whose process or machine is gone.
  return openDatabase(url, 1, undefined, { transactionMs: LONGEST_TRANSACTION_MS });
}

async function embeddedUrl(dataDir: string): Promise<string> {
  const { readRunFile } = await import('../runfile.ts');
  const { urlOf } = await import('../connections.ts');
  const url = urlOf(readRunFile(dataDir), 'admin');
  if (url !== undefined) return url;
  const remedy = 'start it with npm start, or set DATA_DIR or DATABASE_URL';
  throw new AdminError('unavailable', `No service is running in ${dataDir}; ${remedy}.`);
}

/** @param env default: the environment of this process */
export function serviceTools(env?: NodeJS.ProcessEnv): OpenTools {
  let client: Promise<Client> | undefined;
  return {
    async secretsKey() {
      const { databaseUrlOf } = await import('../connections.ts');
      const { checkSecretsKey, loadSecretsKey } = await import('../secrets.ts');
      const config = readConfig(env);
      const key = await loadSecretsKey(config);
      await checkSecretsKey(databaseUrlOf(config, 'admin'), key);
      return key;
    },
    webhookAllowPrivate: () => Promise.resolve(readConfig(env).WEBHOOK_ALLOW_PRIVATE),
    dnsServers: () => Promise.resolve(readConfig(env).DNS_SERVERS ?? null),
    invoicing: () => Promise.resolve(invoicingBy(readConfig(env))),
    temporal: () => (client ??= openClient(env)),
    prometheusUrl: () => Promise.resolve(readConfig(env).PROMETHEUS_URL ?? null),
    read: readSource,
    async close() {
      await client?.then(
        ({ connection }) => connection.close(),
        () => undefined,
      );
    },
  };
}

function invoicingBy(config: Config): { seller: Seller; numbering: Numbering } {
  const seller = sellerOf(config);
  if (seller === null)
    throw refused('Set SELLER_NAME, SELLER_NIP, SELLER_STREET, SELLER_POSTAL_CODE and SELLER_CITY first.');
  return { seller, numbering: { kind: config.INVOICE_KIND, pattern: config.INVOICE_NUMBER ?? null } };
}

// Temporal's client is the slowest import: only commands that need it load it.
async function openClient(env: NodeJS.ProcessEnv | undefined): Promise<Client> {
  const { awaitTemporal, connectTo } = await import('../connections.ts');
  const { Client, Connection } = await import('@temporalio/client');
  const { temporal } = connectTo(readConfig(env), 'admin');
  // Connects once first, so that an unreachable server is reported as by every other command.
  await awaitTemporal(temporal, 0);
  const { namespace, ...server } = temporal;
  return new Client({
    connection: await Connection.connect({ ...server, connectTimeout: CONNECT_TIMEOUT }),
    namespace,
  });
}

export async function readSource(option: string, source: string): Promise<string> {
  const content = source.startsWith('env:')
    ? fromEnvironment(option, source.slice('env:'.length))
    : await fromFile(option, source);
  if (content.length > MAX_BYTES) throw invalidArgument(option, `at most ${MAX_BYTES} characters`);
  if (content.trim() === '') throw invalidArgument(option, 'what was read is empty');
  return content;
}

function fromEnvironment(option: string, name: string): string {
  const value = process.env[name];
  if (value === undefined) throw invalidArgument(option, `there is no variable ${name} in the environment`);
  return value;
}

async function fromFile(option: string, path: string): Promise<string> {
  try {
    return path === '-' ? await readStream(process.stdin) : await readFile(path, 'utf8');
  } catch (error) {
    throw invalidArgument(option, `${path} cannot be read (${errorCode(error) ?? 'unreadable'})`);
  }
}
