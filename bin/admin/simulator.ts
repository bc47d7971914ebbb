import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { command, optional, required, type Outcome } from './command.ts';
import { readNumber } from './msisdn.ts';
import { invalidArgument } from './problems.ts';
import { text } from './values.ts';

// The longest text that an SMS can have: 255 parts of 153 characters.
const TEXT_MAX = 39_015;

const reply = command({
  name: 'simulator reply',
  about: 'Sends an SMS from a phone of the simulated network; the running service receives it.',
  options: {
    from: required('NUMBER', 'the phone', text),
    to: optional('NUMBER', 'the receiving number; without it the simulated SMSC does not tell', text),
    text: required('TEXT', 'what the phone sends', text),
  },
  async run(sql, values): Promise<Outcome> {
    const from = await readNumber('--from', values.from);
    const to = values.to === undefined ? null : await readNumber('--to', values.to);
    if (values.text.length > TEXT_MAX) throw invalidArgument('--text', `at most ${TEXT_MAX} characters`);
    const sent = { from: from.number, to: to?.number ?? null, text: values.text };
    await addSimulatedReply(sql, sent);
    return { result: sent, subject: from.masked, details: { to: to?.masked ?? null } };
  },
});

export const simulatorCommands = [reply];
