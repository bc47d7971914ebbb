import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { ROLES, type Part } from '../../db/rights.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    servers: Servers;
  }
}

/** How each part of the service gets into one database. */
export interface DatabaseUrls {
  /** Of the database's owner. */
  url: string;
  partUrls: Record<Part, string>;
  /** For what no role of the service may do. */
  superuserUrl: string;
}

/** The servers that all files of a run share; plain data, so that it travels to the tests. */
export interface Servers {
  /** Of the template: the tables of this product, nothing in them, nobody connected. */
  template: DatabaseUrls;
  /** host:port */
  temporalAddress: string;
  /** For tests that stand them still. */
  pids: Record<'postgres' | 'temporal', number>;
}

/**
 * Makes a database of a test's own in the shared PostgreSQL.
 * @param migrated whether it has the tables of this product; otherwise nothing is in it
 */
export async function createTestDatabase(
  { template }: Pick<Servers, 'template'> = inject('servers'),
  migrated = true,
): Promise<DatabaseUrls & { drop: () => Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const named = (url: string, database = name): string => url.replace(/[^/]+$/, database);
  const source = migrated ? template.url.split('/').at(-1)! : 'template1';
  const asSuperuser = async (statements: string[]): Promise<void> => {
    const sql = openDatabase(named(template.superuserUrl, 'postgres'), 1);
    try {
      for (const statement of statements) await sql.unsafe(statement);
    } finally {
      await sql.end({ timeout: 5 });
    }
  };
  // As db/roles/roles.sql has it; rights to tables are copied, those to a database are not.
  await asSuperuser([
    `create database ${name} template ${source} owner goniec_owner strategy file_copy`,
    `revoke connect, temporary on database ${name} from public`,
    `grant connect on database ${name} to ${Object.values(ROLES).join(', ')}`,
  ]);
  return {
    url: named(template.url),
    partUrls: {
      api: named(template.partUrls.api),
      worker: named(template.partUrls.worker),
      admin: named(template.partUrls.admin),
    },
    superuserUrl: named(template.superuserUrl),
    drop: () => asSuperuser([`drop database if exists ${name} with (force)`]),
  };
}
