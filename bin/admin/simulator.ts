import { command, optional, required, type Shown } from './command.ts';
import { readNumber } from './msisdn.ts';
import { text } from './values.ts';

const reply = command({
  name: 'simulator reply',
  about: 'Sends an SMS from a phone of the simulated network; the running service receives it.',
  options: {
    from: required('NUMBER', 'the phone', text),
    to: optional('NUMBER', 'the receiving number; without it the simulated SMSC does not say', text),
    text: required('TEXT', 'what the phone sends', text),
  },
  async ask(asking, values): Promise<Shown> {
    const from = await readNumber('--from', values.from);
    const to = values.to === undefined ? null : await readNumber('--to', values.to);
    const { simulateReply } = await import('../../operations/support/simulateReply.ts');
    const input = { from, to, text: values.text };
    await simulateReply({ ...asking, input });
    return { result: input };
  },
});

export const simulatorCommands = [reply];
