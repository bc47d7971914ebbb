import { listSenderDetails, listVerifiedNumbers } from '../../db/accounts/staff.ts';
import {
  addSender,
  forgetVerifiedNumber,
  removeSender,
  verifyNumber,
} from '../../operations/accounts/senders.ts';
import { command, required, shown } from './command.ts';
import { account, phoneNumber, senderName, text } from './values.ts';

const msisdn = required('--msisdn <NUMBER>', 'E.164 with or without plus, or 9 digits (Polish)', phoneNumber);

export const senderCommands = [
  command({
    name: 'senders add',
    about: 'Adds an active sender to an account; one removed before becomes active again.',
    options: { account, name: required('--name <NAME>', 'the sender', senderName) },
    async ask(asking, input) {
      await addSender({ ...asking, input });
      return shown({ accountId: input.account, name: input.name, active: true });
    },
  }),
  command({
    name: 'senders remove',
    about: 'Makes a sender inactive; the default sender is none then, if it was this one.',
    options: { account, name: required('--name <NAME>', 'the sender', text) },
    async ask(asking, input) {
      await removeSender({ ...asking, input });
      return shown({ accountId: input.account, name: input.name, active: false });
    },
  }),
  command({
    name: 'senders list',
    about: 'Lists the senders of an account, inactive ones too.',
    options: { account },
    run: async (sql, { account }) => shown({ data: await listSenderDetails(sql, account) }),
  }),
  command({
    name: 'numbers verify',
    about: 'Notes a number as verified: a test account sends to these only, at most 2.',
    options: { account, msisdn },
    async ask(asking, input) {
      await verifyNumber({ ...asking, input });
      return shown({ accountId: input.account, msisdn: input.msisdn });
    },
  }),
  command({
    name: 'numbers remove',
    about: 'Removes a verified number.',
    options: { account, msisdn },
    async ask(asking, input) {
      await forgetVerifiedNumber({ ...asking, input });
      return shown({ accountId: input.account, msisdn: input.msisdn, removed: true });
    },
  }),
  command({
    name: 'numbers list',
    about: 'Lists the verified numbers of an account.',
    options: { account },
    run: async (sql, { account }) => shown({ data: await listVerifiedNumbers(sql, account) }),
  }),
];
