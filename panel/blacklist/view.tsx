import type { listBlacklist } from '../../api/blacklist.ts';
import type { AnswerOf, Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { Act, Field, Filters, isFiltered, Listing, Select, Summary, TextArea } from '../parts.tsx';
import { words } from './words.ts';

type Page = AnswerOf<(typeof listBlacklist)['responses']>;

const PATH = '/panel/blacklist';

interface Props {
  language: Language;
  query: URLSearchParams;
  found: { answer: Page | null; fault: Fault | null };
  /** Whether the person may change the list. */
  manages: boolean;
}

export function Blacklist({ language, query, found: { answer, fault }, manages }: Props) {
  const say = words[language];
  return (
    <>
      <p>{say.lead}</p>
      {manages ? (
        <p>
          <a href={`${PATH}/add`}>{say.add}</a>
        </p>
      ) : null}
      <Filters language={language} path={PATH}>
        <Field name="msisdn" label={say.number} value={query.get('msisdn') ?? ''} inputMode="tel" />
        <Select
          name="reason"
          label={say.columns.reason}
          options={{ '': say.anyReason, ...say.reasons }}
          value={query.get('reason') ?? ''}
        />
      </Filters>
      <Listing
        {...{ language, query, fault, path: PATH }}
        next={answer?.next_cursor ?? null}
        label={say.heading}
        columns={say.columns}
        rows={(answer?.data ?? []).map((entry) => (
          <Row {...{ language, entry, manages }} />
        ))}
        none={isFiltered(query) ? say.noneFound : say.none}
      />
    </>
  );
}

function Row({
  language,
  entry: { msisdn, reason, created_at, expires_at },
  manages,
}: {
  language: Language;
  entry: Page['data'][number];
  manages: boolean;
}) {
  const say = words[language];
  const isOptOut = reason === 'opt_out';
  const known: Readonly<Record<string, string>> = say.reasons;
  return (
    <tr>
      <th scope="row">
        <a href={`/panel/replies/${msisdn}`}>{msisdn}</a>
      </th>
      <td class="text">{reason === null ? null : (known[reason] ?? reason)}</td>
      <td>{moment(language, new Date(created_at))}</td>
      <td>{expires_at === null ? say.never : moment(language, new Date(expires_at))}</td>
      <td>
        {manages ? (
          <Act
            {...{ name: msisdn, open: say.remove, act: say.removeNow, fields: { msisdn } }}
            text={isOptOut ? say.removeOptOutText : say.removeText}
            to={`${PATH}/remove`}
          />
        ) : null}
      </td>
    </tr>
  );
}

interface AdditionProps {
  language: Language;
  /** The form as it was sent. */
  typed: ReadonlyMap<string, string>;
  fault: Fault | null;
}

export function Addition({ language, typed, fault }: AdditionProps) {
  const say = words[language];
  const about = (name: keyof typeof say.fields) => ({
    ...{ name, label: say.fields[name], hint: say.hints[name], fault },
    value: typed.get(name) ?? '',
  });
  return (
    <>
      <Summary language={language} fault={fault} />
      <form method="post" action={`${PATH}/add`} class="stack" noValidate>
        <TextArea {...about('msisdns')} />
        <Field {...about('reason')} />
        <Field {...about('expires_at')} type="date" />
        <button>{say.addNow}</button>
      </form>
    </>
  );
}
