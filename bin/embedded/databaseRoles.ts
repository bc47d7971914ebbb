import { createHmac } from 'node:crypto';
import { openDatabase, type Database } from '../../db/connection.ts';
import { type Part, ROLES } from '../../db/rights.ts';
import { createDatabase, createRoles, setPasswords } from '../../db/setup.ts';
import { errorText, StartProblem } from './problem.ts';

const DATABASE = 'goniec';
const OWNER = 'goniec_owner';
const TEMPORAL = 'goniec_temporal';

/** How the superuser that a cluster was made with gets in. */
export type Superuser = { user: string; password: string; port: number };

/**
 * Creates the service's database and its roles where they are missing. Their passwords come of the superuser's own: whoever
 * knows that needs no other.
 * @returns the addresses by which each gets in
 * @throws StartProblem where the server does not let us in
 */
export async function prepareDatabase(superuser: Superuser): Promise<{
  url: string;
  partUrls: Record<Part, string>;
  superuserUrl: string;
  temporalRole: { user: string; password: string };
}> {
  const { user, password, port } = superuser;
  const passwordOf = (role: string): string =>
    createHmac('sha256', password).update(`goniec database role ${role}`).digest('base64url');
  const urlOf = (name: string, secret: string, database = DATABASE): string =>
    `postgres://${name}:${secret}@127.0.0.1:${port}/${database}`;
  const roles = [OWNER, TEMPORAL, ...Object.values(ROLES)];
  await within(urlOf(user, password, 'postgres'), (sql) => createDatabase(sql, DATABASE));
  await within(urlOf(user, password), async (sql) => {
    await createRoles(sql);
    await setPasswords(sql, Object.fromEntries(roles.map((role) => [role, passwordOf(role)])));
  });
  const urlAs = (role: string): string => urlOf(role, passwordOf(role));
  return {
    url: urlAs(OWNER),
    partUrls: { api: urlAs(ROLES.api), worker: urlAs(ROLES.worker), admin: urlAs(ROLES.admin) },
    superuserUrl: urlOf(user, password),
    temporalRole: { user: TEMPORAL, password: passwordOf(TEMPORAL) },
  };
}

async function within(url: string, work: (sql: Database) => Promise<void>): Promise<void> {
  const sql = openDatabase(url, 1);
  try {
    await work(sql);
  } catch (error) {
    throw new StartProblem(`The embedded PostgreSQL does not let this process in: ${errorText(error)}`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
