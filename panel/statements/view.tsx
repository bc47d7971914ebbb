import type { IssuedInvoice } from '../../db/money/invoices.ts';
import type { ListedStatement } from '../../db/money/statements.ts';
import { DOCUMENT_FORMATS } from '../../domain/statements.ts';
import { withVat } from '../../domain/vat.ts';
import { type Language, moment, month, pln } from '../language.ts';
import { numbersOf } from '../billing/invoiceNumbers.ts';
import { Table } from '../parts.tsx';
import { words } from './words.ts';

interface Props {
  language: Language;
  statements: readonly ListedStatement[];
  invoices: readonly IssuedInvoice[];
  /** Whether they can be paid here. */
  payable: boolean;
}

export function Statements({ language, statements, invoices, payable }: Props) {
  const say = words[language];
  if (statements.length === 0) return <p>{say.none}</p>;
  return (
    <>
      <p>{say.about}</p>
      <Table label={say.heading} columns={say.columns}>
        {statements.map((statement) => (
          <Row {...{ language, statement, payable, invoices: numbersOf(invoices, statement.id) }} />
        ))}
      </Table>
    </>
  );
}

interface RowProps extends Pick<Props, 'language' | 'payable'> {
  statement: ListedStatement;
  /** Their numbers. */
  invoices: readonly string[];
}

function Row({ language, statement, payable, invoices }: RowProps) {
  const say = words[language];
  const { id, month: of, amountGrosze, dueAt, paidAt, documented } = statement;
  const { netGrosze, grossGrosze } = withVat(amountGrosze);
  const about = <span class="visually-hidden"> {month(language, of)}</span>;
  return (
    <tr>
      <th scope="row">
        {month(language, of)}
        <br />
        <code class="hint">{id}</code>
      </th>
      <td>{pln(language, netGrosze)}</td>
      <td>{pln(language, grossGrosze)}</td>
      <td>{moment(language, dueAt)}</td>
      <td>
        <span class="badge">{say.states[stateOf(statement)]}</span>
        {paidAt === null && payable ? (
          <form method="post" action="/panel/billing">
            <button name="statement" value={id}>
              {say.pay}
              {about}
            </button>
          </form>
        ) : null}
      </td>
      <td>
        {documented
          ? DOCUMENT_FORMATS.map((format) => (
              <>
                <a href={`/panel/statements/${id}.${format}`}>
                  {format.toUpperCase()}
                  {about}
                </a>{' '}
              </>
            ))
          : '–'}
        {invoices.map((number) => (
          <div class="hint">{number}</div>
        ))}
      </td>
    </tr>
  );
}

function stateOf({ paidAt, dueAt }: ListedStatement): 'paid' | 'due' | 'overdue' {
  if (paidAt !== null) return 'paid';
  return dueAt.getTime() < Date.now() ? 'overdue' : 'due';
}
