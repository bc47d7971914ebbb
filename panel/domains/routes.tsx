import { MANAGERS, ROLES } from '../../domain/actor.ts';
import {
  addDomain,
  checkDomain,
  type DomainView,
  removeDomain,
  setDefaultDomain,
  viewDomains,
} from '../../operations/email/domains/manage.ts';
import { staffServices } from '../../operations/staff.ts';
import { attempt, type Fault, requireActive } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { Domains } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/emails/domains';

async function page(visit: MemberVisit, name = '', fault: Fault | null = null): Promise<Answer> {
  const { services, account, language, caller } = visit;
  const domains = await viewDomains(services.sql, account.id);
  const manages = caller.scopes.includes('manage');
  const view = <Domains {...{ language, domains, name, fault, manages }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

/** The request of an operation that staff and people may ask for, about a domain of the account. */
function asking({ services, caller, account }: MemberVisit, name: string) {
  const input = { account: account.id, name, dnsServers: services.settings.DNS_SERVERS ?? null };
  return { services: staffServices(services), actor: caller.actor, request: caller, input };
}

type Asking = ReturnType<typeof asking>;

/** Asks an operation about a domain, and shows what became of it or why it is refused. */
async function change(
  visit: MemberVisit,
  name: string,
  operation: (asking: Asking) => Promise<unknown>,
): Promise<Answer> {
  requireActive(visit);
  // It generates a key, or asks DNS and providers.
  visit.acquireHeavySlot();
  const { fault } = await attempt(visit.language, operation(asking(visit, name)));
  return fault === null ? { to: PATH } : page(visit, name, fault);
}

async function remove(visit: MemberVisit, asked: Asking): Promise<void> {
  const { id, leftAt } = await removeDomain(asked);
  if (leftAt.length > 0) visit.services.log.warn({ domain: id, routes: leftAt }, 'providers keep a domain');
}

/** Declares an act on one of the account's domains. */
function act(path: string, operation: (asking: Asking, visit: MemberVisit) => Promise<unknown>) {
  return accountPage(`${PATH}/:id/${path}`, MANAGERS, {
    async post(visit) {
      const domains: DomainView[] = await viewDomains(visit.services.sql, visit.account.id);
      const domain = domains.find(({ id }) => id === visit.params['id']);
      if (domain === undefined) return problemPage(visit, 404);
      return change(visit, domain.name, (asked) => operation(asked, visit));
    },
  });
}

export const domainRoutes = [
  accountPage(PATH, ROLES, { get: (visit) => page(visit) }),
  accountPage(PATH, MANAGERS, {
    post: (visit) => change(visit, visit.form.get('name')?.trim() ?? '', addDomain),
  }),
  act('check', checkDomain),
  act('default', setDefaultDomain),
  act('remove', (asked, visit) => remove(visit, asked)),
];
