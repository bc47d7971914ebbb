import { byColumnName } from '../../db/columnNames.ts';
import { listUnmatched, type UnmatchedReply } from '../../db/incoming/replies.ts';
import { command, optional, required, type Outcome, type Shown } from './command.ts';
import { keywordCommands } from './keywords.ts';
import { readNumber } from './msisdn.ts';
import { printable } from './printable.ts';
import { accountId, rows, text } from './values.ts';

const DEFAULT_ROWS = 50;
const account = required('ID', 'the account', accountId);

const enable = command({
  name: 'inbound enable',
  about: 'Lets an account receive replies on a number; several accounts may share one.',
  options: {
    account,
    number: required('NUMBER', 'the receiving number, E.164 or 9 digits (Polish)', text),
  },
  async ask(asking, { account, number }): Promise<Shown> {
    const msisdn = await readNumber('--number', number);
    const { enableInbound } = await import('../../operations/accounts/inbound.ts');
    const { keyword } = await enableInbound({ ...asking, input: { account, msisdn } });
    return { result: { account_id: account, inbound_number: msisdn, inbound_prefix: keyword } };
  },
});

const disable = command({
  name: 'inbound disable',
  about: 'Ends the receiving of replies; the keyword stays the account’s.',
  options: { account },
  async ask(asking, input): Promise<Shown> {
    const { disableInbound } = await import('../../operations/accounts/inbound.ts');
    await disableInbound({ ...asking, input });
    return { result: { account_id: input.account, inbound_number: null } };
  },
});

const unmatched = command({
  name: 'inbound unmatched',
  about: 'Lists the replies that belong to no account, newest first.',
  options: { limit: optional('N', `replies shown; default: ${DEFAULT_ROWS}`, rows) },
  async run(sql, values): Promise<Outcome> {
    const replies = await listUnmatched(sql, values.limit ?? DEFAULT_ROWS);
    return { result: { data: replies.map(shown) } };
  },
});

export const inboundCommands = [enable, disable, unmatched, ...keywordCommands];

function shown(reply: UnmatchedReply): Record<string, unknown> {
  return byColumnName({
    ...reply,
    from: printable(reply.from),
    to: reply.to === null ? null : printable(reply.to),
    text: printable(reply.text),
  });
}
