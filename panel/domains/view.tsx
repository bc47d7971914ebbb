import { recordsOf } from '../../domain/email/domainStates.ts';
import type { DomainView } from '../../operations/email/domains/manage.ts';
import type { Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { Act, Copy, Field, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

const PATH = '/panel/emails/domains';

interface DomainsProps {
  language: Language;
  domains: readonly DomainView[];
  /** Of a new one, as it was typed. */
  name: string;
  fault: Fault | null;
  /** Whether the person may change domains. */
  manages: boolean;
}

export function Domains({ language, domains, name, fault, manages }: DomainsProps) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.lead}</p>
      {domains.length === 0 ? <p>{say.none}</p> : null}
      {domains.map((domain) => (
        <Domain {...{ language, domain, manages }} />
      ))}
      {manages ? (
        <section>
          <h2>{say.add}</h2>
          <form method="post" action={PATH} class="stack" noValidate>
            <Field {...{ name: 'name', label: say.name, hint: say.nameHint, fault, value: name }} required />
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

interface DomainProps {
  language: Language;
  domain: DomainView;
  manages: boolean;
}

function Domain({ language, domain, manages }: DomainProps) {
  const say = words[language];
  const { id, name, status, isDefault, checkedAt } = domain;
  return (
    <section>
      <h2>{name}</h2>
      <p>
        <span class="badge">{say.statuses[status]}</span>{' '}
        {isDefault ? <span class="badge">{say.isDefault}</span> : null}{' '}
        <span class="hint">
          {say.checked}: {checkedAt === null ? say.never : moment(language, checkedAt)}
        </span>
      </p>
      <Records language={language} domain={domain} />
      {manages ? (
        <ul class="rows links">
          <Button to={`${PATH}/${id}/check`} name={name} text={say.check} />
          {status === 'verified' && !isDefault ? (
            <Button to={`${PATH}/${id}/default`} name={name} text={say.makeDefault} />
          ) : null}
          <li>
            <Act
              name={name}
              open={say.remove}
              text={say.removeText}
              act={say.removeNow}
              to={`${PATH}/${id}/remove`}
            />
          </li>
        </ul>
      ) : null}
    </section>
  );
}

function Button({ to, name, text }: { to: string; name: string; text: string }) {
  return (
    <li>
      <form method="post" action={to}>
        <button class="second">
          {text}
          <span class="visually-hidden"> {name}</span>
        </button>
      </form>
    </li>
  );
}

function Records({ language, domain: { id, name, routes } }: Pick<DomainProps, 'language' | 'domain'>) {
  const say = words[language];
  const records = recordsOf(routes);
  if (records.length === 0) return <p>{say.noRecords}</p>;
  return (
    <Table label={say.records(name)} columns={say.columns}>
      {records.map((record, index) => (
        <tr>
          <th scope="row">{record.type}</th>
          <Copied language={language} id={`${id}-name-${index}`} text={record.name} />
          <Copied language={language} id={`${id}-value-${index}`} text={record.value}>
            {record.priority === null ? null : say.priority(record.priority)}
          </Copied>
          <td>{record.seen ? say.seen : say.unseen}</td>
        </tr>
      ))}
    </Table>
  );
}

interface CopiedProps {
  language: Language;
  id: string;
  text: string;
  children?: string | null;
}

function Copied({ language, id, text, children = null }: CopiedProps) {
  return (
    <td>
      <code id={id}>{text}</code> {children} <Copy language={language} of={id} />
    </td>
  );
}
