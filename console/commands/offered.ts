import { ALL_COMMANDS } from '../../commands/all.ts';
import type { AnyCommand } from '../../commands/command.ts';
import { STAFF_ROLES, type StaffRole } from '../../domain/staff.ts';

const EVERYBODY = STAFF_ROLES;
const SUPPORT: readonly StaffRole[] = ['support', 'admin'];
const MENDING: readonly StaffRole[] = ['support', 'operator', 'admin'];
const OPERATOR: readonly StaffRole[] = ['operator', 'admin'];
const FINANCE: readonly StaffRole[] = ['finance', 'admin'];
const ADMIN: readonly StaffRole[] = ['admin'];

// Whom the console offers a command. What is not named is for the command line alone: it reads or writes files, hands out secrets, or is
// asked for once in the life of an installation.
const OFFERED: readonly (readonly [roles: readonly StaffRole[], names: readonly string[]])[] = [
  [
    EVERYBODY,
    [
      ...['accounts show', 'accounts list', 'senders list', 'senders requests', 'numbers list'],
      ...['ledger', 'payments list', 'payments show', 'statements list'],
      ...['inbound unmatched', 'routes list', 'routes show', 'routes rules list', 'routes which'],
      ...['messages show', 'messages unanswered', 'emails show', 'domains list', 'webhooks list'],
      ...['find', 'stuck', 'findings list', 'audit', 'staff list'],
    ],
  ],
  [
    MENDING,
    [
      ...[
        'messages resubmit',
        'messages give-up',
        'messages settle',
        'messages cancel',
        'messages cancel-all',
      ],
      ...['emails give-up', 'webhooks resend', 'findings dismiss', 'unstick'],
    ],
  ],
  [
    SUPPORT,
    [
      ...[
        'accounts set',
        'accounts company',
        'accounts quotas',
        'keys revoke',
        'tokens revoke',
        'keys budget',
      ],
      ...['senders add', 'senders remove', 'senders approve', 'senders reject'],
      ...['numbers verify', 'numbers remove', 'people reset-factors', 'webhooks end-previous-secret'],
      ...['inbound enable', 'inbound disable', 'inbound allow-keyword', 'inbound revoke-keyword'],
      ...['inbound release-keyword', 'erase'],
    ],
  ],
  [OPERATOR, ['routes change', 'routes remove', 'routes test', 'routes rules add', 'routes rules remove']],
  [
    FINANCE,
    [
      ...['topup', 'adjust', 'payments refund', 'statements issue', 'statements pay', 'statements send'],
      'invoices confirm',
    ],
  ],
  [ADMIN, ['accounts create', 'staff role', 'staff remove']],
];

interface Offer {
  command: AnyCommand;
  roles: readonly StaffRole[];
}

/** What the console offers, by name. */
export const OFFERS: ReadonlyMap<string, Offer> = new Map(
  OFFERED.flatMap(([roles, names]) =>
    names.map((name) => {
      const command = ALL_COMMANDS.find((known) => known.name === name);
      if (command === undefined) throw new Error(`there is no command ${name}`);
      return [name, { command, roles }] as const;
    }),
  ),
);

/** Whether a role may ask for a command here. */
export function mayAsk(role: StaffRole, name: string): boolean {
  return OFFERS.get(name)?.roles.includes(role) === true;
}

/** Where a command's form is. `values` are typed in, by the names of the command's options. */
export function commandPath(name: string, values: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(values).toString();
  return `/console/commands/${name.replaceAll(' ', '.')}${query === '' ? '' : `?${query}`}`;
}

/** The command of a path; undefined for none that a role may ask for. */
export function offeredAt(role: StaffRole, word: string): AnyCommand | undefined {
  const name = word.replaceAll('.', ' ');
  return mayAsk(role, name) ? OFFERS.get(name)!.command : undefined;
}

/** Net or gross grosze that a command moves: without an amount, all that there is. */
function groszeOf({ grosze }: Record<string, unknown>): number {
  return typeof grosze === 'number' ? Math.abs(grosze) : Infinity;
}

const MONEY: ReadonlySet<string> = new Set(['topup', 'adjust', 'payments refund']);

/** Whether a second person has to approve: money above the limit, an erasure, the end of an account. */
export function needsSecondPerson(
  name: string,
  values: Record<string, unknown>,
  limitGrosze: number,
): boolean {
  if (MONEY.has(name)) return groszeOf(values) > limitGrosze;
  return name === 'erase' || (name === 'accounts set' && values['status'] === 'closed');
}
