import type { Contact } from '../contacts/view.tsx';
import type { Fault } from '../ask.ts';
import { count, type Language, moment } from '../language.ts';
import { Act, Field, Hidden, isFiltered, Listing, NameFilter, Summary, TextArea } from '../parts.tsx';
import { words } from './words.ts';

interface ShownGroup {
  id: string;
  name: string;
  members: number;
}

interface ListProps {
  language: Language;
  query: URLSearchParams;
  groups: readonly (ShownGroup & { createdAt: Date })[];
  next: string | null;
  /** Of a new one, as it was typed. */
  name: string;
  fault: Fault | null;
  /** Whether the person may change groups. */
  manages: boolean;
}

const PATH = '/panel/contacts/groups';

export function List({ language, query, groups, next, name, fault, manages }: ListProps) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.lead}</p>
      <NameFilter {...{ language, query, next }} path={PATH} />
      <Listing
        {...{ language, query, next }}
        path={PATH}
        label={say.heading}
        columns={say.columns}
        rows={groups.map((group) => (
          <tr>
            <th scope="row">
              <a href={`${PATH}/${group.id}`}>{group.name}</a>
            </th>
            <td>{count(language, group.members)}</td>
            <td>{moment(language, group.createdAt)}</td>
          </tr>
        ))}
        none={isFiltered(query) ? say.noneFound : say.none}
      />
      {manages ? (
        <section>
          <h2>{say.create}</h2>
          <form method="post" action={PATH} class="stack" noValidate>
            <Field {...{ name: 'name', label: say.name, hint: say.nameHint, fault, value: name }} required />
            <button>{say.make}</button>
          </form>
        </section>
      ) : null}
      <p>
        <a href="/panel/contacts">{say.contacts}</a>
      </p>
    </>
  );
}

/** What was sent about a group, and what became of it. */
export interface Typed {
  name?: string;
  numbers?: string;
  fault?: Fault | null;
  added?: { added: number; invalid: readonly string[] };
}

interface GroupProps {
  language: Language;
  query: URLSearchParams;
  group: ShownGroup;
  members: readonly Contact[];
  next: string | null;
  typed: Typed;
  manages: boolean;
}

export function Group({ language, query, group, members, next, typed, manages }: GroupProps) {
  const say = words[language];
  const path = `${PATH}/${group.id}`;
  return (
    <>
      <Summary language={language} fault={typed.fault ?? null} />
      <Added language={language} added={typed.added} />
      <section>
        <h2>
          {say.members}: {count(language, group.members)}
        </h2>
        <Listing
          {...{ language, query, next, path }}
          label={say.members}
          columns={say.memberColumns}
          rows={members.map((contact) => (
            <Member {...{ language, path, contact, manages }} />
          ))}
          none={say.noMembers}
        />
        <ul class="rows links">
          {manages ? (
            <li>
              <a href={`/panel/send?groups=${group.id}`}>{say.send}</a>
            </li>
          ) : null}
          <li>
            <a href={`/panel/contacts/export?group_id=${group.id}`}>{say.export}</a>
          </li>
        </ul>
      </section>
      {manages ? <Changes {...{ language, path, group, typed }} /> : null}
      <p>
        <a href={PATH}>{say.back}</a>
      </p>
    </>
  );
}

function Added({ language, added }: { language: Language; added: Typed['added'] }) {
  if (added === undefined) return null;
  const say = words[language];
  return (
    <div class="notice" role="status">
      <p>{say.added(count(language, added.added))}</p>
      {added.invalid.length === 0 ? null : (
        <p>
          {say.invalid} {added.invalid.join(', ')}
        </p>
      )}
    </div>
  );
}

interface MemberProps {
  language: Language;
  /** Of the group. */
  path: string;
  contact: Contact;
  manages: boolean;
}

function Member({ language, path, contact: { id, msisdn, ...names }, manages }: MemberProps) {
  return (
    <tr>
      <th scope="row">
        <a href={`/panel/contacts/${id}`}>{msisdn}</a>
      </th>
      <td>{[names.first_name, names.last_name].filter((name) => name !== null).join(' ')}</td>
      <td>
        {manages ? (
          <form method="post" action={`${path}/take-out`}>
            <Hidden fields={{ contact: id }} />
            <button class="second">
              {words[language].takeOut}
              <span class="visually-hidden"> {msisdn}</span>
            </button>
          </form>
        ) : null}
      </td>
    </tr>
  );
}

interface ChangesProps {
  language: Language;
  path: string;
  group: ShownGroup;
  typed: Typed;
}

function Changes({
  language,
  path,
  group,
  typed: { name = group.name, numbers, fault = null },
}: ChangesProps) {
  const say = words[language];
  return (
    <>
      <section>
        <h2>{say.add}</h2>
        <form method="post" action={`${path}/add`} class="stack" noValidate>
          <TextArea
            {...{ name: 'msisdns', label: say.numbers, hint: say.numbersHint, fault }}
            value={numbers}
          />
          <button>{say.addNow}</button>
        </form>
      </section>
      <section>
        <h2>{say.rename}</h2>
        <form method="post" action={path} class="stack" noValidate>
          <Field {...{ name: 'name', label: say.name, hint: say.nameHint, fault, value: name }} required />
          <button>{say.rename}</button>
        </form>
        <Act
          name={group.name}
          open={say.remove}
          text={say.removeText}
          act={say.removeNow}
          to={`${path}/delete`}
        />
      </section>
    </>
  );
}
