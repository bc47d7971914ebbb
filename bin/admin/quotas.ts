import { readMessageUsage, readQuotas, readUsage, setQuotas } from '../../db/accounts/quotas.ts';
import type { Sql } from '../../db/connection.ts';
import { databaseNow } from '../../db/maintenance/positions.ts';
import { templateUsage } from '../../db/messages/templates.ts';
import { QUOTA_NAMES, type QuotaName, QUOTAS, type Quotas, quotasOf } from '../../domain/quotas.ts';
import { command, optional, required, type Outcome, type Values } from './command.ts';
import { findAccount, holdAccount } from './lookup.ts';
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
  scheduledMessages: quota('scheduled_messages'),
  links: quota('links'),
  unpaidMessages: quota('unpaid_messages'),
};

const OPTION_OF: Readonly<Record<QuotaName, keyof Values<typeof options>>> = {
  contacts: 'contacts',
  contact_bytes: 'contactBytes',
  groups: 'groups',
  memberships: 'memberships',
  templates: 'templates',
  template_bytes: 'templateBytes',
  blacklist: 'blacklist',
  scheduled_messages: 'scheduledMessages',
  links: 'links',
  unpaid_messages: 'unpaidMessages',
};

const quotas = command({
  name: 'accounts quotas',
  about: 'Shows how much an account may keep and keeps, or changes what it may.',
  options,
  async run(sql, values): Promise<Outcome> {
    const named = QUOTA_NAMES.filter((name) => values[OPTION_OF[name]] !== undefined);
    if (named.length === 0) await findAccount(sql, values.account);
    else await holdAccount(sql, values.account);
    const before = await readQuotas(sql, values.account);
    const after = { ...before };
    for (const name of named) {
      const said = values[OPTION_OF[name]] as number | null;
      if (said === null) delete after[name];
      else after[name] = said;
    }
    if (named.length > 0) await setQuotas(sql, values.account, after);
    const [from, to] = [quotasOf(before), quotasOf(after)];
    const changes = Object.fromEntries(named.map((name) => [name, { from: from[name], to: to[name] }]));
    return {
      result: { account_id: values.account, quotas: await shownQuotas(sql, values.account) },
      account: values.account,
      details: named.length === 0 ? {} : { changes },
    };
  },
});

export const quotaCommands = [quotas];

/** What an account may keep and keeps, by quota; scheduled and unpaid messages are counted up to their quota. */
export async function shownQuotas(
  sql: Sql,
  account: string,
): Promise<Record<QuotaName, { limit: number; used: number }>> {
  const { limits, used } = await readUsage(sql, account);
  const all: Quotas = {
    ...used,
    ...(await templateUsage(sql, account)),
    ...(await readMessageUsage(sql, account, limits, await databaseNow(sql))),
  };
  const shown = QUOTA_NAMES.map((name) => [name, { limit: limits[name], used: all[name] }]);
  return Object.fromEntries(shown) as Record<QuotaName, { limit: number; used: number }>;
}
