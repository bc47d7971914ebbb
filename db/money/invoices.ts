import type { InvoiceDocument, TopUpKind } from '../../domain/fa3.ts';
import { withVat } from '../../domain/vat.ts';
import { type Fragment, lockNames, type Sql } from '../connection.ts';

/** How the operator has documents made. */
export interface Numbering {
  /** Of top-ups. */
  kind: TopUpKind;
  /** With `{year}`, `{month}` and `{n}`, which counts a year's documents without a gap; null: accounting numbers them. */
  pattern: string | null;
}

/**
 * Gives the events of a Polish calendar month (`YYYY-MM`) their documents, those that have none: sales before what corrects them. A
 * statement without company data gets none, nor does a correction of what was never exported.
 */
export async function insertInvoices(sql: Sql, month: string, { kind, pattern }: Numbering): Promise<void> {
  await lockNames(sql, ['invoices']);
  const today = sql`(now() at time zone 'Europe/Warsaw')`;
  const number =
    pattern === null
      ? sql`id`
      : sql`replace(replace(replace(${pattern}, '{year}', to_char(${today}, 'YYYY')), '{month}', to_char(${today}, 'MM')), '{n}', n::text)`;
  for (const made of [
    sql`select *, case when month is null then ${kind} else 'VAT' end as kind from events where corrects is null`,
    sql`select e.*, case o.kind when 'ZAL' then 'KOR_ZAL' else 'KOR' end as kind
          from events e join invoices o on o.id = e.corrects`,
  ])
    await sql`
      with ${events(sql)}, numbered as (
        select e.*, row_number() over (order by at, id)
                    + coalesce((select max(ordinal) from invoices where year = extract(year from ${today})), 0) as n
          from (${made}) e
         where ${isIn(sql, month)} and buyer is not null and not exists (select from invoices i where i.id = e.id)
      )
      insert into invoices (id, account_id, subject_id, kind, buyer, ordinal, number)
      select id, account_id, subject_id, kind, buyer, ${pattern === null ? sql`null` : sql`n`}, ${number} from numbered order by n`;
}

interface DocumentRow extends Omit<InvoiceDocument, 'price' | 'statement' | 'correction'> {
  netGrosze: number;
  /** Null of a statement. */
  grossGrosze: number | null;
  beforeNetGrosze: number;
  beforeGrossGrosze: number;
  month: string | null;
  dueAt: Date | null;
  reversal: 'refund' | 'dispute' | null;
  isReturned: boolean;
  originalNumber: string;
  originalKsefNumber: string | null;
  originalExportedAt: Date;
  originalAt: Date;
}

/** The documents of a month, in the order of what happened. */
export async function readInvoices(sql: Sql, month: string): Promise<InvoiceDocument[]> {
  const rows = await sql<DocumentRow[]>`
    with ${events(sql)}, documents as (
      select e.*, i.kind, i.number, i.ksef_number, i.buyer as buyer_then, i.exported_at,
             sum(net_grosze) over before as before_net_grosze, sum(gross_grosze) over before as before_gross_grosze
        from events e join invoices i on i.id = e.id
      window before as (partition by e.subject_id order by at, e.id rows between unbounded preceding and 1 preceding)
    )
    select d.id, d.account_id, d.subject_id, d.kind, d.number, d.ksef_number, d.buyer_then as buyer, d.exported_at, d.at, d.net_grosze,
           d.gross_grosze, d.method, d.month, d.due_at, d.reversal, d.is_returned, d.before_net_grosze::bigint, d.before_gross_grosze::bigint,
           o.number as original_number, o.ksef_number as original_ksef_number, o.exported_at as original_exported_at, p.paid_at as original_at
      from documents d left join invoices o on o.id = d.corrects left join payments p on p.id = d.corrects
     where ${isIn(sql, month)}
     order by d.at, d.id`;
  return rows.map(documentOf);
}

/** Events of a month that have no document. */
export async function unexported(sql: Sql, month: string): Promise<{ id: string; accountId: string }[]> {
  return await sql<{ id: string; accountId: string }[]>`
    with ${events(sql)} select id, account_id from events e
     where ${isIn(sql, month)} and not exists (select from invoices i where i.id = e.id) order by at, id`;
}

/** The first month before this one with a correction that can have a document and has none; what later ones correct depends on it. */
export async function monthToExportBefore(sql: Sql, month: string): Promise<string | null> {
  const [row] = await sql<{ first: string | null }[]>`
    with ${events(sql)}
    select to_char(min(at) at time zone 'Europe/Warsaw', 'YYYY-MM') as first
      from events e join invoices o on o.id = e.corrects
     where at < to_date(${month}, 'YYYY-MM')::timestamp at time zone 'Europe/Warsaw'
       and not exists (select from invoices i where i.id = e.id)`;
  return row!.first;
}

// As SQL, a CTE: what has to be documented. What was taken back and came back before it was exported leaves no trace. A payment of a
// statement is no sale: the statement is. Amounts of what was taken back are negative.
function events(sql: Sql): Fragment {
  const reversals = sql`
    payment_reversals r join payments p on p.id = r.payment_id and p.statement_id is null
      left join invoices i on i.id = p.id || '.' || r.id`;
  return sql`
    events as (
      select id, account_id, id as subject_id, null as corrects, buyer, paid_at as at, net_grosze, gross_grosze,
             method, null as month, null::timestamptz as due_at, null as reversal, false as is_returned
        from payments where state = 'paid' and statement_id is null
      union all
      select p.id || '.' || r.id, p.account_id, p.id, p.id, p.buyer, r.created_at, -r.net_grosze, -r.gross_grosze,
             null, null, null, r.kind, false
        from ${reversals} where r.returned_at is null or i.id is not null
      union all
      select p.id || '.' || r.id || '.returned', p.account_id, p.id, p.id, p.buyer, r.returned_at, r.net_grosze, r.gross_grosze,
             null, null, null, r.kind, true
        from ${reversals} where r.returned_at is not null and i.id is not null
      union all
      select s.id, s.account_id, s.id, null,
             coalesce((select d.buyer from statement_documents d where d.statement_id = s.id),
               (select jsonb_build_object('kind', c.kind, 'nip', c.nip, 'name', c.name, 'street', c.street, 'postalCode', c.postal_code, 'city', c.city)
                  from company_profiles c where c.account_id = s.account_id)),
             s.issued_at, s.amount_grosze, null, null, to_char(s.month, 'YYYY-MM'), s.due_at, null, false
        from statements s where s.amount_grosze > 0
    )`;
}

// As SQL: whether the event is of a calendar month in Poland.
function isIn(sql: Sql, month: string): Fragment {
  const first = sql`to_date(${month}, 'YYYY-MM')::timestamp`;
  return sql`at >= ${first} at time zone 'Europe/Warsaw' and at < (${first} + interval '1 month') at time zone 'Europe/Warsaw'`;
}

function documentOf({
  netGrosze,
  grossGrosze,
  beforeNetGrosze,
  beforeGrossGrosze,
  month,
  dueAt,
  reversal,
  isReturned,
  originalNumber: number,
  originalKsefNumber: ksefNumber,
  originalExportedAt: exportedAt,
  originalAt: at,
  ...document
}: DocumentRow): InvoiceDocument {
  const before = priceOf(beforeNetGrosze, beforeGrossGrosze);
  const original = { number, ksefNumber, exportedAt, at };
  return {
    ...document,
    price: grossGrosze === null ? withVat(netGrosze) : priceOf(netGrosze, grossGrosze),
    statement: month === null || dueAt === null ? null : { month, dueAt },
    correction: reversal === null ? null : { kind: reversal, isReturned, before, original },
  };
}

const priceOf = (netGrosze: number, grossGrosze: number) => ({
  ...{ netGrosze, grossGrosze },
  vatGrosze: grossGrosze - netGrosze,
});

/** What came back from accounting about a document. */
export interface Confirmation {
  document: string;
  number: string;
  /** Null: it is not in KSeF. */
  ksefNumber: string | null;
}

/** @returns the account of the document; undefined: there is no such document @throws unique_violation where another one has a number of it */
export async function confirmInvoice(
  sql: Sql,
  { document, number, ksefNumber }: Confirmation,
): Promise<{ accountId: string } | undefined> {
  const [row] = await sql<{ accountId: string }[]>`
    update invoices set number = ${number}, ksef_number = ${ksefNumber}, confirmed_at = now()
     where id = ${document} returning account_id`;
  return row;
}

/** An invoice that accounting has issued, as customers see it. */
export interface IssuedInvoice {
  /** The payment or statement that it is about. */
  subjectId: string;
  kind: InvoiceDocument['kind'];
  number: string;
  ksefNumber: string | null;
}

/** The issued invoices of an account for these payments and statements, corrections behind what they correct. */
export async function invoicesOf(
  sql: Sql,
  account: string,
  subjectIds: readonly string[],
): Promise<IssuedInvoice[]> {
  return await sql<IssuedInvoice[]>`
    select subject_id, kind, number, ksef_number from invoices
     where subject_id = any(${subjectIds as string[]}) and account_id = ${account} and confirmed_at is not null
     order by exported_at, ordinal, id`;
}
