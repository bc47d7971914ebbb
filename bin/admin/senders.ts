import { activateSender, deactivateSender, listOperatorSenders } from '../../db/accounts/operators.ts';
import { isSenderName } from '../../domain/senders.ts';
import { command, required, type Outcome } from './command.ts';
import { findAccount, holdAccount } from './lookup.ts';
import { notFound } from './problems.ts';
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
  async run(sql, values): Promise<Outcome> {
    const { id } = await holdAccount(sql, values.account);
    await activateSender(sql, id, values.name);
    return { result: { account_id: id, name: values.name, active: true }, account: id, subject: values.name };
  },
});

const remove = command({
  name: 'senders remove',
  about: 'Makes a sender inactive; the default sender is none then, if it was this one.',
  options: { account, name: required('NAME', 'the sender', text) },
  async run(sql, values): Promise<Outcome> {
    const { id, sender_name: current } = await holdAccount(sql, values.account);
    if (!(await deactivateSender(sql, id, values.name))) {
      throw notFound(`The account ${id} has no active sender of this name.`);
    }
    return {
      result: { account_id: id, name: values.name, active: false },
      account: id,
      subject: values.name,
      details: { was_default: current === values.name },
    };
  },
});

const list = command({
  name: 'senders list',
  about: 'Lists the senders of an account, inactive ones too.',
  options: { account },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: await listOperatorSenders(sql, id) }, account: id };
  },
});

export const senderCommands = [add, remove, list];
