import { changeContact, deleteContact, getContact, listContacts } from '../../api/contacts/contacts.ts';
import { saveContacts } from '../../api/contacts/import.ts';
import { listGroups, readGroup } from '../../db/contacts/groups.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { ask, askForCsv, attempt, type Fault, filled } from '../ask.ts';
import { offered, SHOWN_MAX } from '../byName.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Card, type Contact, type Form, List } from './view.tsx';
import { words } from './words.ts';

const FILTERS = ['q', 'group_id'] as const;
const CUSTOM = 'fields.';
// 20 custom fields and 100 names of groups, percent-encoded.
const FORM_BYTES = 96 * 1024;

async function list(visit: MemberVisit): Promise<Answer> {
  const { services, account, language, query, caller } = visit;
  const asked = ask(visit, listContacts, { query: filled(query, [...FILTERS, 'cursor']) });
  const { answer, fault } = await attempt(language, asked);
  const [first, chosen] = await Promise.all([
    listGroups(services.sql, account.id, { limit: SHOWN_MAX }),
    readGroup(services.sql, account.id, query.get('group_id') ?? ''),
  ]);
  const view = (
    <List
      {...{ language, query, fault }}
      groups={offered(first, chosen)}
      contacts={answer?.data ?? []}
      next={answer?.next_cursor ?? null}
      manages={caller.scopes.includes('manage')}
    />
  );
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

function blank({ language }: MemberVisit, form: Form = formOf(null), fault: Fault | null = null): Answer {
  const view = <Card {...{ language, form, fault }} contact={null} manages={true} saved={false} />;
  return { status: fault === null ? 200 : 422, title: words[language].add, view };
}

async function card(visit: MemberVisit, typed?: Form, fault: Fault | null = null): Promise<Answer> {
  const { language, params, query, caller } = visit;
  const contact = await ask(visit, getContact, { params });
  const form = typed ?? formOf(contact);
  const manages = caller.scopes.includes('manage');
  const view = <Card {...{ language, contact, form, fault, manages }} saved={query.has('saved')} />;
  return { status: fault === null ? 200 : 422, title: nameOf(contact), view };
}

function nameOf({ first_name: first, last_name: last, msisdn }: Contact): string {
  return [first, last].filter((name) => name !== null).join(' ') || msisdn;
}

function formOf(contact: Contact | null): Form {
  return {
    msisdn: contact?.msisdn ?? '',
    first_name: contact?.first_name ?? '',
    last_name: contact?.last_name ?? '',
    email: contact?.email ?? '',
    groups: (contact?.groups ?? []).map(({ name }) => name).join('\n'),
    fields: contact?.fields ?? {},
    newKey: '',
    newValue: '',
  };
}

function typedForm({ form }: MemberVisit): Form {
  const text = (name: string): string => form.get(name) ?? '';
  const custom = [...form].filter(([name]) => name.startsWith(CUSTOM));
  return {
    msisdn: text('msisdn').trim(),
    first_name: text('first_name'),
    last_name: text('last_name'),
    email: text('email'),
    groups: text('groups'),
    fields: Object.fromEntries(custom.map(([name, value]) => [name.slice(CUSTOM.length), value])),
    newKey: text('new_key').trim(),
    newValue: text('new_value'),
  };
}

/** The form as the API takes it. */
function bodyOf({ groups, fields, newKey, newValue, ...texts }: Form): object {
  const names = groups.split('\n').map((name) => name.trim());
  const added = newKey === '' && newValue.trim() === '' ? {} : { [newKey]: newValue };
  return { ...texts, groups: names.filter((name) => name !== ''), fields: { ...fields, ...added } };
}

async function add(visit: MemberVisit): Promise<Answer> {
  const form = typedForm(visit);
  const { answer, fault } = await attempt(visit.language, ask(visit, saveContacts, { body: bodyOf(form) }));
  if (fault !== null) return blank(visit, form, fault);
  return { to: 'id' in answer ? `/panel/contacts/${answer.id}?saved` : '/panel/contacts' };
}

async function change(visit: MemberVisit): Promise<Answer> {
  const { language, params } = visit;
  const form = typedForm(visit);
  const { fault } = await attempt(language, ask(visit, changeContact, { params, body: bodyOf(form) }));
  return fault === null ? { to: `${visit.path}?saved` } : card(visit, form, fault);
}

export const contactRoutes = [
  accountPage('/panel/contacts', ROLES, { get: list }),
  accountPage('/panel/contacts/export', ROLES, {
    get: (visit) => askForCsv(visit, listContacts, { query: filled(visit.query, FILTERS) }),
  }),
  accountPage('/panel/contacts/new', MANAGERS, {
    get: (visit) => blank(visit),
    post: add,
    formBytes: FORM_BYTES,
  }),
  accountPage('/panel/contacts/:id', ROLES, { get: (visit) => card(visit) }),
  accountPage('/panel/contacts/:id', MANAGERS, { post: change, formBytes: FORM_BYTES }),
  accountPage('/panel/contacts/:id/delete', MANAGERS, {
    async post(visit) {
      await ask(visit, deleteContact, { params: visit.params });
      return { to: '/panel/contacts' };
    },
  }),
];
