import { listSenderDetails } from '../../db/accounts/staff.ts';
import { byColumnName } from '../../db/columnNames.ts';
import { isSenderName } from '../../domain/senders.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { addSender, removeSender } from '../../operations/accounts/senders.ts';
import { command, required, type Outcome, type Shown } from './command.ts';
import { accountId, text } from './values.ts';

const account = required('ID', 'the account', accountId);
const senderName = text.refine(
  isSenderName,
  'a sender has 1 to 11 letters, digits, spaces or . & _ - with a letter among them, or 3 to 15 digits',
);

const add = command({
  name: 'senders add',
  about: 'Adds an active sender to an account; one removed before becomes active again.',
  options: { account, name: required('NAME', 'the sender', senderName) },
  async ask(asking, input): Promise<Shown> {
    await addSender({ ...asking, input });
    return { result: { account_id: input.account, name: input.name, active: true } };
  },
});

const remove = command({
  name: 'senders remove',
  about: 'Makes a sender inactive; the default sender is none then, if it was this one.',
  options: { account, name: required('NAME', 'the sender', text) },
  async ask(asking, input): Promise<Shown> {
    await removeSender({ ...asking, input });
    return { result: { account_id: input.account, name: input.name, active: false } };
  },
});

const list = command({
  name: 'senders list',
  about: 'Lists the senders of an account, inactive ones too.',
  options: { account },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: (await listSenderDetails(sql, id)).map(byColumnName) }, account: id };
  },
});

export const senderCommands = [add, remove, list];
