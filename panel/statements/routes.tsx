import { invoicesOf } from '../../db/money/invoices.ts';
import { readDocument } from '../../db/money/statementDocuments.ts';
import { listStatements } from '../../db/money/statements.ts';
import { DOCUMENT_FORMATS } from '../../domain/statements.ts';
import { paymentProcessor } from '../../operations/money/payments.ts';
import { PLACES } from '../menu.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { Statements } from './view.tsx';
import { words } from './words.ts';

const { path, roles } = PLACES.statements;

async function list({ language, services, account }: MemberVisit): Promise<Answer> {
  const statements = await listStatements(services.sql, account.id);
  const [invoices, processor] = await Promise.all([
    invoicesOf(
      services.sql,
      account.id,
      statements.map(({ id }) => id),
    ),
    paymentProcessor(services),
  ]);
  const view = <Statements {...{ language, statements, invoices, payable: processor !== null }} />;
  return { status: 200, title: words[language].heading, view };
}

/** Its name is `st_….pdf` or `st_….csv`. */
async function file(visit: MemberVisit): Promise<Answer> {
  const { services, account, params } = visit;
  const { file: filename = '' } = params;
  const [id = '', ending] = filename.split('.');
  const format = DOCUMENT_FORMATS.find((one) => one === ending);
  if (format === undefined) return problemPage(visit, 404);
  const bytes = await readDocument(services.sql, id, format, account.id);
  return bytes === undefined ? problemPage(visit, 404) : { filename: `${id}.${format}`, bytes };
}

export const statementRoutes = [
  accountPage(path, roles, { get: list }),
  accountPage(`${path}/:file`, roles, { get: file }),
];
