import { readSenderRequests, REQUEST_STATES } from '../db/accounts/senderRequests.ts';
import { listSenderDetails, listVerifiedNumbers } from '../db/accounts/staff.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import { approveSender, rejectSender } from '../operations/accounts/senderRequests.ts';
import {
  addSender,
  forgetVerifiedNumber,
  removeSender,
  verifyNumber,
} from '../operations/accounts/senders.ts';
import { command, optional, required, shown } from './command.ts';
import {
  account,
  id,
  inFull,
  limit,
  line,
  onlyAccount,
  oneOf,
  phoneNumber,
  senderName,
  text,
} from './values.ts';

const msisdn = required('--msisdn <NUMBER>', 'E.164 with or without plus, or 9 digits (Polish)', phoneNumber);

const request = required('<REQUEST_ID>', 'the request', id('snd', 'a request for a sender'));
const reason = line(500);

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
    name: 'senders requests',
    about: 'Lists what accounts say of the senders they ask for: pending ones the oldest first.',
    options: {
      account: onlyAccount,
      state: optional('--state <STATE>', REQUEST_STATES.join(', '), oneOf(...REQUEST_STATES)),
      limit: limit(50),
    },
    run: async (sql, { account = null, state = null, limit }) =>
      shown({ data: await readSenderRequests(sql, account, state, limit) }),
  }),
  command({
    name: 'senders approve',
    about: 'Approves a request: the sender is active from then on.',
    options: { request, reason: optional('--reason <TEXT>', 'for the account to read', reason) },
    ask: async (asking, { request, reason = null }) =>
      shown(await approveSender({ ...asking, input: { request, reason } })),
  }),
  command({
    name: 'senders reject',
    about: 'Rejects a request for a sender.',
    options: { request, reason: required('--reason <TEXT>', 'why, for the account to read', reason) },
    ask: async (asking, input) => shown(await rejectSender({ ...asking, input })),
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
    options: { account, numbers: inFull('--numbers', 'with the numbers in full') },
    async run(sql, { account, numbers }) {
      const found = await listVerifiedNumbers(sql, account);
      const data = found.map((one) => (numbers ? one : { ...one, msisdn: maskMsisdn(one.msisdn) }));
      return { result: { data }, details: numbers ? { numbers: true } : {} };
    },
  }),
];
