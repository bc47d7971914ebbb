import { listEmailsForStaff } from '../db/emails/reads.ts';
import { recordsOf } from '../domain/email/domainStates.ts';
import { EMAIL_STATUSES } from '../domain/email/statuses.ts';
import {
  addDomain,
  type DomainView,
  listDomains,
  removeDomain,
  setDefaultDomain,
} from '../operations/email/domains/manage.ts';
import { command, optional, required, type Shown, shown } from './command.ts';
import { account, emailId, inFull, limit, oneOf, text } from './values.ts';
import { viewShown } from './workflows.ts';

const NAME_MAX = 1_000;
const name = required('--name <NAME>', 'such as sklep.example', text.max(NAME_MAX, 'is too long'));

export const emailCommands = [
  command({
    name: 'emails show',
    about: 'Shows one e-mail’s way, from its request to its webhooks; never its subject or contents.',
    options: {
      id: required('<ID>', 'the e-mail', emailId),
      addresses: inFull('--addresses', 'with its addresses in full'),
    },
    outside: true,
    async run(sql, input, tools) {
      const { viewEmail } = await import('../operations/support/emailView.ts');
      const { data, ...record } = await viewEmail({ sql, temporal: () => tools.temporal() }, input);
      return { ...viewShown(data), ...record };
    },
  }),
  command({
    name: 'emails list',
    about: 'Lists the e-mails of an account, newest first.',
    options: {
      account,
      status: optional('--status <STATUS>', EMAIL_STATUSES.join(', '), oneOf(...EMAIL_STATUSES)),
      limit: limit(50),
    },
    async run(sql, { account: accountId, status = null, limit }) {
      const found = await listEmailsForStaff(sql, { accountId, status }, limit);
      return shown({ data: found.map(({ errorCode: error, ...email }) => ({ ...email, error })) });
    },
  }),
  command({
    name: 'emails give-up',
    about: 'Ends an e-mail that waits or is unanswered as failed and refunds it; its recipients may have it.',
    options: { id: required('<ID>', 'the e-mail', emailId) },
    async ask(asking, input) {
      const { giveUpEmailForStaff } = await import('../operations/support/settle.ts');
      return shown({ id: input.id, ...(await giveUpEmailForStaff({ ...asking, input })) });
    },
  }),
  command({
    name: 'domains add',
    about: 'Adds a sender domain to an account and shows the DNS records that its owner has to set.',
    options: { account, name },
    ask: async (asking, input) => domainShown(await addDomain({ ...asking, input })),
  }),
  command({
    name: 'domains list',
    about: 'Lists the sender domains of an account with their DNS records.',
    options: { account },
    ask: async (asking, input) => ({
      result: { data: await listDomains({ ...asking, input }) },
      columns: ['id', 'name', 'status', 'is_default', 'checked_at'],
    }),
  }),
  command({
    name: 'domains check',
    about: 'Looks now whether the DNS records of a sender domain are there.',
    options: { account, name },
    async ask(asking, values, tools) {
      const { checkDomain } = await import('../operations/email/domains/manage.ts');
      const input = { ...values, dnsServers: await tools.dnsServers() };
      return domainShown(await checkDomain({ ...asking, input }));
    },
  }),
  command({
    name: 'domains remove',
    about: 'Removes a sender domain: its name is free at once. E-mails that wait fail and are refunded.',
    options: { account, name },
    async ask(asking, input) {
      const { id, name, defaultName, leftAt } = await removeDomain({ ...asking, input });
      return shown(
        { id, name, removed: true, default: defaultName, leftAt },
        leftAt.length === 0 ? null : 'Remove it by hand at the providers of these routes.',
      );
    },
  }),
  command({
    name: 'domains confirm',
    about: 'Answers for a sender domain: it is verified on every route from now on, whatever DNS says.',
    options: { account, name },
    async ask(asking, input) {
      const { confirmDomain } = await import('../operations/email/domains/manage.ts');
      return domainShown(await confirmDomain({ ...asking, input }));
    },
  }),
  command({
    name: 'domains default',
    about: 'Makes a verified sender domain the one of e-mails that name no sender.',
    options: { account, name },
    ask: async (asking, input) => domainShown(await setDefaultDomain({ ...asking, input })),
  }),
];

function domainShown(domain: DomainView): Shown {
  return shown({ ...domain, records: recordsOf(domain.routes) });
}
