import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { readSource } from '../../bin/admin/tools.ts';
import { type Answer, commandLine, noTools, ownDatabase } from './support.ts';

/** The password of every route that tests add: nowhere may it be seen again. */
export const PASSWORD = 'tajne';

/** The command line with a database and a secrets key of its own, and what tests about routes share. */
export function routeLine() {
  const database = ownDatabase();
  const secretsKey = randomBytes(32);
  const line = commandLine(database.url, () => ({
    ...noTools(),
    secretsKey: () => Promise.resolve(secretsKey),
    read: readSource,
  }));
  const folder = mkdtempSync(join(tmpdir(), 'goniec-routes-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const sql = () => database.sql();
  const file = (content: string | Buffer): string => {
    const path = join(folder, randomBytes(6).toString('hex'));
    writeFileSync(path, content);
    return path;
  };
  return {
    ...line,
    url: database.url,
    sql,
    secretsKey,
    /** A file with this content. */
    file,
    /** What adds an SMPP route, but for its name. */
    smppLine: (...more: string[]): string[] => [
      ...['routes', 'add', '--kind', 'smpp', '--host', 'h', '--system-id', 's', '--credentials', file('p')],
      ...more,
    ],
    /** Adds an SMPP route. */
    smpp: (name: string, ...more: string[]): Promise<Answer> =>
      line.ok(
        ...['routes', 'add', '--name', name, '--kind', 'smpp', '--host', 'smsc.example.pl'],
        ...['--system-id', 'goniec', '--credentials', file(`${PASSWORD}\n`), ...more],
      ),
    lastAudit: database.lastAudit,
    account: database.account,
    /** Everything the audit log and the tables of routes hold, as text. */
    everythingStored: async (): Promise<string> => {
      const rows = await sql()`
        select to_jsonb(a)::text as line from audit_log a
        union all select to_jsonb(r)::text || encode(r.credentials, 'escape') from routes r where credentials is not null
        union all select to_jsonb(u)::text from route_rules u`;
      return rows.map((row) => String(row['line'])).join('\n');
    },
    /** What a running worker would write about a route now. */
    seen: async (
      route: string,
      worker: string,
      values: Partial<Record<string, string | number | Date>> = {},
    ): Promise<void> => {
      await sql()`insert into route_states (route, working_at) values (${route}, now())
                  on conflict (route) do update set working_at = now()`;
      const row = {
        ...{
          route,
          worker,
          seen_at: new Date(),
          sessions: 1,
          sessions_wanted: 1,
          window_size: 10,
          in_flight: 0,
        },
        ...{ submitted: 0, throttled: 0, refused: 0, unanswered: 0, held: 0, failures: 0 },
        ...values,
      };
      await sql()`delete from route_workers where route = ${route} and worker = ${worker}`;
      await sql()`insert into route_workers ${sql()(row)}`;
    },
  };
}
