import { QUOTA_NAMES, type QuotaName, QUOTAS } from '../../domain/quotas.ts';
import { changeQuotas } from '../../operations/accounts/quotas.ts';
import { command, optional, required, type Shown, type Values } from './command.ts';
import { accountId, orUsual, wholeNumber } from './values.ts';

const quota = (name: QuotaName) => {
  const { usual, max, about } = QUOTAS[name];
  return optional('N|usual', `${about}; usually ${usual}, at most ${max}`, orUsual(wholeNumber(0, max, '')));
};

const options = {
  account: required('ID', 'the account', accountId),
  contacts: quota('contacts'),
  contactBytes: quota('contact_bytes'),
  groups: quota('groups'),
  memberships: quota('memberships'),
  templates: quota('templates'),
  templateBytes: quota('template_bytes'),
  blacklist: quota('blacklist'),
  suppressions: quota('suppressions'),
  emailFileBytes: quota('email_file_bytes'),
  scheduledMessages: quota('scheduled_messages'),
  links: quota('links'),
  unpaidMessages: quota('unpaid_messages'),
  unpaidBytes: quota('unpaid_bytes'),
};

const OPTION_OF: Readonly<Record<QuotaName, Exclude<keyof Values<typeof options>, 'account'>>> = {
  contacts: 'contacts',
  contact_bytes: 'contactBytes',
  groups: 'groups',
  memberships: 'memberships',
  templates: 'templates',
  template_bytes: 'templateBytes',
  blacklist: 'blacklist',
  suppressions: 'suppressions',
  email_file_bytes: 'emailFileBytes',
  scheduled_messages: 'scheduledMessages',
  links: 'links',
  unpaid_messages: 'unpaidMessages',
  unpaid_bytes: 'unpaidBytes',
};

const quotas = command({
  name: 'accounts quotas',
  about: 'Shows how much an account may keep and keeps, or changes what it may.',
  options,
  async ask(asking, values): Promise<Shown> {
    const { account } = values;
    const kept = await changeQuotas({ ...asking, input: { account, changes: changesOf(values) } });
    return { result: { account_id: account, quotas: kept } };
  },
});

export const quotaCommands = [quotas];

function changesOf(values: Values<typeof options>): Partial<Record<QuotaName, number | null>> {
  const changes: Partial<Record<QuotaName, number | null>> = {};
  for (const name of QUOTA_NAMES) {
    const quota = values[OPTION_OF[name]];
    if (quota !== undefined) changes[name] = quota;
  }
  return changes;
}
