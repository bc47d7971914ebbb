import type { Fragment, Sql } from '../connection.ts';

type Source = (sql: Sql) => [table: Fragment, columns: Fragment];

/** What can be found. As `t`, a table; of it id, account, time, what to say, and whose number or address it is. */
export const KINDS = {
  account: (sql) => [
    sql`accounts`,
    sql`t.id, t.id, t.created_at, concat_ws(', ', t.name, t.status, t.mode), null`,
  ],
  message: (sql) => [
    sql`messages`,
    sql`t.id, t.account_id, t.created_at, concat_ws(', ', t.channel, t.status, t.error_code), t.recipient`,
  ],
  email: (sql) => [
    sql`emails`,
    sql`t.id, t.account_id, t.created_at, concat_ws(', ', t.status, t.error_code), null`,
  ],
  event: (sql) => [
    sql`webhook_events`,
    sql`t.id, t.account_id, t.created_at, concat_ws(', ', t.type, t.state, t.subject_id), null`,
  ],
  reply: (sql) => [sql`inbound_messages`, sql`t.id, t.account_id, t.received_at, t.state, t.sender`],
  report: (sql) => [
    sql`delivery_reports`,
    sql`t.id::text, null, t.received_at, concat_ws(', ', 'unmatched', t.route, t.state), t.phone`,
  ],
  lookup: (sql) => [
    sql`number_lookups`,
    sql`t.id, t.account_id, t.created_at, concat_ws(', ', t.state, t.status), t.msisdn`,
  ],
  // Of an account, or of the installation for an account.
  verification: (sql) => [
    sql`(select v.*, coalesce(v.for_account, v.account_id) as of_account from verifications v)`,
    sql`t.id, t.of_account, t.created_at, case when t.approved_at is null then 'not approved' else 'approved' end, t.msisdn`,
  ],
  contact: (sql) => [sql`contacts`, sql`t.id, t.account_id, t.created_at, null, t.msisdn`],
  group: (sql) => [sql`contact_groups`, sql`t.id, t.account_id, t.created_at, t.name, null`],
  import: (sql) => [sql`contact_imports`, sql`t.id, t.account_id, t.created_at, t.name, null`],
  template: (sql) => [sql`templates`, sql`t.id, t.account_id, t.created_at, t.name, null`],
  blacklist: (sql) => [sql`blacklist`, sql`null, t.account_id, t.created_at, t.reason, t.msisdn`],
  suppression: (sql) => [sql`suppressions`, sql`null, t.account_id, t.created_at, t.reason, t.address`],
  'verified number': (sql) => [sql`verified_numbers`, sql`null, t.account_id, t.verified_at, null, t.msisdn`],
  link: (sql) => [sql`tracked_links`, sql`t.token, t.account_id, t.created_at, null, t.recipient`],
  'opt-out link': (sql) => [sql`opt_out_links`, sql`t.token, t.account_id, t.created_at, t.sender, t.msisdn`],
  person: (sql) => [
    sql`(select p.*, m.account_id, m.role from people p left join memberships m on m.person_id = p.id)`,
    sql`t.id, t.account_id, t.created_at, t.role, t.address`,
  ],
  session: (sql) => [
    sql`(select s.*, p.address as person from sessions s join people p on p.id = s.person_id)`,
    sql`t.id, t.account_id, t.created_at, t.device, t.person`,
  ],
  'sign-in': (sql) => [
    sql`sign_ins`,
    sql`t.id, null, t.created_at, case when t.used_at is null then 'not used' else 'used' end, t.address`,
  ],
  invitation: (sql) => [sql`invitations`, sql`t.id, t.account_id, t.expires_at, t.role, t.address`],
  key: (sql) => [
    sql`(select id, account_id, created_at, hint, hash, label, revoked_at from api_keys
         union all select id, account_id, created_at, hint, hash, label, revoked_at from api_tokens)`,
    sql`t.id, t.account_id, t.created_at,
        concat_ws(', ', t.hint, t.label, case when t.revoked_at is not null then 'revoked' end), null`,
  ],
  sender: (sql) => [
    sql`senders`,
    sql`t.name, t.account_id, t.created_at, case when t.active then 'active' else 'inactive' end, null`,
  ],
  'sender request': (sql) => [
    sql`sender_requests`,
    sql`t.id, t.account_id, t.created_at, concat_ws(', ', t.name, t.state), null`,
  ],
  keyword: (sql) => [
    sql`(select inbound_prefix as word, id as account_id, updated_at as at, 'in use' as state from accounts
         union all select word, account_id, allowed_at, 'allowed' from allowed_keywords
         union all select word, account_id, given_up_at, 'rests' from resting_keywords)`,
    sql`t.word, t.account_id, t.at, t.state, null`,
  ],
  domain: (sql) => [sql`sender_domains`, sql`t.id, t.account_id, t.created_at, t.name, null`],
  route: (sql) => [sql`routes`, sql`t.name, null, t.created_at, concat_ws(', ', t.kind, t.state), null`],
  payment: (sql) => [
    sql`payments`,
    sql`t.id, t.account_id, t.created_at, concat_ws(', ', t.processor, t.state, t.gross_grosze || ' gr'), null`,
  ],
  'ledger entry': (sql) => [
    sql`ledger_entries`,
    sql`t.id::text, t.account_id, t.created_at, concat_ws(', ', t.kind, t.amount_grosze || ' gr', t.subject_id), null`,
  ],
  statement: (sql) => [
    sql`statements`,
    sql`t.id, t.account_id, t.issued_at, concat_ws(', ', to_char(t.month, 'YYYY-MM'), t.amount_grosze || ' gr'), null`,
  ],
  staff: (sql) => [sql`staff`, sql`t.id, null, t.created_at, concat_ws(', ', t.name, t.role), t.address`],
  approval: (sql) => [
    sql`approvals`,
    sql`t.id, null, t.created_at, concat_ws(', ', t.command, t.asked_by), null`,
  ],
  invoice: (sql) => [sql`invoices`, sql`t.number, t.account_id, t.exported_at, t.kind, null`],
} satisfies Record<string, Source>;

export type HitKind = keyof typeof KINDS;
