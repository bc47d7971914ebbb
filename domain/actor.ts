/** Permissions of an API key (v2.3.0, Authentication), and of a person by the role. */
export type Scope = 'send' | 'read' | 'manage';

export const ALL_SCOPES: readonly Scope[] = ['send', 'read', 'manage'];

export const ROLES = ['owner', 'developer', 'billing', 'reader'] as const;
/** What a person is in an account. */
export type Role = (typeof ROLES)[number];

/** What a role may ask of the service for its account. */
export const SCOPES_OF: Readonly<Record<Role, readonly Scope[]>> = {
  owner: ALL_SCOPES,
  developer: ALL_SCOPES,
  billing: ['read'],
  reader: ['read'],
};

/** Who may send, and change what the account has: contacts, templates, keys and the like. */
export const MANAGERS: readonly Role[] = ROLES.filter((role) => SCOPES_OF[role].includes('manage'));

/** Who pays for the account. */
export const PAYERS: readonly Role[] = ['owner', 'billing'];

/** A key or token of an account. */
export interface KeyActor {
  kind: 'key';
  id: string;
  /** The request came through an MCP tool, with a key that has a daily budget. */
  toolBudget: boolean;
}

/** A person, by the membership of an account. */
export interface PersonActor {
  kind: 'person';
  id: string;
  accountId: string;
  role: Role;
}

export interface StaffActor {
  kind: 'staff';
  /** A user of the operating system. */
  name: string;
}

/** Who asks. */
export type Actor = KeyActor | PersonActor | StaffActor;

/** The actor as the audit log names it: `key_…`, `per_…`, or the name of staff. */
export function actorName(actor: Actor): string {
  return actor.kind === 'staff' ? actor.name : actor.id;
}
