import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createDatabase } from '../../db/setup.ts';
import { openDatabase } from '../../db/connection.ts';
import { errorText } from '../../domain/errors.ts';
import { StartProblem } from '../../bin/problem.ts';

/** Where Temporal keeps its state, and by which name and password it gets there. */
export type TemporalStore = {
  host: string;
  port: string;
  user: string;
  password: string;
  /** What every workflow is at. */
  database: string;
  /** What lists and searches read. */
  visibilityDatabase: string;
};

/**
 * The two databases beside the service's own, on the same server and named after it.
 * @param databaseUrl postgres://user:password@host:port/database
 * @param role whose they are; the one in the address by default
 * @throws StartProblem when the address asks for an encrypted connection
 */
export function temporalStoreOf(
  databaseUrl: string,
  role?: { user: string; password: string },
): TemporalStore {
  const url = new URL(databaseUrl);
  const encrypted = url.searchParams.get('sslmode') ?? url.searchParams.get('ssl');
  if (encrypted !== null && !['disable', 'allow', 'prefer', 'false'].includes(encrypted)) {
    throw new StartProblem(
      'DATABASE_URL: this command starts Temporal with an unencrypted connection to PostgreSQL; use a server on this machine.',
    );
  }
  const name = decodeURIComponent(url.pathname.slice(1));
  return {
    host: url.hostname,
    port: url.port === '' ? '5432' : url.port,
    user: role?.user ?? decodeURIComponent(url.username),
    password: role?.password ?? decodeURIComponent(url.password),
    database: `${name}_temporal`,
    visibilityDatabase: `${name}_temporal_visibility`,
  };
}

/**
 * Creates Temporal's databases where they are missing and brings their schemas to the version of the server's programs.
 * @param makerUrl of a role that may create databases; of a superuser where they are to belong to another role
 * @param sqlTool of `findTemporalServer`
 * @throws StartProblem when PostgreSQL does not let us
 */
export async function prepareTemporalStore(
  makerUrl: string,
  store: TemporalStore,
  sqlTool: string,
): Promise<void> {
  const sql = openDatabase(makerUrl, 1);
  const apart = decodeURIComponent(new URL(makerUrl).username) !== store.user;
  try {
    for (const name of [store.database, store.visibilityDatabase]) {
      await createDatabase(sql, name, apart ? store.user : undefined);
    }
  } catch (error) {
    throw new StartProblem(`Temporal's databases cannot be created (${errorText(error)}).`);
  } finally {
    await sql.end({ timeout: 5 });
  }
  await Promise.all([
    upgrade(sqlTool, store, store.database, 'postgresql/v12/temporal'),
    upgrade(sqlTool, store, store.visibilityDatabase, 'postgresql/v12/visibility'),
  ]);
}

// The first step only adds the tables of versions where they are missing; the second applies what is not there yet.
async function upgrade(
  sqlTool: string,
  store: TemporalStore,
  database: string,
  schema: string,
): Promise<void> {
  await runTool(sqlTool, store, database, ['setup-schema', '--version', '0.0']);
  await runTool(sqlTool, store, database, ['update-schema', '--schema-name', schema]);
}

async function runTool(
  sqlTool: string,
  { host, port, user, password }: TemporalStore,
  database: string,
  args: string[],
): Promise<void> {
  // Not on the command line, where every user of this machine could read the password.
  const env = {
    PATH: process.env['PATH'],
    SQL_PLUGIN: 'postgres12',
    SQL_HOST: host,
    SQL_PORT: port,
    SQL_USER: user,
    SQL_PASSWORD: password,
    SQL_DATABASE: database,
  };
  try {
    await promisify(execFile)(sqlTool, args, { env });
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : errorText(error);
    throw new StartProblem(
      `The schema of Temporal's database ${database} cannot be brought up to date: ${output.trim().slice(-400)}`,
    );
  }
}
