import { changeAccount, getAccount } from '../../api/account/account.ts';
import { extendBlacklist, listBlacklist, shortenBlacklist } from '../../api/blacklist.ts';
import { listSenders } from '../../api/senders.ts';
import { tool } from '../tool.ts';
import { getReport } from '../../api/reports.ts';

export const accountTools = [
  tool({
    name: 'get_account',
    title: 'Show the account',
    description:
      'Shows balance (grosze; 100 grosze = 1 PLN), prices, limits, default sender, sending hours, inbound number and keyword, and the scopes of the key. Call it first to learn what the account can do.',
    subsets: ['account'],
    endpoint: getAccount,
    reads: true,
  }),
  tool({
    name: 'list_senders',
    title: 'List sender names',
    description:
      'Lists the sender names that recipients may see; `current` is used when a send names none. New ones are registered by the operator, not here.',
    subsets: ['account'],
    endpoint: listSenders,
    reads: true,
  }),
  tool({
    name: 'set_default_sender',
    title: 'Set the default sender',
    description:
      'Makes one of the active senders of `list_senders` the default of later messages; null goes back to the default of the installation. Messages that exist keep theirs.',
    subsets: ['account'],
    endpoint: changeAccount,
    only: ['sender_name'],
    required: ['sender_name'],
    destroys: true,
    repeatable: true,
  }),
  tool({
    name: 'set_send_window',
    title: 'Set the sending hours',
    description:
      'Sets the default sending hours in Polish time, such as "08:00-20:00": messages outside of them wait for the next start. null removes them. Messages that exist keep their time.',
    subsets: ['account'],
    endpoint: changeAccount,
    only: ['send_window'],
    required: ['send_window'],
    destroys: true,
    repeatable: true,
  }),
  tool({
    name: 'set_inbound_keyword',
    title: 'Set the inbound keyword',
    description:
      'Sets the keyword by which replies are matched to the account: 2 to 10 letters or digits, unique on the platform. null gives it up; another account may then take it after 30 days.',
    subsets: ['account'],
    endpoint: changeAccount,
    only: ['inbound_prefix'],
    required: ['inbound_prefix'],
    destroys: true,
    repeatable: true,
  }),
  tool({
    name: 'list_blacklist',
    title: 'List blacklisted numbers',
    description:
      'Lists the numbers that get nothing from the account, sorted by number. A `reason` of "opt_out" means that the recipient opted out.',
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
    reads: true,
  }),
];
