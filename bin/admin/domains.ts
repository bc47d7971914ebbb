import type { DomainView } from '../../operations/email/domains/find.ts';
import { recordsOf } from '../../domain/email/domainStates.ts';
import { command, required, type Shown } from './command.ts';
import { accountId, text } from './values.ts';

const NAME_MAX = 1_000;
const account = required('ID', 'the account', accountId);
const name = required('NAME', 'the domain, such as sklep.example', text.max(NAME_MAX, 'is too long'));

const add = command({
  name: 'domains add',
  about: 'Adds a sender domain to an account and shows the DNS records that its owner has to set.',
  options: { account, name },
  async ask(asking, input): Promise<Shown> {
    const { addDomain } = await import('../../operations/email/domains/add.ts');
    return shown(await addDomain({ ...asking, input }));
  },
});

const list = command({
  name: 'domains list',
  about: 'Lists the sender domains of an account with their DNS records.',
  options: { account },
  async ask(asking, input): Promise<Shown> {
    const { listDomains } = await import('../../operations/email/domains/list.ts');
    const data = (await listDomains({ ...asking, input })).map(recordOf);
    return { result: { data }, columns: ['id', 'name', 'status', 'is_default', 'checked_at'] };
  },
});

const check = command({
  name: 'domains check',
  about: 'Looks now whether the DNS records of a sender domain are there.',
  options: { account, name },
  async ask(asking, input, tools): Promise<Shown> {
    const { checkDomain } = await import('../../operations/email/domains/check.ts');
    const dnsServers = await tools.dnsServers();
    return shown(await checkDomain({ ...asking, input: { ...input, dnsServers } }));
  },
});

const remove = command({
  name: 'domains remove',
  about: 'Removes a sender domain: its name is free at once. E-mails that wait fail and are refunded.',
  options: { account, name },
  async ask(asking, input): Promise<Shown> {
    const { removeDomain } = await import('../../operations/email/domains/remove.ts');
    const { id, name: removed, defaultName, leftAt } = await removeDomain({ ...asking, input });
    return {
      result: { id, name: removed, removed: true, default: defaultName, left_at: leftAt },
      ...(leftAt.length === 0 ? {} : { remark: 'Remove it by hand at the providers of these routes.' }),
    };
  },
});

const confirm = command({
  name: 'domains confirm',
  about: 'Answers for a sender domain: it is verified on every route from now on, whatever DNS says.',
  options: { account, name },
  async ask(asking, input): Promise<Shown> {
    const { confirmDomain } = await import('../../operations/email/domains/confirm.ts');
    return shown(await confirmDomain({ ...asking, input }));
  },
});

const setDefault = command({
  name: 'domains default',
  about: 'Makes a verified sender domain the one of e-mails that name no sender.',
  options: { account, name },
  async ask(asking, input): Promise<Shown> {
    const { setDefaultDomain } = await import('../../operations/email/domains/setDefault.ts');
    return shown(await setDefaultDomain({ ...asking, input }));
  },
});

/** With all records in one table, each once, for people. */
function shown(domain: DomainView): Shown {
  return { result: { ...recordOf(domain), records: recordsOf(domain.routes) } };
}

function recordOf(domain: DomainView): Record<string, unknown> {
  return {
    ...{ id: domain.id, name: domain.name, status: domain.status, is_default: domain.isDefault },
    ...{ confirmed_at: domain.confirmedAt, lost_at: domain.lostAt },
    ...{ checked_at: domain.checkedAt, created_at: domain.createdAt },
    routes: domain.routes.map(({ route, verified, problem, checkedAt, records }) => ({
      ...{ route, verified, problem, checked_at: checkedAt, records },
    })),
  };
}

export const domainCommands = [add, list, check, remove, confirm, setDefault];
