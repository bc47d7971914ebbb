import { listUnmatched, type UnmatchedReply } from '../../db/incoming/replies.ts';
import { setInboundNumber } from '../../db/incoming/inbound.ts';
import { command, optional, required, type Outcome } from './command.ts';
import { keywordCommands } from './keywords.ts';
import { holdAccount, requireOpen } from './lookup.ts';
import { refused } from './problems.ts';
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
  async run(sql, values): Promise<Outcome> {
    const { number, masked, mask } = await readNumber('--number', values.number);
    const before = await holdAccount(sql, values.account);
    requireOpen(before);
    await setInboundNumber(sql, before.id, number);
    return {
      result: { account_id: before.id, inbound_number: number, inbound_prefix: before.inbound_prefix },
      account: before.id,
      subject: masked,
      details: { from: before.inbound_number === null ? null : mask(before.inbound_number) },
    };
  },
});

const disable = command({
  name: 'inbound disable',
  about: 'Ends the receiving of replies; the keyword stays the account’s.',
  options: { account },
  async run(sql, values): Promise<Outcome> {
    const before = await holdAccount(sql, values.account);
    if (before.inbound_number === null) throw refused(`The account ${before.id} receives no replies.`);
    const { masked } = await readNumber('--number', before.inbound_number);
    await setInboundNumber(sql, before.id, null);
    return { result: { account_id: before.id, inbound_number: null }, account: before.id, subject: masked };
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

function shown(reply: UnmatchedReply): UnmatchedReply {
  return {
    ...reply,
    from: printable(reply.from),
    to: reply.to === null ? null : printable(reply.to),
    text: printable(reply.text),
  };
}
