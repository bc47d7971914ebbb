import { ID_PREFIXES, type IdPrefix, isId } from '../../domain/ids.ts';
import type { ProcessorName } from '../../domain/payments.ts';
import type { Sought } from '../../domain/search.ts';
import type { Fragment, Sql } from '../connection.ts';
import { hashSecret } from '../ids.ts';
import type { HitKind } from './kinds.ts';

/** Where to look: at things of a kind, by something that is theirs. */
export interface Place {
  kind: HitKind;
  by: string;
  /** On `t`, see KINDS. */
  condition: (sql: Sql) => Fragment;
  /** Their index begins with the account: of each, the greatest by this column are read. A probe each costs less than one more index. */
  ofEachAccount?: 'id' | 'expires_at' | null;
}

export const HITS_MAX = 20;
/** One more, to know that there are more. */
export const READ_MAX = HITS_MAX + 1;

const BY_ID: Record<IdPrefix, HitKind> = {
  ...{ cl: 'account', key: 'key', tok: 'key', msg: 'message', req: 'message', evt: 'event', in: 'reply' },
  ...{
    tpl: 'template',
    ct: 'contact',
    gr: 'group',
    st: 'statement',
    hlr: 'lookup',
    em: 'email',
    dom: 'domain',
  },
  ...{ imp: 'import', ver: 'verification', per: 'person', sin: 'sign-in', ses: 'session', inv: 'invitation' },
  ...{ snd: 'sender request', pay: 'payment', stf: 'staff', apr: 'approval' },
};
const PROCESSORS: Record<ProcessorName, true> = { simulated: true, stripe: true };

/** All places where a text can be that staff were given. */
export function placesOf({ ids, msisdn, address, text, providerIds, token }: Sought): Place[] {
  return [
    ...ID_PREFIXES.flatMap((prefix) =>
      placesById(
        prefix,
        ids.filter((id) => isId(prefix, id)),
      ),
    ),
    ...(msisdn === null ? [] : placesByNumber(msisdn)),
    ...(address === null ? [] : placesByAddress(address.toLowerCase())),
    ...(text === null ? [] : [...placesByText(text), ...placesByProviderId(providerIds)]),
    ...(token === null ? [] : placesByToken(token)),
  ];
}

function placesById(prefix: IdPrefix, ids: string[]): Place[] {
  if (ids.length === 0) return [];
  const requested = { by: 'request', condition: (sql: Sql) => sql`t.request_id = any(${ids})` };
  if (prefix === 'req')
    return [
      { kind: 'message', ...requested },
      { kind: 'email', ...requested },
    ];
  const place: Place = { kind: BY_ID[prefix], by: 'id', condition: (sql) => sql`t.id = any(${ids})` };
  return [prefix === 'ct' || prefix === 'gr' ? { ...place, ofEachAccount: null } : place];
}

function placesByNumber(msisdn: string): Place[] {
  const own = (sql: Sql) => sql`t.msisdn = ${msisdn}`;
  const sent = (sql: Sql) => sql`t.sender = ${msisdn}`;
  return [
    {
      kind: 'message',
      by: 'recipient',
      condition: (sql) => sql`t.recipient = ${msisdn}`,
      ofEachAccount: 'id',
    },
    { kind: 'reply', by: 'sender', condition: sent, ofEachAccount: 'id' },
    {
      kind: 'reply',
      by: 'sender, of no account',
      condition: (sql) => sql`t.account_id is null and ${sent(sql)}`,
    },
    { kind: 'contact', by: 'number', condition: own, ofEachAccount: null },
    { kind: 'blacklist', by: 'number', condition: own, ofEachAccount: null },
    { kind: 'lookup', by: 'number', condition: own },
    { kind: 'verification', by: 'number', condition: own, ofEachAccount: 'expires_at' },
    { kind: 'verified number', by: 'number', condition: own },
    { kind: 'account', by: 'inbound number', condition: (sql) => sql`t.inbound_number = ${msisdn}` },
    { kind: 'sender', by: 'number', condition: (sql) => sql`t.name = ${msisdn.slice(1)}` },
  ];
}

function placesByAddress(address: string): Place[] {
  const own = (sql: Sql) => sql`t.address = ${address}`;
  return [
    {
      kind: 'email',
      by: 'recipient',
      condition: (sql) => sql`
        t.id = any(array(select email_id from email_recipients r where lower(r.address) = ${address} and r.account_id = a.id
                          order by email_id desc limit ${READ_MAX}))`,
      ofEachAccount: 'id',
    },
    { kind: 'person', by: 'address', condition: own },
    { kind: 'staff', by: 'address', condition: own },
    { kind: 'sign-in', by: 'address', condition: own },
    { kind: 'invitation', by: 'address', condition: own },
    { kind: 'suppression', by: 'address', condition: own, ofEachAccount: null },
    { kind: 'account', by: 'contact address', condition: (sql) => sql`lower(t.contact_email) = ${address}` },
    { kind: 'contact', by: 'address', condition: (sql) => sql`lower(t.email) = ${address}` },
  ];
}

function placesByText(text: string): Place[] {
  const references = [text, ...Object.keys(PROCESSORS).map((processor) => `${processor}:${text}`)];
  const nip = text.replace(/[\s-]/g, '').replace(/^PL/i, '');
  const isName = (sql: Sql) => sql`lower(t.name) = lower(${text})`;
  return [
    {
      kind: 'account',
      by: 'name',
      condition: (sql) => sql`
        (search_form(t.name) like fragment_pattern(${text})
          or t.id in (select account_id from company_profiles
                       where nip = ${nip} or search_form(name) like fragment_pattern(${text})))`,
    },
    { kind: 'sender', by: 'name', condition: isName },
    { kind: 'sender request', by: 'name', condition: isName },
    { kind: 'keyword', by: 'word', condition: (sql) => sql`t.word = upper(${text})` },
    { kind: 'domain', by: 'name', condition: isName },
    { kind: 'route', by: 'name', condition: isName },
    { kind: 'message', by: 'reference', condition: (sql) => sql`t.reference = ${text}`, ofEachAccount: 'id' },
    { kind: 'message', by: 'idx', condition: (sql) => sql`t.idx = ${text}` },
    { kind: 'email', by: 'idx', condition: (sql) => sql`t.idx = ${text}`, ofEachAccount: 'id' },
    { kind: 'key', by: 'key', condition: (sql) => sql`(t.hash = ${hashSecret(text)} or t.hint = ${text})` },
    {
      kind: 'payment',
      by: "processor's id",
      condition: (sql) => sql`
        t.id = any(array(select id from payments where session = ${text}
                         union all select id from payments where reference = any(${references})
                         union all select payment_id from payment_reversals where id = ${text}))`,
    },
    {
      kind: 'ledger entry',
      by: 'reference',
      condition: (sql) => sql`t.reference = ${text}`,
      ofEachAccount: null,
    },
    {
      kind: 'invoice',
      by: 'number',
      condition: (sql) => sql`(t.number = ${text} or t.ksef_number = ${text})`,
    },
  ];
}

function placesByProviderId(ids: string[]): Place[] {
  const by = "provider's id";
  // Their indexes begin with the route.
  const ofEachRoute = (sql: Sql, rows: Fragment) => sql`
    t.id = any(array(select f.id from routes r cross join lateral (${rows} = any(${ids}) and route = r.name limit ${READ_MAX}) f (id)))`;
  return [
    {
      kind: 'message',
      by,
      condition: (sql) =>
        ofEachRoute(sql, sql`select message_id from message_parts where provider_message_id`),
    },
    {
      kind: 'email',
      by,
      condition: (sql) => ofEachRoute(sql, sql`select id from emails where provider_email_id`),
    },
    {
      kind: 'reply',
      by,
      condition: (sql) => ofEachRoute(sql, sql`select id from inbound_messages where provider_reference`),
    },
    {
      kind: 'report',
      by,
      condition: (sql) =>
        ofEachRoute(
          sql,
          sql`select id from delivery_reports where applied_at is null and provider_message_id`,
        ),
    },
    {
      kind: 'domain',
      by,
      condition: (sql) =>
        sql`t.id in (select domain_id from sender_domain_routes where provider_domain_id = any(${ids}))`,
    },
  ];
}

function placesByToken(token: string): Place[] {
  return [
    { kind: 'link', by: 'address', condition: (sql) => sql`t.token = ${token}` },
    {
      kind: 'opt-out link',
      by: 'address',
      condition: (sql) => sql`
        (t.token = ${token} or t.token = (select link from opt_out_aliases where token = ${token}))`,
    },
  ];
}
