import type { TemplateContent } from '../../domain/placeholders.ts';
import { quotasOf, type Quotas } from '../../domain/money.ts';
import { readQuotas, refuseAbove } from '../accounts/quotas.ts';
import { type Database, type Sql, withNamedLock } from '../connection.ts';
import { type NamePage, pageByName } from '../names.ts';

export interface TemplateRow extends TemplateContent {
  id: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The account's templates by name, in Polish alphabetical order (v2.3.0, Templates), then by age. */
export async function listTemplates(
  sql: Sql,
  accountId: string,
  page: NamePage = {},
): Promise<TemplateRow[]> {
  return await sql<TemplateRow[]>`
    select ${columns(sql)} from templates ${pageByName(sql, 'templates', accountId, page)}`;
}

/** The first templates of a type by name, without their bodies. */
export async function listTemplateNames(
  sql: Sql,
  accountId: string,
  type: TemplateRow['type'],
  limit: number,
): Promise<Pick<TemplateRow, 'id' | 'name'>[]> {
  return await sql<Pick<TemplateRow, 'id' | 'name'>[]>`
    select id, name from templates where account_id = ${accountId} and type = ${type}
     order by name collate "pl-x-icu", id limit ${limit}`;
}

export async function readTemplate(sql: Sql, accountId: string, id: string): Promise<TemplateRow | null> {
  const [template] = await sql<TemplateRow[]>`
    select ${columns(sql)} from templates where id = ${id} and account_id = ${accountId}`;
  return template ?? null;
}

/** Stores a new template. @throws QuotaReachedError */
export async function insertTemplate(
  sql: Database,
  accountId: string,
  id: string,
  { name, type, body, subject }: TemplateContent,
): Promise<TemplateRow> {
  return await changeTemplates(sql, accountId, async (tx) => {
    const before = await templateUsage(tx, accountId);
    const [stored] = await tx<TemplateRow[]>`
      insert into templates (id, account_id, name, type, body, subject)
      values (${id}, ${accountId}, ${name}, ${type}, ${body}, ${subject}) returning ${columns(tx)}`;
    await enforceTemplateQuotas(tx, accountId, before);
    return stored!;
  });
}

/** Changes a template under a lock. @throws QuotaReachedError, or what `change` throws; nothing is changed then */
export async function changeTemplate(
  sql: Database,
  accountId: string,
  id: string,
  change: (stored: TemplateContent) => TemplateContent,
): Promise<TemplateRow | null> {
  return await changeTemplates(sql, accountId, async (tx) => {
    const stored = await readTemplate(tx, accountId, id);
    if (stored === null) return null;
    const { name, type, body, subject } = change(stored);
    const before = await templateUsage(tx, accountId);
    const [changed] = await tx<TemplateRow[]>`
      update templates set name = ${name}, type = ${type}, body = ${body}, subject = ${subject}, updated_at = now()
       where id = ${id} and account_id = ${accountId} returning ${columns(tx)}`;
    await enforceTemplateQuotas(tx, accountId, before);
    return changed ?? null;
  });
}

/** Deletes a template; messages sent with it stay. @returns false when the account has none with this id */
export async function deleteTemplate(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const removed = await sql`delete from templates where id = ${id} and account_id = ${accountId}`;
  return removed.count > 0;
}

// Serializes writers by a named lock, so that the account's row stays free for charges.
async function changeTemplates<T>(
  sql: Database,
  accountId: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await withNamedLock(sql, `templates of ${accountId}`, work);
}

/** Number of an account's templates and octets of their bodies; few enough to be counted on demand. */
export async function templateUsage(
  sql: Sql,
  accountId: string,
): Promise<Pick<Quotas, 'templates' | 'template_bytes'>> {
  const [used] = await sql<{ templates: number; bytes: number }[]>`
    select count(*) as templates, coalesce(sum(octet_length(body)), 0)::bigint as bytes
      from templates where account_id = ${accountId}`;
  return { templates: used!.templates, template_bytes: used!.bytes };
}

async function enforceTemplateQuotas(
  tx: Sql,
  accountId: string,
  before: Pick<Quotas, 'templates' | 'template_bytes'>,
): Promise<void> {
  const used = await templateUsage(tx, accountId);
  const limits = quotasOf(await readQuotas(tx, accountId));
  refuseAbove(limits, used, before);
}

function columns(sql: Sql) {
  return sql`id, name, type, body, subject, created_at, updated_at`;
}
