import { addSuppressions, listSuppressions, removeSuppression } from '../../api/email/suppressions.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { INTERFACE } from '../../domain/ids.ts';
import { ask, attempt, type Fault, filled } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Suppressions } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/emails/suppressions';
// 1,000 addresses, percent-encoded.
const FORM_BYTES = 512 * 1024;
const listed = listSuppressions(INTERFACE);
const adding = addSuppressions(INTERFACE);
const removal = removeSuppression(INTERFACE);

async function page(visit: MemberVisit, addresses = '', fault: Fault | null = null): Promise<Answer> {
  const { language, query, caller } = visit;
  const { data } = await ask(visit, listed, { query: filled(query, ['reason', 'cursor']) });
  const { suppressions, next_cursor: next } = data;
  const manages = caller.scopes.includes('manage');
  const view = <Suppressions {...{ language, query, suppressions, next, addresses, fault, manages }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

async function add(visit: MemberVisit): Promise<Answer> {
  const typed = visit.form.get('addresses') ?? '';
  const addresses = typed.split(/[\n,;]/).map((address) => address.trim());
  const body = { addresses: addresses.filter((address) => address !== '') };
  const { fault } = await attempt(visit.language, ask(visit, adding, { body }));
  return fault === null ? { to: PATH } : page(visit, typed, fault);
}

export const suppressionRoutes = [
  accountPage(PATH, ROLES, { get: (visit) => page(visit) }),
  accountPage(PATH, MANAGERS, { post: add, formBytes: FORM_BYTES }),
  accountPage(`${PATH}/remove`, MANAGERS, {
    async post(visit) {
      await ask(visit, removal, { params: { address: visit.form.get('address') ?? '' } });
      return { to: PATH };
    },
  }),
];
