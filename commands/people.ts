import { signInAddress } from '../domain/people.ts';
import { resetFactors } from '../operations/people/resetFactors.ts';
import { command, required, shown } from './command.ts';
import { readBy } from './values.ts';

const address = readBy(signInAddress, 'an address such as jan@example.com is needed');

export const peopleCommands = [
  command({
    name: 'people reset-factors',
    about: 'Removes all second factors of a person who has lost them, and ends the sessions.',
    options: { address: required('--address <ADDRESS>', 'by which the person signs in', address) },
    ask: async (asking, input) => shown(await resetFactors({ ...asking, input })),
  }),
];
