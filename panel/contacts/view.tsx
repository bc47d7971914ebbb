import type { z } from 'zod';
import type { contactSchema } from '../../api/contacts/contacts.ts';
import type { Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { Act, Field, Filters, isFiltered, Listing, Select, Summary, TextArea } from '../parts.tsx';
import { words } from './words.ts';

export type Contact = z.output<typeof contactSchema>;

/** The form of a contact: texts as they were typed. */
export interface Form {
  msisdn: string;
  first_name: string;
  last_name: string;
  email: string;
  /** Names, one on a line. */
  groups: string;
  /** Values of the custom fields it has. */
  fields: Readonly<Record<string, string>>;
  newKey: string;
  newValue: string;
}

interface ListProps {
  language: Language;
  query: URLSearchParams;
  contacts: readonly Contact[];
  next: string | null;
  /** Those that the filter offers; all are on a page of their own. */
  groups: readonly { id: string; name: string }[];
  fault: Fault | null;
  /** Whether the person may change contacts. */
  manages: boolean;
}

const PATH = '/panel/contacts';

export function List({ language, query, contacts, next, groups, fault, manages }: ListProps) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <ul class="rows links">
        {manages ? (
          <>
            <Link to={`${PATH}/new`}>{say.add}</Link>
            <Link to={`${PATH}/import`}>{say.import}</Link>
          </>
        ) : null}
        <Link to={`${PATH}/groups`}>{say.groups}</Link>
      </ul>
      <Filters language={language} path={PATH}>
        <Field name="q" type="search" label={say.search} hint={say.searchHint} value={query.get('q') ?? ''} />
        <Select
          name="group_id"
          label={say.group}
          value={query.get('group_id') ?? ''}
          options={{ '': say.anyGroup, ...Object.fromEntries(groups.map(({ id, name }) => [id, name])) }}
        />
      </Filters>
      <Listing
        {...{ language, query, next }}
        path={PATH}
        label={say.heading}
        columns={say.columns}
        rows={contacts.map((contact) => (
          <Row contact={contact} />
        ))}
        none={isFiltered(query) ? say.noneFound : say.none}
      >
        <p>
          <a href={`${PATH}/export?${query.toString()}`}>{say.export}</a>
        </p>
      </Listing>
    </>
  );
}

function Link({ to, children }: { to: string; children: string }) {
  return (
    <li>
      <a href={to}>{children}</a>
    </li>
  );
}

function Row({ contact: { id, msisdn, groups, email, ...names } }: { contact: Contact }) {
  return (
    <tr>
      <th scope="row">
        <a href={`${PATH}/${id}`}>{msisdn}</a>
      </th>
      <td>{[names.first_name, names.last_name].filter((name) => name !== null).join(' ')}</td>
      <td>{email}</td>
      <td>{groups.map(({ name }) => name).join(', ')}</td>
    </tr>
  );
}

interface CardProps {
  language: Language;
  /** Null: a new one. */
  contact: Contact | null;
  form: Form;
  fault: Fault | null;
  manages: boolean;
  saved: boolean;
}

export function Card({ language, contact, form, fault, manages, saved }: CardProps) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      {saved && fault === null ? (
        <p class="notice" role="status">
          {say.saved}
        </p>
      ) : null}
      <form method="post" class="stack" noValidate>
        <fieldset class="stack" disabled={!manages}>
          <legend class="visually-hidden">{say.details}</legend>
          <Inputs {...{ language, form, fault }} />
          {manages ? <button>{say.save}</button> : null}
        </fieldset>
      </form>
      {contact === null ? null : (
        <section>
          <p class="hint">
            {say.changed}: {moment(language, new Date(contact.updated_at))}
          </p>
          {manages ? (
            <Act
              name={contact.msisdn}
              open={say.remove}
              text={say.removeText}
              act={say.removeNow}
              to={`${PATH}/${contact.id}/delete`}
            />
          ) : null}
        </section>
      )}
      <p>
        <a href={PATH}>{say.back}</a>
      </p>
    </>
  );
}

function Inputs({ language, form, fault }: { language: Language; form: Form; fault: Fault | null }) {
  const say = words[language];
  return (
    <>
      <Field
        {...{ name: 'msisdn', label: say.numberLabel, hint: say.numberHint, fault, value: form.msisdn }}
        type="tel"
        required
      />
      <Field {...{ name: 'first_name', label: say.firstName, fault, value: form.first_name }} />
      <Field {...{ name: 'last_name', label: say.lastName, fault, value: form.last_name }} />
      <Field {...{ name: 'email', label: say.email, fault, value: form.email }} type="email" />
      <TextArea
        {...{ name: 'groups', label: say.groupsLabel, hint: say.groupsHint, fault }}
        value={form.groups}
      />
      <fieldset id="fields" class="stack">
        <legend>{say.fields}</legend>
        {fault?.field === 'fields' ? <p class="fault">{fault.text}</p> : null}
        <span class="hint">{say.fieldsHint}</span>
        {Object.entries(form.fields).map(([key, value]) => (
          <Field name={`fields.${key}`} label={key} value={value} />
        ))}
        <Field {...{ name: 'new_key', label: say.newKey, hint: say.newKeyHint, value: form.newKey }} />
        <Field {...{ name: 'new_value', label: say.newValue, value: form.newValue }} />
      </fieldset>
    </>
  );
}
