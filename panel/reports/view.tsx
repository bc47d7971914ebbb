import type { getReport } from '../../api/reports.ts';
import type { ReportFigures } from '../../domain/reports.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import type { AnswerOf, Fault } from '../ask.ts';
import { Bars } from '../chart.tsx';
import { count, type Language, pln } from '../language.ts';
import { Field, Figure, Filters, Results, Select, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

const PATH = '/panel/reports';

export type Report = AnswerOf<(typeof getReport)['responses']>;

interface Props {
  language: Language;
  query: URLSearchParams;
  /** Null where the filters are refused. */
  report: Report | null;
  fault: Fault | null;
}

export function ReportPage({ language, query, report, fault }: Props) {
  return (
    <>
      <ReportFilters {...{ language, query, report }} />
      <Results {...{ language, path: PATH, query, next: null }}>
        <Summary language={language} fault={fault} />
        {report === null ? null : <Shown language={language} query={query} report={report} />}
      </Results>
    </>
  );
}

function ReportFilters({ language, query, report }: Pick<Props, 'language' | 'query' | 'report'>) {
  const say = words[language];
  const value = (name: string) => query.get(name) ?? '';
  const statuses = {
    '': say.any,
    ...Object.fromEntries(MESSAGE_STATUSES.map((one) => [one, say.statuses[one]])),
  };
  return (
    <Filters language={language} path={PATH}>
      <Field name="from" label={say.from} type="date" value={query.get('from') ?? report?.from ?? ''} />
      <Field name="to" label={say.to} type="date" value={query.get('to') ?? report?.to ?? ''} />
      <Select name="group_by" label={say.groupBy} options={say.groups} value={value('group_by')} />
      <Select name="type" label={say.type} options={say.types} value={value('type')} />
      <Select name="status" label={say.status} options={statuses} value={value('status')} />
      <Field name="sender" label={say.sender} value={value('sender')} />
      <Field name="country" label={say.country} value={value('country')} maxLength={2} />
    </Filters>
  );
}

function Shown({ language, query, report }: { language: Language; query: URLSearchParams; report: Report }) {
  const say = words[language];
  const { data, rest, totals, emails, lookups, group_by: groupBy } = report;
  const nameOf = (key: string | null) =>
    key === null ? say.noKey : groupBy === 'status' ? statusIn(language, key) : key;
  const bars = data.map(({ key, accepted }) => ({
    ...{ name: nameOf(key), value: accepted, text: count(language, accepted) },
  }));
  return (
    <>
      <dl class="figures">
        <Figure name={say.figures.accepted} value={count(language, totals.accepted)} />
        <Figure name={say.figures.delivered} value={count(language, totals.delivered)} />
        <Figure name={say.figures.rate} value={share(language, totals.delivery_rate)} />
        <Figure name={say.figures.cost} value={pln(language, totals.net_grosze)} />
        {emails === null ? null : <Figure name={say.figures.emails} value={count(language, emails.count)} />}
        {lookups === null ? null : (
          <Figure name={say.figures.lookups} value={count(language, lookups.count)} />
        )}
      </dl>
      {totals.messages === 0 ? (
        <p>{say.none}</p>
      ) : (
        <>
          <Bars label={say.chart} bars={bars} />
          <Table label={say.heading} columns={{ key: say.groups[groupBy], ...say.columns }}>
            {data.map((row) => (
              <Row language={language} name={nameOf(row.key)} figures={row} />
            ))}
            {rest === null ? null : <Row language={language} name={say.rest} figures={rest} />}
            <Row language={language} name={say.total} figures={totals} />
          </Table>
          <p>
            <a href={`${PATH}?${new URLSearchParams([...query, ['format', 'csv']]).toString()}`}>{say.csv}</a>
          </p>
        </>
      )}
      <p class="hint">{say.hint}</p>
    </>
  );
}

function statusIn(language: Language, key: string): string {
  const status = MESSAGE_STATUSES.find((one) => one === key);
  return status === undefined ? key : words[language].statuses[status];
}

function share(language: Language, rate: number | null): string {
  return rate === null ? '–' : `${count(language, Math.round(rate * 1_000) / 10)} %`;
}

function Row({ language, name, figures }: { language: Language; name: string; figures: ReportFigures }) {
  const failed = figures.undelivered + figures.failed + figures.expired;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{count(language, figures.accepted)}</td>
      <td>{count(language, figures.parts)}</td>
      <td>{count(language, figures.delivered)}</td>
      <td>{count(language, failed)}</td>
      <td>{share(language, figures.delivery_rate)}</td>
      <td>{count(language, figures.clicks)}</td>
      <td>{count(language, figures.replies)}</td>
      <td>{pln(language, figures.net_grosze)}</td>
    </tr>
  );
}
