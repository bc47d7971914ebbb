import { readReceivedEmails, readReceivedMessages } from '../db/routes/simulatorInbox.ts';
import { emailAddress } from '../domain/email/address.ts';
import { simulateReply } from '../operations/support/simulator.ts';
import { command, optional, required, shown } from './command.ts';
import { phoneNumber, readBy, text } from './values.ts';

// 50 e-mails are 10 MB at most.
const NEWEST = { limit: 50, bodyMax: 100_000 };
const mailbox = readBy(emailAddress, 'an address such as jan@klient.example is needed');

export const simulatorCommands = [
  command({
    name: 'simulator reply',
    about: 'Sends an SMS from a phone of the simulated network; the running service receives it.',
    options: {
      from: required('--from <NUMBER>', 'the phone', phoneNumber),
      to: optional('--to <NUMBER>', 'the receiving number; else the SMSC does not say', phoneNumber),
      text: required('--text <TEXT>', 'what the phone sends', text),
    },
    async ask(asking, { to = null, ...values }) {
      const input = { ...values, to };
      await simulateReply({ ...asking, input });
      return shown(input);
    },
  }),
  command({
    name: 'simulator phone',
    about: 'Shows what a phone of the simulated network received, newest first.',
    options: { number: required('--number <NUMBER>', 'the phone', phoneNumber) },
    async run(sql, { number }) {
      const received = await readReceivedMessages(sql, number, NEWEST);
      return shown({ messages: received.map(({ from, text, receivedAt }) => ({ from, text, receivedAt })) });
    },
  }),
  command({
    name: 'simulator mailbox',
    about: 'Shows the e-mails that the simulated network delivered to an address, newest first.',
    options: { address: required('--address <ADDRESS>', 'the mailbox', mailbox) },
    async run(sql, { address }) {
      const received = await readReceivedEmails(sql, { address }, NEWEST);
      const emails = received.map(({ to, from, subject, text, html, receivedAt: sentAt }) => ({
        to: to.join(', '),
        from: from.name === null ? from.address : `${from.name} <${from.address}>`,
        ...{ subject, text, html, sentAt },
      }));
      return shown({ emails });
    },
  }),
];
