import type { AccountRow } from '../../db/accounts/accounts.ts';
import type { LedgerRow, LedgerSums } from '../../db/money/ledger.ts';
import { LEDGER_KINDS, type LedgerKind } from '../../domain/money.ts';
import type { ReportPeriod } from '../../domain/reports.ts';
import type { Fault } from '../ask.ts';
import { count, type Language, moment, pln } from '../language.ts';
import { Field, Figure, Filters, isFiltered, Results, Runway, Select, Table } from '../parts.tsx';
import { words } from './words.ts';

const PATH = '/panel/ledger';

interface Props {
  language: Language;
  query: URLSearchParams;
  account: AccountRow;
  runway: number | null;
  /** Whose sums are shown; null: none are. */
  period: ReportPeriod | null;
  /** Null: not available now. */
  sums: LedgerSums | null;
  rows: readonly LedgerRow[];
  next: string | null;
  fault: Fault | null;
}

export function Ledger(props: Props) {
  const { language, query, account, runway, period, sums, rows, next, fault } = props;
  const say = words[language];
  const value = (name: string) => query.get(name) ?? '';
  const kinds = Object.fromEntries(LEDGER_KINDS.map((kind) => [kind, say.kinds[kind]]));
  const file = new URLSearchParams([...query, ['format', 'csv']]);
  file.delete('cursor');
  return (
    <>
      <dl class="figures">
        <Figure name={say.balance} value={pln(language, account.balanceGrosze)} />
        {account.billingMode === 'postpaid' ? (
          <Figure name={say.credit} value={pln(language, account.creditLimitGrosze)} />
        ) : null}
        <Runway language={language} days={runway} />
      </dl>
      <p class="hint">{say.hint}</p>
      <Filters language={language} path={PATH}>
        <Select name="kind" label={say.kind} options={{ '': say.any, ...kinds }} value={value('kind')} />
        <Field name="from" label={say.from} type="date" value={value('from') || (period?.from ?? '')} />
        <Field name="to" label={say.to} type="date" value={value('to') || (period?.to ?? '')} />
        <Field name="about" label={say.about} value={value('about')} maxLength={200} />
      </Filters>
      <Results {...{ language, query, next, path: PATH }}>
        {fault !== null ? (
          <p role="alert">{fault.text}</p>
        ) : (
          <>
            {rows.length === 0 ? (
              <p>{isFiltered(query) ? say.noneFound : say.none}</p>
            ) : (
              <Table label={say.heading} columns={say.columns}>
                {rows.map((row) => (
                  <Entry language={language} row={row} />
                ))}
              </Table>
            )}
            {period === null ? null : <Sums {...{ language, sums }} />}
            <p>
              <a href={`${PATH}?${file.toString()}`}>{say.csv}</a>
            </p>
          </>
        )}
      </Results>
    </>
  );
}

function Entry({ language, row }: { language: Language; row: LedgerRow }) {
  const { kind, amountGrosze, testCredits, reference, note, createdAt } = row;
  return (
    <tr>
      <th scope="row">{moment(language, createdAt)}</th>
      <td class="text">
        {nameOf(language, kind, reference)} <Belonging language={language} row={row} />{' '}
        {[reference, note].map((text) => (text === null ? null : <bdi class="hint">{text} </bdi>))}
      </td>
      <td>{pln(language, amountGrosze)}</td>
      <td>{count(language, testCredits)}</td>
    </tr>
  );
}

function nameOf(language: Language, kind: LedgerKind, reference: string | null): string {
  const say = words[language];
  const isReturned = reference?.endsWith(':returned') === true;
  return isReturned && (kind === 'payment_refund' || kind === 'dispute')
    ? say.returned[kind]
    : say.kinds[kind];
}

/** What an entry belongs to, as a link where it has a page. */
function Belonging({
  language,
  row: { subjectKind, subjectId, paymentId },
}: {
  language: Language;
  row: LedgerRow;
}) {
  const say = words[language].subjects;
  if (paymentId !== null) return <a href={`/panel/billing/${paymentId}`}>{say.payment}</a>;
  if (subjectKind === null || subjectId === null) return null;
  switch (subjectKind) {
    case 'message':
      return <a href={`/panel/messages/${subjectId}`}>{say.message}</a>;
    case 'email':
      return <a href={`/panel/emails/${subjectId}`}>{say.email}</a>;
    case 'statement':
      return <a href={`/panel/statements#${subjectId}`}>{say.statement}</a>;
    case 'lookup':
      return (
        <>
          {say.lookup} <code>{subjectId}</code>
        </>
      );
  }
}

function Sums({ language, sums }: { language: Language; sums: LedgerSums | null }) {
  const say = words[language];
  if (sums === null) return <p>{say.later}</p>;
  const { opening, kinds, closing } = sums;
  const inOrder = LEDGER_KINDS.flatMap((kind) => kinds.filter((one) => one.kind === kind));
  const ends = (name: string, { amountGrosze, testCredits }: LedgerSums['opening']) => (
    <tr>
      <th scope="row">{name}</th>
      <td></td>
      <td>{pln(language, amountGrosze)}</td>
      <td>{count(language, testCredits)}</td>
    </tr>
  );
  return (
    <section>
      <h2>{say.sums}</h2>
      <Table label={say.sums} columns={say.sumColumns}>
        {ends(say.opening, opening)}
        {inOrder.map(({ kind, entries, amountGrosze, testCredits }) => (
          <tr>
            <th scope="row">{say.kinds[kind]}</th>
            <td>{count(language, entries)}</td>
            <td>{pln(language, amountGrosze)}</td>
            <td>{count(language, testCredits)}</td>
          </tr>
        ))}
        {ends(say.closing, closing)}
      </Table>
      <p class="hint">{say.sumsHint}</p>
    </section>
  );
}
