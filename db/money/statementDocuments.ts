import { GROSZE_AN_ADDRESS } from '../../domain/email/address.ts';
import type { DatedLine, DocumentFormat, StatementFacts } from '../../domain/statements.ts';
import type { Sql } from '../connection.ts';
import { isBilled } from './statements.ts';

/** Notes what the documents of a statement are made from; call it in the transaction that issues the statement. */
export async function requestDocuments(tx: Sql, statement: string): Promise<void> {
  await tx`
    insert into statement_documents (statement_id, account_name, buyer, postpaid_since)
    select s.id, a.name,
           (select jsonb_build_object('kind', p.kind, 'name', p.name, 'nip', p.nip, 'street', p.street, 'postalCode', p.postal_code,
                                      'city', p.city)
              from company_profiles p where p.account_id = a.id),
           a.postpaid_since
      from statements s join accounts a on a.id = s.account_id where s.id = ${statement}`;
}

/** Statements whose documents are still to be made, by id. */
export async function readUndocumented(sql: Sql, after: string, limit: number): Promise<StatementFacts[]> {
  return await sql<StatementFacts[]>`
    select s.id, d.account_name, d.buyer, to_char(s.month, 'YYYY-MM') as month, s.amount_grosze, s.issued_at, s.due_at
      from statement_documents d join statements s on s.id = d.statement_id
     where d.made_at is null and d.statement_id > ${after} order by d.statement_id limit ${limit}`;
}

/** Sums what a statement bills for a day of its month. @param day `YYYY-MM-DD`, in Poland */
export async function readLinesOfDay(sql: Sql, statement: string, day: string): Promise<DatedLine[]> {
  return await sql<DatedLine[]>`
    with bounds as (select ${day}::date::timestamp as first)
    select ${day}::text as day, e.kind, coalesce(m.channel, e.subject_kind) as product, m.country,
           coalesce(m.priority, false) as priority, u.unit_grosze, count(*) as count,
           sum(case e.subject_kind when 'message' then m.parts when 'email' then abs(e.amount_grosze) / u.unit_grosze else 1 end)::bigint as units,
           sum(-e.amount_grosze)::bigint as net_grosze
      from bounds, statements s join statement_documents d on d.statement_id = s.id
        join ledger_entries e on e.account_id = s.account_id
        left join messages m on m.id = e.subject_id and e.subject_kind = 'message'
       cross join lateral (
         select case e.subject_kind when 'message' then abs(e.amount_grosze) / m.parts when 'email' then ${GROSZE_AN_ADDRESS}::int
                                    else abs(e.amount_grosze) end as unit_grosze) u
     where s.id = ${statement} and e.test_credits = 0 and ${isBilled(sql, sql`interval '1 day'`, sql`d.postpaid_since`)}
     group by e.kind, product, m.country, priority, u.unit_grosze
     order by e.kind, product, m.country, priority, u.unit_grosze`;
}

/** Stores the documents of a statement, once. */
export async function saveDocuments(
  sql: Sql,
  statement: string,
  { pdf, csv }: Record<DocumentFormat, Buffer>,
): Promise<void> {
  await sql`
    update statement_documents set pdf = ${pdf}, csv = ${csv}, made_at = now()
     where statement_id = ${statement} and made_at is null`;
}

/** A document of a statement; undefined where there is none. @param account whose it has to be; undefined: anybody's */
export async function readDocument(
  sql: Sql,
  statement: string,
  format: DocumentFormat,
  account?: string,
): Promise<Buffer | undefined> {
  const [row] = await sql<{ document: Buffer }[]>`
    select d.${sql(format)} as document from statement_documents d join statements s on s.id = d.statement_id
     where s.id = ${statement} and d.made_at is not null ${account === undefined ? sql`` : sql`and s.account_id = ${account}`}`;
  return row?.document;
}
