import type { listMessages } from '../../api/messages/history.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import type { AnswerOf, Fault } from '../ask.ts';
import { type Language, moment, pln } from '../language.ts';
import { Field, Filters, isFiltered, Listing, Select } from '../parts.tsx';
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
      <Listing
        {...{ language, query, fault, path: '/panel/messages' }}
        next={answer?.next_cursor ?? null}
        live={!query.has('cursor')}
        label={say.heading}
        columns={say.columns}
        rows={(answer?.data ?? []).map((message) => (
          <Row {...{ language, isFree, message }} />
        ))}
        none={<Nothing language={language} hasFilter={isFiltered(query)} sends={sends} />}
      />
    </>
  );
}

function Nothing({ language, hasFilter, sends }: { language: Language; hasFilter: boolean; sends: boolean }) {
  const say = words[language];
  if (hasFilter) return <>{say.noneFound}</>;
  return (
    <>
      {say.none} {sends ? <a href="/panel/send">{say.sendOne}</a> : null}
    </>
  );
}

interface RowProps {
  language: Language;
  isFree: boolean;
  message: Page['data'][number];
}

function Row({ language, isFree, message }: RowProps) {
  const say = words[language];
  const { id, to, type, status, text, reference, cost_grosze, created_at, send_at } = message;
  return (
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
  );
}
