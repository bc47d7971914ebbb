import { listStaff } from '../db/people/staff.ts';
import { signInAddress } from '../domain/people.ts';
import { STAFF_ROLES } from '../domain/staff.ts';
import { addStaff, changeStaffRole, removeStaff, resetStaff } from '../operations/people/staff.ts';
import { command, required, shown } from './command.ts';
import { line, oneOf, readBy } from './values.ts';

const NAME_LENGTH = 64;
const HAND_OVER = 'The key of the authenticator app is shown this once: hand it over on a safe way.';

const address = required(
  '--address <ADDRESS>',
  'by which they sign in',
  readBy(signInAddress, 'an address such as jan@example.com is needed'),
);
const role = required('--role <ROLE>', `what they do: ${STAFF_ROLES.join(', ')}`, oneOf(...STAFF_ROLES));

export const staffCommands = [
  command({
    name: 'staff add',
    about: 'Lets somebody use the console, and makes the key of their authenticator app.',
    options: {
      address,
      name: required('--name <NAME>', 'as the audit log names them', line(NAME_LENGTH)),
      role,
    },
    ask: async (asking, input) => shown(await addStaff({ ...asking, input }), HAND_OVER),
  }),
  command({
    name: 'staff role',
    about: 'Changes what one of staff does in the console.',
    options: { address, role },
    ask: async (asking, input) => shown(await changeStaffRole({ ...asking, input })),
  }),
  command({
    name: 'staff reset',
    about: 'Makes another key for the authenticator app of who has lost it; passkeys and sessions end.',
    options: { address },
    ask: async (asking, input) => shown(await resetStaff({ ...asking, input }), HAND_OVER),
  }),
  command({
    name: 'staff remove',
    about: 'Shuts one of staff out of the console at once.',
    options: { address },
    ask: async (asking, input) => shown(await removeStaff({ ...asking, input })),
  }),
  command({
    name: 'staff list',
    about: 'Lists who may use the console.',
    options: {},
    run: async (sql) => shown({ data: await listStaff(sql) }),
  }),
];
