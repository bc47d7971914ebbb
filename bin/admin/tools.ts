import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import type { Client } from '@temporalio/client';
import { errorCode } from '../embedded/problem.ts';
import { invalidArgument } from './problems.ts';

/** What some commands need beside the database; each is opened when it is first asked for. */
export interface Tools {
  /** The key of the secrets in this database. */
  secretsKey(): Promise<Buffer>;
  /** Whether webhooks may reach private addresses (`WEBHOOK_ALLOW_PRIVATE`). */
  webhookAllowPrivate(): Promise<boolean>;
  /** Which DNS servers are asked (`DNS_SERVERS`); null: those of the system. */
  dnsServers(): Promise<readonly string[] | null>;
  /** A client of the service's Temporal. */
  temporal(): Promise<Client>;
  /**
   * Reads what does not belong on a command line.
   * @param option its name as typed, for refusals
   * @param source a file's path, `-` for standard input, `env:NAME` for a variable of the environment
   * @throws AdminError invalid_argument, never with anything of what was read
   */
  read(option: string, source: string): Promise<string>;
}

export type OpenTools = Tools & { close(): Promise<void> };

const CONNECT_TIMEOUT = '5s';
const MAX_BYTES = 1_000_000;

/** The tools of the service whose settings these are: of the environment, unless given. */
export function serviceTools(env?: NodeJS.ProcessEnv): OpenTools {
  let client: Promise<Client> | undefined;
  return {
    async secretsKey() {
      const { readConfig } = await import('../config.ts');
      const { databaseUrlOf } = await import('../connections.ts');
      const { checkSecretsKey, loadSecretsKey } = await import('../secrets.ts');
      const config = readConfig(env);
      const key = await loadSecretsKey(config);
      await checkSecretsKey(databaseUrlOf(config, 'admin'), key);
      return key;
    },
    async webhookAllowPrivate() {
      const { readConfig } = await import('../config.ts');
      return readConfig(env).WEBHOOK_ALLOW_PRIVATE;
    },
    async dnsServers() {
      const { readConfig } = await import('../config.ts');
      return readConfig(env).DNS_SERVERS ?? null;
    },
    temporal: () => (client ??= openClient(env)),
    read: readSource,
    async close() {
      await client?.then(
        ({ connection }) => connection.close(),
        () => undefined,
      );
    },
  };
}

async function openClient(env: NodeJS.ProcessEnv | undefined): Promise<Client> {
  const { readConfig } = await import('../config.ts');
  const { awaitTemporal, connectTo } = await import('../connections.ts');
  const { Client, Connection } = await import('@temporalio/client');
  const { temporal } = connectTo(readConfig(env), 'admin');
  // Asked once, so that a server that is not there is reported in the words of every other command.
  await awaitTemporal(temporal, 0);
  const { namespace, ...server } = temporal;
  return new Client({
    connection: await Connection.connect({ ...server, connectTimeout: CONNECT_TIMEOUT }),
    namespace,
  });
}

/** As {@link Tools.read} says. */
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
