import type { Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { Act, Filters, Listing, Select, Summary, TextArea } from '../parts.tsx';
import { words } from './words.ts';

const PATH = '/panel/emails/suppressions';

interface Suppression {
  address: string;
  reason: 'bounce' | 'complaint' | 'unsubscribe' | 'manual';
  email_id: string | null;
  created_at: string;
}

interface SuppressionsProps {
  language: Language;
  query: URLSearchParams;
  suppressions: readonly Suppression[];
  next: string | null;
  /** To be added, as they were typed. */
  addresses: string;
  fault: Fault | null;
  /** Whether the person may change the list. */
  manages: boolean;
}

export function Suppressions(props: SuppressionsProps) {
  const { language, query, suppressions, next, addresses, fault, manages } = props;
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.lead}</p>
      <Filters language={language} path={PATH}>
        <Select
          name="reason"
          label={say.reason}
          value={query.get('reason') ?? ''}
          options={{ '': say.anyReason, ...say.reasons }}
        />
      </Filters>
      <Listing
        {...{ language, query, next }}
        path={PATH}
        label={say.heading}
        columns={say.columns}
        rows={suppressions.map((suppression) => (
          <Row {...{ language, suppression, manages }} />
        ))}
        none={say.none}
      />
      {manages ? (
        <section>
          <h2>{say.add}</h2>
          <form method="post" action={PATH} class="stack" noValidate>
            <TextArea
              {...{ name: 'addresses', label: say.addresses, hint: say.addressesHint, fault }}
              value={addresses}
            />
            <button>{say.addNow}</button>
          </form>
        </section>
      ) : null}
      <p>
        <a href="/panel/emails">{say.back}</a>
      </p>
    </>
  );
}

interface RowProps {
  language: Language;
  suppression: Suppression;
  manages: boolean;
}

function Row({ language, suppression, manages }: RowProps) {
  const say = words[language];
  const { address, reason, email_id: emailId, created_at: createdAt } = suppression;
  return (
    <tr>
      <th scope="row">{address}</th>
      <td>
        {say.reasons[reason]}{' '}
        {emailId === null ? null : (
          <a href={`/panel/emails/${emailId}`}>
            {say.email}
            <span class="visually-hidden"> {address}</span>
          </a>
        )}
      </td>
      <td>{moment(language, new Date(createdAt))}</td>
      <td>
        {manages ? (
          <Act
            name={address}
            open={say.remove}
            text={say.removeText}
            act={say.removeNow}
            to={`${PATH}/remove`}
            fields={{ address }}
          />
        ) : null}
      </td>
    </tr>
  );
}
