import { listAudit } from '../db/accounts/audit.ts';
import { FINDING_KINDS, listFindings } from '../db/maintenance/findings.ts';
import { command, defaulted, optional, required, shown } from './command.ts';
import { limit, oneOf, onlyAccount, wholeNumber } from './values.ts';

const findingState = oneOf('open', 'repaired', 'gone', 'all');
const FINDING_MAX = 1_000_000_000;

export const auditCommands = [
  command({
    name: 'audit',
    about: 'Shows what staff did, and what accounts changed through the API, newest first.',
    options: { account: onlyAccount, limit: limit(50) },
    run: async (sql, { account = null, limit }) => shown({ data: await listAudit(sql, account, limit) }),
  }),
  command({
    name: 'findings list',
    about: 'Lists what needs a person (open), the oldest first, or was found before, the latest first.',
    options: {
      state: defaulted('--state <open|repaired|gone|all>', 'in this state', findingState, 'open'),
      kind: optional('--kind <KIND>', FINDING_KINDS.join(', '), oneOf(...FINDING_KINDS)),
      account: onlyAccount,
      limit: limit(50),
    },
    async run(sql, { account = null, kind = null, state, limit }) {
      const filter = { account, kind, state: state === 'all' ? null : state };
      return shown({ data: await listFindings(sql, filter, limit) });
    },
  }),
  command({
    name: 'findings dismiss',
    about: 'Says that a finding is dealt with; what was repaired too often may be repaired again.',
    options: { id: required('--id <N>', 'the finding, from findings list', wholeNumber(1, FINDING_MAX)) },
    async ask(asking, input) {
      const { dismissFinding } = await import('../operations/support/settle.ts');
      return shown(await dismissFinding({ ...asking, input }));
    },
  }),
];
