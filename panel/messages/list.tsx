import type { listMessages } from '../../api/messages/history.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import type { AnswerOf, Fault } from '../ask.ts';
import { type Language, moment, pln } from '../language.ts';
import { Field, Filters, isFiltered, Results, Select, Table } from '../parts.tsx';
import { StatusBadge } from './status.tsx';
import { words } from './words.ts';

type Page = AnswerOf<(typeof listMessages)['responses']>;

interface Props {
  language: Language;
  /** Of the page: filters and cursor. */
  query: URLSearchParams;
  found: { answer: Page | null; fault: Fault | null };
  /** Whether messages are paid from the free ones. */
  isFree: boolean;
  /** Whether the person may send. */
  sends: boolean;
}

export function Messages({ language, query, found: { answer, fault }, isFree, sends }: Props) {
  const say = words[language];
  const about = (name: keyof typeof say.filters) => ({
    ...{ name, label: say.filters[name], fault },
    value: query.get(name) ?? '',
  });
  const statuses = Object.fromEntries(MESSAGE_STATUSES.map((status) => [status, say.statuses[status]]));
  return (
    <>
      <Filters language={language} path="/panel/messages">
        <Field {...about('to')} inputMode="tel" />
        <Field {...about('reference')} />
        <Select {...about('status')} options={{ '': say.anyStatus, ...statuses }} />
        <Field {...about('since')} type="date" />
        <Field {...about('until')} type="date" />
      </Filters>
      <Results
        language={language}
        path="/panel/messages"
        query={query}
        next={answer?.next_cursor ?? null}
        live={!query.has('cursor')}
      >
        {answer === null ? (
          <p role="alert">{fault?.text}</p>
        ) : answer.data.length === 0 ? (
          <Nothing language={language} hasFilter={isFiltered(query)} sends={sends} />
        ) : (
          <Rows {...{ language, isFree }} messages={answer.data} />
        )}
      </Results>
    </>
  );
}

function Nothing({ language, hasFilter, sends }: { language: Language; hasFilter: boolean; sends: boolean }) {
  const say = words[language];
  if (hasFilter) return <p>{say.noneFound}</p>;
  return (
    <p>
      {say.none} {sends ? <a href="/panel/send">{say.sendOne}</a> : null}
    </p>
  );
}

function Rows({
  language,
  isFree,
  messages,
}: {
  language: Language;
  isFree: boolean;
  messages: Page['data'];
}) {
  const say = words[language];
  return (
    <Table label={say.heading} columns={say.columns}>
      {messages.map(({ id, to, type, status, text, reference, cost_grosze, created_at, send_at }) => (
        <tr>
          <th scope="row">
            <a href={`/panel/messages/${id}`}>{to}</a>
            {type === 'sms' ? null : <span class="hint"> {say.types[type]}</span>}
          </th>
          <td class="text">
            <p class="cut">{text}</p>
            {reference === null ? null : <span class="hint">{reference}</span>}
          </td>
          <td>
            <StatusBadge language={language} status={status} />
          </td>
          <td>{isFree ? say.free : pln(language, cost_grosze)}</td>
          <td>{moment(language, new Date(status === 'scheduled' ? (send_at ?? created_at) : created_at))}</td>
        </tr>
      ))}
    </Table>
  );
}
