import { type Database, type Sql, transaction } from './connection.ts';

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

function all(tables: string, without: readonly Right[]): Record<string, readonly Right[]> {
  return Object.fromEntries(
    tables
      .trim()
      .split(/\s+/)
      .map((table) => [table, without]),
  );
}

/**
 * Of tables that a role may not read, the columns that it may: all but these. The API knows which domains are verified; what their
 * e-mails are signed with it only writes.
 */
const HIDDEN: Partial<Record<Part, Record<string, readonly string[]>>> = {
  api: { sender_domains: ['dkim_private_key'] },
};

// What entries of the ledger move, by a trigger that has the rights of whoever writes them.
const PURSE = ['balance_grosze', 'test_credits'];

/**
 * Of tables that a role may not change, the columns that it may. Whoever takes over a part gets no keys, scopes, credit or status by it:
 * those only staff write. To lock a row takes one column.
 */
const CHANGEABLE: Partial<Record<Part, Record<string, readonly string[]>>> = {
  api: {
    accounts: [
      ...PURSE,
      ...['sender_name', 'send_window', 'inbound_prefix', 'tool_confirm_recipients', 'tool_confirm_grosze'],
      ...[
        'webhook_url',
        'webhook_secret',
        'webhook_secret_before',
        'webhook_secret_changed_at',
        'updated_at',
      ],
    ],
    api_keys: ['last_used_at'],
    api_tokens: ['last_used_at'],
  },
  worker: { accounts: [...PURSE, 'webhook_secret_before'], api_keys: [], api_tokens: [] },
};

const NOBODYS = {
  ...all('schema_version', READ_ONLY),
  ...all('ledger_entries audit_log', APPEND_ONLY),
  ...all('audit_addresses', ['UPDATE']),
};
const STAFF = {
  ...all('accounts api_keys api_tokens', READ_ONLY),
  ...all('senders verified_numbers routes route_rules allowed_keywords', READ_ONLY),
  ...all('installation', APPEND_ONLY),
};

/**
 * What each role may not do with a table; all the rest it may: read and write rows. None may do anything else, such as
 * changing a table itself.
 */
const WITHOUT: Record<Part, Record<string, readonly Right[]>> = {
  // What only workers write: all that says what became of a message, whom it was submitted to, who was notified.
  api: {
    ...NOBODYS,
    ...STAFF,
    ...all('message_parts message_moves concat_references reply_parts webhook_attempts', READ_ONLY),
    ...all(
      'route_workers simulator_submits simulator_throttles simulator_reports simulator_replies',
      READ_ONLY,
    ),
    ...all('simulator_emails simulator_email_events', READ_ONLY),
    // It writes e-mails and their charge, what providers call it with, and who unsubscribes; never what became of it.
    ...all('email_recipients email_contents email_attachments email_attachment_pieces', APPEND_ONLY),
    ...all('email_events provider_email_events unsubscribe_links', APPEND_ONLY),
    ...all('statements own_emails maintenance_positions regular_work erasures_postponed', READ_ONLY),
    // Workers delete addresses when their time is over.
    ...all('audit_addresses', APPEND_ONLY),
    // A sender domain that is lost, or back, is a finding whoever looked.
    ...all('messages emails webhook_events findings', ['DELETE']),
    ...all('sender_domains', ['SELECT']),
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
  await transaction(sql, async (tx) => {
    for (const { role, table, right, present } of changes) {
      const [verb, to] = present ? ['revoke', 'from'] : ['grant', 'to'];
      await tx.unsafe(`${verb} ${right} on table public."${table}" ${to} ${role}`);
    }
    // After that: a right to a table is one to all its columns, and taken away it is taken from each.
    for (const { role, table, column, right, present } of await wrongColumns(tx)) {
      const [verb, to] = present ? ['revoke', 'from'] : ['grant', 'to'];
      await tx.unsafe(`${verb} ${right} ("${column}") on table public."${table}" ${to} ${role}`);
    }
  });
}

interface FoundColumn {
  role: string;
  table: string;
  column: string;
  right: 'SELECT' | 'UPDATE';
  present: boolean;
}

/** Columns of tables that are read or changed in part which a role may and should not, or should and may not. */
async function wrongColumns(tx: Sql): Promise<FoundColumn[]> {
  const hidden = await columnsOf(tx, 'SELECT', HIDDEN, (named) => !named);
  const changeable = await columnsOf(tx, 'UPDATE', CHANGEABLE, (named) => named);
  return [...hidden, ...changeable];
}

/** @param should whether a role should have the right to a column, by whether the list names it */
async function columnsOf(
  tx: Sql,
  right: FoundColumn['right'],
  lists: Partial<Record<Part, Record<string, readonly string[]>>>,
  should: (named: boolean) => boolean,
): Promise<FoundColumn[]> {
  const wrong: FoundColumn[] = [];
  for (const [part, tables] of Object.entries(lists)) {
    for (const [table, names] of Object.entries(tables)) {
      const columns = await tx<FoundColumn[]>`
        select r.rolname as role, c.relname as table, a.attname as column, ${right}::text as "right",
               has_column_privilege(r.oid, c.oid, a.attname, ${right}) as present
          from pg_roles r cross join pg_class c join pg_attribute a on a.attrelid = c.oid
         where r.rolname = ${ROLES[part as Part]} and c.relnamespace = 'public'::regnamespace and c.relname = ${table}
           and a.attnum > 0 and not a.attisdropped`;
      wrong.push(...columns.filter(({ column, present }) => should(names.includes(column)) !== present));
    }
  }
  return wrong;
}

function mayBe(role: string, table: string, right: Right): boolean {
  const part = (Object.keys(ROLES) as Part[]).find((name) => ROLES[name] === role)!;
  return WITHOUT[part][table]?.includes(right) !== true;
}
