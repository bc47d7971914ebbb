import { changeAccount, getAccount } from '../../api/account/account.ts';
import { extendBlacklist, listBlacklist, shortenBlacklist } from '../../api/blacklist.ts';
import { listSenders } from '../../api/senders.ts';
import { dayLimitsOf, readToolDay } from '../../operations/quotas.ts';
import type { ToolCall } from '../toolCall.ts';
import { localTime } from '../present.ts';
import { CURSOR, tool } from '../tool.ts';
import { getReport } from '../../api/reports.ts';

/** What `get_account` has beside the account: the time, and what the key may still do today. */
async function accountToday(call: ToolCall) {
  const { confirmAbove } = call;
  const most = dayLimitsOf(confirmAbove);
  const today = await readToolDay(call);
  const now = Date.now();
  return {
    now: new Date(now).toISOString(),
    now_local: localTime(now),
    tool_confirm_recipients: confirmAbove.recipients,
    tool_confirm_grosze: confirmAbove.costGrosze,
    unconfirmed_recipients_left_today: Math.max(most.recipients - today.unconfirmedRecipients, 0),
    unconfirmed_grosze_left_today: Math.max(most.costGrosze - today.unconfirmedGrosze, 0),
    tool_budget_grosze: today.budgetGrosze,
    tool_budget_left_grosze:
      today.budgetGrosze === null ? null : Math.max(today.budgetGrosze - today.spentGrosze, 0),
  };
}

export const accountTools = [
  tool({
    name: 'get_account',
    title: 'Show the account',
    description:
      'Shows the time now, balance (grosze; 100 grosze = 1 PLN), prices, limits, default sender, sending hours, inbound number and keyword, the scopes of the key, its budget, and beyond what a send is confirmed. Call it first.',
    subsets: ['account'],
    endpoint: getAccount,
    reads: true,
    more: accountToday,
  }),
  tool({
    name: 'list_senders',
    title: 'List sender names',
    description:
      'Lists the sender names that recipients may see; `current` is used when a send names none. New ones are registered by the operator, not here.',
    subsets: ['account'],
    endpoint: listSenders,
    extraArguments: CURSOR,
    reads: true,
  }),
  tool({
    name: 'set_default_sender',
    title: 'Set the default sender',
    description:
      'Makes one of the active senders of `list_senders` the default of later messages; "" goes back to the default of the installation.',
    subsets: ['account'],
    endpoint: changeAccount,
    only: ['sender_name'],
    texts: { sender_name: 'An active sender, or "".' },
    required: ['sender_name'],
    destroys: true,
    repeatable: true,
  }),
  tool({
    name: 'set_send_window',
    title: 'Set the sending hours',
    description:
      'Sets the default sending hours in Polish time, such as "08:00-20:00": messages outside of them wait for the next start. "" removes them.',
    subsets: ['account'],
    endpoint: changeAccount,
    only: ['send_window'],
    texts: { send_window: '`HH:MM-HH:MM`, or "".' },
    required: ['send_window'],
    destroys: true,
    repeatable: true,
  }),
  tool({
    name: 'set_inbound_keyword',
    title: 'Set the inbound keyword',
    description:
      'Sets the keyword by which replies are matched to the account: 2 to 10 letters or digits, unique on the platform. "" gives it up; another account may then take it after 30 days.',
    subsets: ['account'],
    endpoint: changeAccount,
    only: ['inbound_prefix'],
    texts: { inbound_prefix: 'The keyword, or "".' },
    required: ['inbound_prefix'],
    destroys: true,
    repeatable: true,
  }),
  tool({
    name: 'list_blacklist',
    title: 'List blacklisted numbers',
    description:
      'Lists the numbers that get nothing from the account, sorted by number, of one `reason` ("opt_out": the recipient opted out) or period.',
    subsets: ['account'],
    endpoint: listBlacklist,
    reads: true,
  }),
  tool({
    name: 'add_to_blacklist',
    title: 'Block numbers',
    description:
      'Puts one number (`msisdn`) or up to 1000 (`msisdns`) on the blacklist, until `expires_at` or for good: they get no more messages. Use it when somebody asks not to be written to. An entry that is there, also an opt-out, takes the new reason and end.',
    subsets: ['account'],
    endpoint: extendBlacklist,
    counts: ['added'],
    destroys: true,
    repeatable: true,
  }),
  tool({
    name: 'remove_from_blacklist',
    title: 'Unblock a number',
    description:
      'Takes a number off the blacklist, so that it gets messages again. Do not do this for somebody who opted out unless they asked for it themselves.',
    subsets: ['account'],
    endpoint: shortenBlacklist,
    deletes: { field: 'msisdn', question: 'Let messages go to this number again?' },
    destroys: true,
    repeatable: true,
  }),
];

export const reportTools = [
  tool({
    name: 'get_report',
    title: 'Report over a period',
    description:
      'Adds up messages, parts, costs, deliveries, replies and clicks over a period of Polish calendar days, by day or as asked in `group_by`. Money is in grosze net. For single messages use `list_messages`.',
    subsets: ['reports'],
    endpoint: getReport,
    texts: {
      from: 'First Polish day, YYYY-MM-DD; left out, 30 days before `to`.',
      to: 'Last Polish day, included; left out, today.',
      group_by: 'What a row stands for.',
      country: 'ISO 3166-1 alpha-2.',
      limit: 'Rows at most, unless by time; the others are in `rest`.',
    },
    reads: true,
  }),
];
