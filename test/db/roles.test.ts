import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevPostgres, startPostgres } from '../../dev/postgres.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { type Part, ROLES } from '../../db/rights.ts';

const PARTS = Object.keys(ROLES) as Part[];

const named = (rights: string, tables: string) =>
  Object.fromEntries(tables.split(' ').map((table) => [table, rights]));
const READ = 'SELECT';
const APPEND = 'SELECT INSERT';
const KEEP = 'SELECT INSERT UPDATE';
const APPEND_AND_DELETE = 'SELECT INSERT DELETE';
const ALL = 'SELECT INSERT UPDATE DELETE';

// As decided, not as the code has it: what each part may do with the tables of which it may not read and write every row.
const BOOKS = { ...named(READ, 'schema_version'), ...named(APPEND, 'ledger_entries audit_log') };
const STAFFS = {
  ...named(
    READ,
    'accounts api_keys api_tokens senders sender_requests verified_numbers routes route_rules allowed_keywords invoices',
  ),
  ...named(APPEND, 'installation'),
};
const CONSOLE = named('', 'staff staff_passkeys staff_sessions answered_challenges approvals moved_by_staff');
const MAY: Record<Part, Record<string, string>> = {
  api: {
    ...{ ...BOOKS, ...STAFFS, ...CONSOLE },
    ...named(APPEND, 'api_keys api_tokens sender_requests'),
    ...named(APPEND_AND_DELETE, 'verified_numbers'),
    ...named(READ, 'message_parts message_moves concat_references reply_parts webhook_attempts'),
    ...named(READ, 'route_workers simulator_submits simulator_throttles simulator_reports simulator_emails'),
    ...named(
      READ,
      'statements statement_documents own_emails maintenance_positions regular_work erasures_postponed',
    ),
    ...named(READ, 'payment_reversals simulated_checkouts'),
    ...named('SELECT DELETE', 'kept_cards'),
    ...named(APPEND, 'payments simulated_reversals simulator_replies simulator_email_events'),
    ...named(APPEND, 'email_recipients email_contents email_attachments email_attachment_pieces'),
    ...named(APPEND, 'email_events provider_email_events unsubscribe_links'),
    ...named(APPEND, 'audit_addresses'),
    ...named(KEEP, 'messages emails verifications webhook_events findings'),
    ...named('INSERT UPDATE DELETE', 'sender_domains'),
    ...named('', 'bulks bulk_items'),
  },
  worker: {
    ...{ ...BOOKS, ...STAFFS, ...CONSOLE, ...named(APPEND_AND_DELETE, 'audit_addresses') },
    ...{ bulks: 'SELECT UPDATE DELETE', bulk_items: 'SELECT UPDATE' },
  },
  admin: {
    ...{ ...BOOKS, ...named(APPEND_AND_DELETE, 'audit_addresses') },
    ...{ bulks: KEEP, bulk_items: APPEND },
  },
};

// Of what staff keep, what the parts change: settings that an account makes itself, what its money moves, when a key was used.
const MAY_CHANGE: Record<'api' | 'worker', Record<string, string>> = {
  api: {
    accounts:
      'balance_grosze inbound_prefix legacy_webhook_secret legacy_webhook_url send_window sender_name test_credits ' +
      'tool_confirm_grosze tool_confirm_recipients updated_at webhook_secret webhook_secret_before webhook_secret_changed_at webhook_url',
    api_keys: 'last_used_at',
    api_tokens: 'last_used_at',
    payments: 'look_asked_at',
    simulated_checkouts: 'method reference state',
    simulated_reversals: 'stands',
  },
  worker: { accounts: 'balance_grosze test_credits webhook_secret_before' },
};

const dataDir = mkdtempSync(join(tmpdir(), 'goniec-roles-'));
let server: DevPostgres;

beforeAll(async () => {
  server = await startPostgres(dataDir);
  await migrate(server.url);
});
afterAll(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function as<T>(url: string, work: (sql: Database) => Promise<T>): Promise<T> {
  const sql = openDatabase(url, 1);
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** What becomes of one statement: its SQLSTATE, or that it was carried out. */
const attempt = (url: string, statement: string): Promise<string> =>
  as(url, (sql) =>
    sql.unsafe(statement).then(
      () => 'done',
      (error: unknown) => (error as { code: string }).code,
    ),
  );

const REFUSED = '42501';
const CHECK = '23514';

describe('the roles of the database', () => {
  it('are no superusers, make no roles and no databases, and pass for no others', async () => {
    const roles = await as(
      server.superuserUrl,
      (sql) => sql`
        select rolname as name, rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as more,
               array(select b.rolname::text from pg_auth_members m join pg_roles b on b.oid = m.roleid
                      where m.member = r.oid order by 1) as passes_for
          from pg_roles r where rolname like 'goniec%' and rolname <> 'goniec' order by 1`,
    );
    expect([...roles]).toEqual([
      { name: 'goniec_admin', more: false, passesFor: [] },
      { name: 'goniec_api', more: false, passesFor: [] },
      { name: 'goniec_owner', more: false, passesFor: ['goniec_admin', 'goniec_api', 'goniec_worker'] },
      { name: 'goniec_temporal', more: false, passesFor: [] },
      { name: 'goniec_worker', more: false, passesFor: [] },
    ]);
    for (const url of [server.url, ...PARTS.map((part) => server.partUrls[part])]) {
      const [me] = await as(
        url,
        (sql) => sql<{ super: boolean }[]>`
        select rolsuper as super from pg_roles where rolname = current_user`,
      );
      expect(me).toEqual({ super: false });
    }
  });

  it.each(PARTS)('%s changes no schema, reads no passwords and files, runs no programs', async (part) => {
    const url = server.partUrls[part];
    const statements = [
      'create table own (id int)',
      'create temporary table own (id int)',
      'create schema own',
      'create function own() returns int language sql as $$ select 1 $$',
      'alter table messages add column own int',
      'alter table messages disable trigger all',
      'drop table messages',
      'truncate messages',
      'create role own',
      'alter role current_user superuser',
      'set role goniec_owner',
      'create database own',
      'select * from pg_shadow',
      'select * from pg_authid',
      "copy (select 1) to program 'true'",
      "copy messages from program 'true'",
      "copy (select 1) to '/tmp/own'",
      "select pg_read_file('postgresql.conf')",
      "select pg_ls_dir('.')",
      "select lo_import('/etc/passwd')",
      'alter system set fsync = off',
      'set log_min_messages = debug1',
      'set session_replication_role = replica',
      'select pg_reload_conf()',
      'checkpoint',
    ];
    for (const statement of statements) expect(await attempt(url, statement), statement).toBe(REFUSED);
    // Such a statement says something only beside ones that are carried out.
    expect(await attempt(url, 'select count(*) from messages')).toBe('done');
  });

  it('may do with each table what is granted, and nothing besides', async () => {
    const rights = await as(
      server.superuserUrl,
      (sql) => sql<{ role: string; table: string; rights: string[] }[]>`
        select r.rolname as role, c.relname as table,
               array(select p from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p
                      where has_table_privilege(r.oid, c.oid, p)) as rights
          from pg_roles r cross join pg_class c
         where r.rolname = any(${Object.values(ROLES)}) and c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`,
    );
    const tables = new Set(rights.map(({ table }) => table));
    expect(rights).toHaveLength(tables.size * PARTS.length);
    for (const part of PARTS) {
      // A list with a table that is not there guards nothing.
      for (const table of Object.keys(MAY[part])) expect(tables).toContain(table);
      for (const { table, rights: found } of rights.filter(({ role }) => role === ROLES[part])) {
        expect(found.join(' '), `${part} ${table}`).toBe(MAY[part][table] ?? ALL);
      }
    }
  });

  it('may change single columns of what staff keep, and no others', async () => {
    const rights = await as(
      server.superuserUrl,
      (sql) => sql<{ role: string; table: string; columns: string }[]>`
        select r.rolname as role, c.relname as table, string_agg(a.attname::text, ' ' order by a.attname) as columns
          from pg_roles r cross join pg_class c join pg_attribute a on a.attrelid = c.oid
         where r.rolname in (${ROLES.api}, ${ROLES.worker}) and c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
           and a.attnum > 0 and not a.attisdropped
           and not has_table_privilege(r.oid, c.oid, 'UPDATE') and has_column_privilege(r.oid, c.oid, a.attname, 'UPDATE')
         group by 1, 2`,
    );
    for (const part of ['api', 'worker'] as const) {
      const found = rights.filter(({ role }) => role === ROLES[part]);
      expect(Object.fromEntries(found.map(({ table, columns }) => [table, columns])), part).toEqual(
        MAY_CHANGE[part],
      );
    }
  });

  it('give whoever gets into the API or a worker no key, no credit and no account back', async () => {
    const statements = [
      "update api_keys set hash = '\\x00'",
      "update api_keys set scopes = '{manage}'",
      'update api_keys set revoked_at = null',
      'update api_keys set tool_budget_grosze = null',
      "update api_tokens set hash = '\\x00'",
      'update api_tokens set revoked_at = null',
      'update accounts set credit_limit_grosze = 1000000',
      "update accounts set billing_mode = 'postpaid'",
      "update accounts set status = 'active'",
      "update accounts set mode = 'live'",
      'update accounts set price_per_part_grosze = 0',
      "update accounts set quotas = '{}'",
      'update accounts set contact_email = null',
    ];
    const { api, worker, admin } = server.partUrls;
    for (const statement of statements) {
      for (const url of [api, worker]) expect(await attempt(url, statement), statement).toBe(REFUSED);
      expect(await attempt(admin, statement), statement).toBe('done');
    }
    for (const url of [api, worker])
      expect(await attempt(url, 'select id from accounts for no key update')).toBe('done');
    expect(await attempt(api, 'update api_keys set last_used_at = now()')).toBe('done');
    expect(await attempt(worker, 'update api_keys set last_used_at = now()')).toBe(REFUSED);
  });

  it('let whoever gets into the API make no money', async () => {
    const { api, worker } = server.partUrls;
    const done = async (url: string, statement: string) =>
      expect(await attempt(url, statement), statement).toBe('done');
    const refused = async (statement: string, code = REFUSED) =>
      expect(await attempt(api, statement), statement).toBe(code);
    const entry = (kind: string, grosze: number, message: string | null = null) =>
      `insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
       values ('cl_api', '${kind}', ${grosze}, ${message === null ? 'null, null' : `'message', '${message}'`})`;
    await done(worker, "select open_test_account('cl_api', 'A', 'a@example.com')");
    await done(worker, entry('topup', 100));
    for (const id of ['msg_charged', 'msg_free'])
      await done(
        api,
        `insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
         values ('${id}', 'cl_api', 'req_1', 'queued', 'queued', '+48500100200', 'A', 1, 15, now(), 'r')`,
      );
    for (const kind of ['topup', 'adjustment', 'payment_refund', 'dispute', 'opening'])
      await refused(entry(kind, 1));
    await refused(entry('charge', 15, 'msg_free'), CHECK);
    await done(api, entry('charge', -15, 'msg_charged'));
    await refused(entry('refund', 15, 'msg_free'));
    await refused(entry('refund', 16, 'msg_charged'));
    await done(api, entry('refund', 15, 'msg_charged'));
    await done(api, entry('opening', 0));

    const payment = (id: string, columns = '', values = '', vat = 1_150) =>
      `insert into payments (id, account_id, net_grosze, vat_grosze, gross_grosze, buyer, processor ${columns})
       values ('${id}', 'cl_api', 5000, ${vat}, ${5_000 + vat}, '{}', 'stripe' ${values})`;
    await done(api, payment('pay_1'));
    await refused(payment('pay_2', ', automatic', ', true'));
    await refused(payment('pay_3', ', state, reference, paid_at', ", 'paid', 'stripe:pi_1', now()"));
    await refused(payment('pay_4', '', '', 0), CHECK);

    await done(
      api,
      `insert into automatic_top_ups (account_id, enabled, threshold_grosze, net_grosze, monthly_cap_grosze)
       values ('cl_api', true, 2000, 5000, 5000)`,
    );
    const card = "insert into kept_cards values ('cl_api', 'stripe', 'cus_1', 'pm_1', 'visa', '4242')";
    await refused(card);
    await done(worker, card);
    await refused("update kept_cards set customer = 'cus_2'");
    await done(api, 'delete from kept_cards');
  });

  it('lose with a migration a right to whole tables, or single columns, that is not theirs', async () => {
    await as(server.superuserUrl, async (sql) => {
      await sql`grant update on accounts, api_keys, api_tokens to goniec_api, goniec_worker`;
      await sql`grant update (hash) on api_keys to goniec_worker`;
    });
    expect(await attempt(server.partUrls.api, 'update api_keys set revoked_at = null')).toBe('done');
    await migrate(server.url);
    for (const url of [server.partUrls.api, server.partUrls.worker]) {
      expect(await attempt(url, 'update api_keys set revoked_at = null')).toBe(REFUSED);
      expect(await attempt(url, "update api_keys set hash = '\\x00'")).toBe(REFUSED);
      expect(await attempt(url, "update accounts set status = 'active'")).toBe(REFUSED);
      expect(await attempt(url, 'update accounts set webhook_secret_before = null')).toBe('done');
    }
  });

  it('hide from the API what e-mails are signed with, and nothing else of their domains', async () => {
    const { api, worker } = server.partUrls;
    expect(await attempt(api, 'select dkim_private_key from sender_domains')).toBe(REFUSED);
    expect(await attempt(api, 'select * from sender_domains')).toBe(REFUSED);
    expect(
      await attempt(api, 'select id, name, dkim_public_key, confirmed_at from sender_domains for update'),
    ).toBe('done');
    expect(await attempt(worker, 'select * from sender_domains')).toBe('done');
    await as(server.superuserUrl, async (sql) => {
      await sql`grant select on sender_domains to goniec_api`;
      await sql`grant select (dkim_private_key) on sender_domains to goniec_api`;
    });
    await migrate(server.url);
    expect(await attempt(api, 'select dkim_private_key from sender_domains')).toBe(REFUSED);
    expect(await attempt(api, 'select name from sender_domains')).toBe('done');
  });

  it('do not get into the databases of others', async () => {
    await as(server.superuserUrl, async (sql) => {
      await sql`create database others`;
      await sql`revoke connect on database others from public`;
    });
    for (const part of PARTS) {
      const url = server.partUrls[part].replace(/[^/]+$/, 'others');
      await expect(as(url, (sql) => sql`select 1`)).rejects.toMatchObject({ code: REFUSED });
    }
  });
});

describe("the server's log", () => {
  const PERSONAL = ['+48500100299', 'Jan Kowalski', 'Twoja wizyta'];

  it('quotes nothing of customers, whatever fails', async () => {
    const statements = [
      `select '${PERSONAL[0]}'::int`,
      `select '{"text": ${PERSONAL[1]}}'::jsonb`,
      `select '${PERSONAL[2]}'::timestamptz`,
      `select * from accounts where "${PERSONAL[1]}" = 1`,
      `insert into accounts (id, name, mode) values ('cl_${PERSONAL[0]}', '${PERSONAL[1]}', 'none')`,
      `insert into accounts (id, name) values ('cl_1', '${PERSONAL[1]}'), ('cl_1', '${PERSONAL[1]}')`,
      `do $$ begin raise exception 'no %', '${PERSONAL[0]}'; end $$`,
      `do $$ begin raise warning 'no %', '${PERSONAL[0]}'; end $$`,
      `select nothing('${PERSONAL[2]}')`,
      `syntax '${PERSONAL[2]}'`,
    ];
    for (const url of [server.url, ...PARTS.map((part) => server.partUrls[part])]) {
      for (const statement of statements) await attempt(url, statement);
      await as(url, async (sql) => {
        await sql`select ${PERSONAL[1]!}::text::int`.catch(() => undefined);
        await sql`select ${'x'.repeat(300) + PERSONAL[2]!}::text::uuid`.catch(() => undefined);
        await sql`set statement_timeout = 20`;
        await sql`select pg_sleep(1), ${PERSONAL[0]!}::text`.catch(() => undefined);
      });
    }
    // Whoever asks as the superuser is told too that statements and details stay out.
    await attempt(
      server.superuserUrl,
      `insert into accounts (id, name) values ('cl_2', '${PERSONAL[1]}'), ('cl_2', '')`,
    );
    const log = readFileSync(join(dataDir, 'logs', 'postgres.log'), 'utf8');
    expect(log).toContain('duplicate key value');
    for (const text of PERSONAL) expect(log).not.toContain(text);
    expect(log).not.toMatch(/DETAIL|STATEMENT|CONTEXT|QUERY/);
  });
});
