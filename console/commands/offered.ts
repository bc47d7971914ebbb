import { ALL_COMMANDS } from '../../commands/all.ts';
import type { AnyCommand, Shown } from '../../commands/command.ts';
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
      ...[
        'inbound unmatched',
        'routes list',
        'routes show',
        'routes report',
        'routes rules list',
        'routes which',
      ],
      ...['now', 'alerts'],
      ...['messages show', 'messages unanswered', 'emails show', 'domains list', 'webhooks list'],
      ...['find', 'attention', 'stuck', 'findings list', 'audit', 'staff list'],
      ...['accounts suspicious', 'inbound keywords'],
      ...['bulks show', 'bulks list', 'bulks items'],
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
      ...['emails give-up', 'webhooks resend', 'findings dismiss', 'bulks start', 'bulks stop'],
    ],
  ],
  [
    SUPPORT,
    [
      ...['accounts company', 'accounts quotas', 'keys revoke', 'tokens revoke', 'keys budget'],
      ...['senders add', 'senders remove', 'senders approve', 'senders reject'],
      ...['numbers verify', 'numbers remove', 'people reset-factors', 'webhooks end-previous-secret'],
      ...['inbound enable', 'inbound disable', 'inbound allow-keyword', 'inbound revoke-keyword'],
      ...['inbound assign', 'inbound drop', 'inbound release-keyword', 'erase'],
    ],
  ],
  [['support', 'finance', 'admin'], ['accounts set']],
  [
    OPERATOR,
    [
      ...['routes test', 'routes change', 'routes enable', 'routes drain', 'routes disable', 'routes remove'],
      ...['routes rules add', 'routes rules remove'],
    ],
  ],
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

/** What of `accounts set` is about money. */
const TERMS: ReadonlySet<string> = new Set([
  ...['billingMode', 'creditLimitGrosze', 'countryRates'],
  ...['pricePerPartGrosze', 'pricePerMmsGrosze', 'pricePerVmsGrosze', 'pricePerHlrGrosze'],
]);

/** A command with the options that a role has; undefined for none that it may ask for. */
export function offered(role: StaffRole, name: string): AnyCommand | undefined {
  if (!mayAsk(role, name)) return undefined;
  const { command } = OFFERS.get(name)!;
  const isOpen = (option: string) => name !== 'accounts set' || FINANCE.includes(role) || !TERMS.has(option);
  const options = Object.entries(command.options).filter(([option]) => isOpen(option));
  return { ...command, options: Object.fromEntries(options) };
}

/** Whether a role may ask for a command with these arguments. */
export function mayAskWith(role: StaffRole, name: string, typed: object): boolean {
  const options = offered(role, name)?.options;
  return options !== undefined && Object.keys(typed).every((option) => option in options);
}

/**
 * Grosze that a command moves; above any limit what a second person has to approve anyway: an erasure, the end of an account, an administrator.
 * @param tell what the command says beforehand
 */
export async function groszeMoved(
  name: string,
  values: Record<string, unknown>,
  tell: () => Promise<Shown | null>,
): Promise<number> {
  if (name === 'erase' || (name === 'accounts set' && values['status'] === 'closed')) return Infinity;
  if (name === 'staff role' && values['role'] === 'admin') return Infinity;
  const told = async (field: string) =>
    ((await tell())?.result as Record<string, unknown> | undefined)?.[field];
  const moved = async (): Promise<unknown[]> => {
    switch (name) {
      case 'topup':
      case 'adjust':
        return [values['grosze']];
      case 'payments refund':
        return [values['grosze'] ?? (await told('refundGrosze'))];
      case 'statements pay':
        return [await told('amountGrosze')];
      // What was not sent is refunded whoever asks; this may have been delivered.
      case 'bulks start':
        return [values['action'] === 'give-up' ? await told('refundGrosze') : 0];
      case 'accounts create':
        return [values['balance'] ?? 0, values['creditLimitGrosze'] ?? 0];
      case 'accounts set':
        return [values['creditLimitGrosze'] ?? 0];
      default:
        return [];
    }
  };
  const amounts = (await moved()).map((grosze) => (typeof grosze === 'number' ? Math.abs(grosze) : Infinity));
  return Math.max(0, ...amounts);
}
