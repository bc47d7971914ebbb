import type { Database } from './connection.ts';
import { transaction } from './transaction.ts';

const RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
type Right = (typeof RIGHTS)[number];

/** The parts of the service that have a role of their own in the database. */
export type Part = 'api' | 'worker' | 'admin';

/** The role of each part, made by `db/roles/roles.sql`. */
export const ROLES: Record<Part, string> = {
  api: 'goniec_api',
  worker: 'goniec_worker',
  admin: 'goniec_admin',
};

const READ_ONLY: readonly Right[] = ['INSERT', 'UPDATE', 'DELETE'];
const APPEND_ONLY: readonly Right[] = ['UPDATE', 'DELETE'];
// A row of it is made and removed by staff alone.
const CHANGE_ONLY: readonly Right[] = ['INSERT', 'DELETE'];

function all(tables: string, without: readonly Right[]): Record<string, readonly Right[]> {
  return Object.fromEntries(
    tables
      .trim()
      .split(/\s+/)
      .map((table) => [table, without]),
  );
}

const NOBODYS = {
  ...all('schema_version', READ_ONLY),
  ...all('ledger_entries audit_log', APPEND_ONLY),
  ...all('audit_addresses', ['UPDATE']),
};
const STAFF = {
  ...all('accounts api_keys api_tokens', CHANGE_ONLY),
  ...all('senders verified_numbers routes route_rules allowed_keywords', READ_ONLY),
  ...all('installation', APPEND_ONLY),
};

/**
 * What each role may not do with a table; all the rest it may: read and write rows. None may do anything else, such as
 * changing a table itself.
 */
export const WITHOUT: Record<Part, Record<string, readonly Right[]>> = {
  // What only workers write: all that says what became of a message, whom it was submitted to, who was notified.
  api: {
    ...NOBODYS,
    ...STAFF,
    ...all('message_parts message_moves concat_references reply_parts webhook_attempts', READ_ONLY),
    ...all(
      'route_workers simulator_submits simulator_throttles simulator_reports simulator_replies',
      READ_ONLY,
    ),
    ...all('simulator_emails simulator_email_events sender_domains sender_domain_routes', READ_ONLY),
    // It writes drafts and their charge, what providers call it with, and who unsubscribes; never what became of it.
    ...all('email_recipients email_contents email_attachments email_attachment_pieces', APPEND_ONLY),
    ...all('email_events provider_email_events unsubscribe_links', APPEND_ONLY),
    ...all('statements findings maintenance_positions ledger_checks erasures_postponed', READ_ONLY),
    // Workers delete addresses when their time is over.
    ...all('audit_addresses', APPEND_ONLY),
    ...all('messages emails webhook_events', ['DELETE']),
  },
  worker: { ...NOBODYS, ...STAFF },
  admin: NOBODYS,
};

interface Found {
  role: string;
  table: string;
  right: Right;
  present: boolean;
}

/**
 * Gives the roles their rights to the tables of the schema, and takes away what is not theirs; nothing where there are no such
 * roles: then all parts connect as whoever the installation says. Tables that no list names are open to all three for rows.
 */
export async function grantRights(sql: Database): Promise<void> {
  const found = await sql<Found[]>`
    select r.rolname as role, c.relname as table, p.right, has_table_privilege(r.oid, c.oid, p.right) as present
      from pg_roles r cross join pg_class c cross join unnest(${[...RIGHTS]}::text[]) p("right")
     where r.rolname = any(${Object.values(ROLES)})
       and c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`;
  const changes = found.filter(({ role, table, right, present }) => mayBe(role, table, right) !== present);
  if (changes.length === 0) return;
  await transaction(sql, async (tx) => {
    for (const { role, table, right, present } of changes) {
      const [verb, to] = present ? ['revoke', 'from'] : ['grant', 'to'];
      await tx.unsafe(`${verb} ${right} on table public."${table}" ${to} ${role}`);
    }
  });
}

function mayBe(role: string, table: string, right: Right): boolean {
  const part = (Object.keys(ROLES) as Part[]).find((name) => ROLES[name] === role)!;
  return WITHOUT[part][table]?.includes(right) !== true;
}
