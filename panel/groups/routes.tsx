import { listContacts } from '../../api/contacts/contacts.ts';
import {
  addGroupContacts,
  createGroup,
  deleteGroup,
  getGroup,
  removeGroupContact,
  renameGroup,
} from '../../api/groups.ts';
import { listGroups } from '../../db/contacts/groups.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { ask, attempt, type Fault, filled } from '../ask.ts';
import { byName } from '../byName.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Group, List, type Typed } from './view.tsx';
import { words } from './words.ts';

// 500 numbers, percent-encoded.
const NUMBERS_BYTES = 32 * 1024;
const idOf = ({ params }: MemberVisit): string => params['id'] ?? '';

async function list(visit: MemberVisit, name = '', fault: Fault | null = null): Promise<Answer> {
  const { services, account, language, query, caller } = visit;
  const { page: groups, next } = await byName(query, (page) => listGroups(services.sql, account.id, page));
  const manages = caller.scopes.includes('manage');
  const view = <List {...{ language, query, groups, next, name, fault, manages }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

async function create(visit: MemberVisit): Promise<Answer> {
  const body = { name: visit.form.get('name') ?? '' };
  const { answer, fault } = await attempt(visit.language, ask(visit, createGroup, { body }));
  return fault === null ? { to: `/panel/contacts/groups/${answer.id}` } : list(visit, body.name, fault);
}

async function group(visit: MemberVisit, typed: Typed = {}): Promise<Answer> {
  const { language, params, query, caller } = visit;
  const found = await ask(visit, getGroup, { params });
  const { data: members, next_cursor: next } = await ask(visit, listContacts, {
    query: { group_id: found.id, ...filled(query, ['cursor']) },
  });
  const manages = caller.scopes.includes('manage');
  const view = <Group {...{ language, query, group: found, members, next, typed, manages }} />;
  return { status: (typed.fault ?? null) === null ? 200 : 422, title: found.name, view };
}

async function rename(visit: MemberVisit): Promise<Answer> {
  const { language, params, form } = visit;
  const body = { name: form.get('name') ?? '' };
  const { fault } = await attempt(language, ask(visit, renameGroup, { params, body }));
  return fault === null ? { to: visit.path } : group(visit, { name: body.name, fault });
}

async function addNumbers(visit: MemberVisit): Promise<Answer> {
  const { language, params, form } = visit;
  const numbers = form.get('msisdns') ?? '';
  const msisdns = numbers.split(/[\n,;]/).map((number) => number.trim());
  const body = { msisdns: msisdns.filter((number) => number !== '') };
  const { answer, fault } = await attempt(language, ask(visit, addGroupContacts, { params, body }));
  return fault === null ? group(visit, { added: answer }) : group(visit, { numbers, fault });
}

export const groupRoutes = [
  accountPage('/panel/contacts/groups', ROLES, { get: (visit) => list(visit) }),
  accountPage('/panel/contacts/groups', MANAGERS, { post: create }),
  accountPage('/panel/contacts/groups/:id', ROLES, { get: (visit) => group(visit) }),
  accountPage('/panel/contacts/groups/:id', MANAGERS, { post: rename }),
  accountPage('/panel/contacts/groups/:id/add', MANAGERS, { post: addNumbers, formBytes: NUMBERS_BYTES }),
  accountPage('/panel/contacts/groups/:id/take-out', MANAGERS, {
    async post(visit) {
      const { params, form } = visit;
      await ask(visit, removeGroupContact, { params: { ...params, contactId: form.get('contact') ?? '' } });
      return { to: `/panel/contacts/groups/${idOf(visit)}` };
    },
  }),
  accountPage('/panel/contacts/groups/:id/delete', MANAGERS, {
    async post(visit) {
      await ask(visit, deleteGroup, { params: visit.params });
      return { to: '/panel/contacts/groups' };
    },
  }),
];
