import { MANAGERS, PAYERS, type Role, ROLES } from '../domain/actor.ts';

interface Place {
  path: string;
  roles: readonly Role[];
}

/** Where the navigation leads, by the name of the page. */
export const PLACES = {
  overview: { path: '/panel/overview', roles: ROLES },
  send: { path: '/panel/send', roles: MANAGERS },
  messages: { path: '/panel/messages', roles: ROLES },
  replies: { path: '/panel/replies', roles: ROLES },
  emails: { path: '/panel/emails', roles: ROLES },
  contacts: { path: '/panel/contacts', roles: ROLES },
  templates: { path: '/panel/templates', roles: ROLES },
  blacklist: { path: '/panel/blacklist', roles: ROLES },
  links: { path: '/panel/links', roles: ROLES },
  reports: { path: '/panel/reports', roles: ROLES },
  ledger: { path: '/panel/ledger', roles: PAYERS },
  alerts: { path: '/panel/alerts', roles: PAYERS },
  numbers: { path: '/panel/numbers', roles: MANAGERS },
  senders: { path: '/panel/senders', roles: ROLES },
  keys: { path: '/panel/keys', roles: MANAGERS },
  webhooks: { path: '/panel/webhooks', roles: MANAGERS },
  billing: { path: '/panel/billing', roles: PAYERS },
  statements: { path: '/panel/statements', roles: PAYERS },
  settings: { path: '/panel/settings', roles: ROLES },
  team: { path: '/panel/team', roles: ROLES },
  activity: { path: '/panel/activity', roles: ['owner'] },
  company: { path: '/panel/company', roles: PAYERS },
  you: { path: '/panel/you', roles: ROLES },
} as const satisfies Record<string, Place>;

export type PlaceName = keyof typeof PLACES;

/** Whether a role may open a page. */
export function mayOpen(role: Role, place: PlaceName): boolean {
  return PLACES[place].roles.some((one) => one === role);
}

/** The navigation in its order. */
export const SECTIONS: readonly (readonly PlaceName[])[] = [
  ['overview', 'send', 'messages', 'replies', 'emails'],
  ['contacts', 'templates', 'blacklist', 'links', 'reports'],
  ['numbers', 'senders', 'keys', 'webhooks'],
  ['billing', 'statements', 'ledger', 'company', 'alerts'],
  ['settings', 'team', 'activity', 'you'],
];
