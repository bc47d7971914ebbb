import { type Database, type Sql, transaction } from './connection.ts';

const RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
type Right = (typeof RIGHTS)[number];

/** Components of the service with their own database role. */
export type Part = 'api' | 'worker' | 'admin';

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

// Columns hidden from a role, which may read only the others of the table. The API reads which domains are verified, but only writes their
// private keys.
const HIDDEN: Partial<Record<Part, Record<string, readonly string[]>>> = {
  api: { sender_domains: ['dkim_private_key'] },
};

// Changed by the ledger trigger, with the rights of the role that inserts entries.
const PURSE = ['balance_grosze', 'test_credits'];

// Columns that a role may update in tables it may not update otherwise. A compromised component changes no scopes, credit or status by it:
// only staff do. Locking a row requires the right to update one column.
const CHANGEABLE: Partial<Record<Part, Record<string, readonly string[]>>> = {
  api: {
    accounts: [
      ...PURSE,
      'sender_name',
      'send_window',
      'inbound_prefix',
      'tool_confirm_recipients',
      'tool_confirm_grosze',
      'webhook_url',
      'webhook_secret',
      'webhook_secret_before',
      'webhook_secret_changed_at',
      'legacy_webhook_url',
      'legacy_webhook_secret',
      'updated_at',
    ],
    api_keys: ['last_used_at'],
    api_tokens: ['last_used_at'],
    payments: ['look_asked_at'],
    // What its page does there.
    simulated_checkouts: ['state', 'reference', 'method'],
    simulated_reversals: ['stands'],
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
  ...all('senders sender_requests verified_numbers routes route_rules allowed_keywords invoices', READ_ONLY),
  ...all('installation', APPEND_ONLY),
};

// Who staff are and what they approve: neither the API, which anybody reaches, nor a worker can make itself one of them.
const CONSOLE = all(
  'staff staff_passkeys staff_sessions answered_challenges approvals moved_by_staff',
  RIGHTS,
);

// Row rights that a role does not have, by table; it has all others (select, insert, update, delete). No role may change the tables
// themselves.
const DENIED: Record<Part, Record<string, readonly Right[]>> = {
  // What only workers write: what became of a message, where it was submitted, and what was notified.
  api: {
    ...NOBODYS,
    ...STAFF,
    ...CONSOLE,
    // The panel creates keys and asks for senders; it opens test accounts and ends keys by functions.
    ...all('api_keys api_tokens sender_requests', APPEND_ONLY),
    // There, people verify and remove their own numbers.
    ...all('verified_numbers', ['UPDATE']),
    ...all('message_parts message_moves concat_references reply_parts webhook_attempts', READ_ONLY),
    ...all(
      'route_workers simulator_submits simulator_throttles simulator_reports simulator_emails',
      READ_ONLY,
    ),
    // What people do with phones and mailboxes of the simulated network.
    ...all('simulator_replies simulator_email_events', APPEND_ONLY),
    // The API writes e-mails, their charges, provider callbacks and unsubscribes, but never their outcome.
    ...all('email_recipients email_contents email_attachments email_attachment_pieces', APPEND_ONLY),
    ...all('email_events provider_email_events unsubscribe_links', APPEND_ONLY),
    // It starts payments; workers find at the processor what becomes of them.
    ...all('payments', APPEND_ONLY),
    ...all('payment_reversals simulated_checkouts', READ_ONLY),
    ...all('simulated_reversals', APPEND_ONLY),
    ...all('kept_cards', ['INSERT', 'UPDATE']),
    ...all(
      'statements statement_documents own_emails maintenance_positions regular_work erasures_postponed',
      READ_ONLY,
    ),
    // Workers delete expired addresses.
    ...all('audit_addresses', APPEND_ONLY),
    // The API too finds that a sender domain is lost or back.
    ...all('messages emails verifications webhook_events findings', ['DELETE']),
    ...all('sender_domains', ['SELECT']),
    // Only staff act on many.
    ...all('bulks bulk_items', RIGHTS),
  },
  worker: {
    ...NOBODYS,
    ...STAFF,
    ...CONSOLE,
    ...all('bulks', ['INSERT']),
    ...all('bulk_items', ['INSERT', 'DELETE']),
  },
  admin: { ...NOBODYS, ...all('bulks', ['DELETE']), ...all('bulk_items', APPEND_ONLY) },
};

interface Found {
  role: string;
  table: string;
  right: Right;
  present: boolean;
}

/**
 * Grants the roles their table rights and revokes all others; unlisted tables get all row rights. Does nothing without the roles, when all
 * components share one.
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
    await grantTerms(tx);
    // After the table rights: granting or revoking those applies to all columns.
    for (const { role, table, column, right, present } of await wrongColumns(tx)) {
      const [verb, to] = present ? ['revoke', 'from'] : ['grant', 'to'];
      await tx.unsafe(`${verb} ${right} ("${column}") on table public."${table}" ${to} ${role}`);
    }
  });
}

/** What fixes prices, to those who may: functions are everybody's unless they are revoked. */
async function grantTerms(tx: Sql): Promise<void> {
  const roles = await tx<{ role: string }[]>`
    select rolname as role from pg_roles
     where rolname = any(${[ROLES.worker, ROLES.admin]}) and to_regproc('public.set_terms') is not null`;
  for (const { role } of roles) await tx.unsafe(`grant execute on function set_terms to ${role}`);
}

interface FoundColumn {
  role: string;
  table: string;
  column: string;
  right: 'SELECT' | 'UPDATE';
  present: boolean;
}

async function wrongColumns(tx: Sql): Promise<FoundColumn[]> {
  const hidden = await columnsOf(tx, 'SELECT', HIDDEN, (named) => !named);
  const changeable = await columnsOf(tx, 'UPDATE', CHANGEABLE, (named) => named);
  return [...hidden, ...changeable];
}

/** @param should whether the role should have the right to a column, given whether the list names it */
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
  return DENIED[part][table]?.includes(right) !== true;
}
