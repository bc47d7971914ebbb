import type { Services } from '../api/services.ts';
import type { StaffSession } from '../db/people/staff.ts';
import type { StaffRole } from '../domain/staff.ts';
import type { Asker } from '../commands/command.ts';
import type { Tools } from '../commands/tools.ts';
import { type Answer, type Handlers, methodsOf, type ShownAnswer, type Visit } from '../panel/route.ts';
import type { Rendered } from '../panel/http.ts';

/** What the console has beside the services of every process with pages. */
export interface ConsoleSettings {
  tools: Tools;
  /** Where the Temporal UI is; null: unknown. */
  temporalUiUrl: string | null;
  /** For pages as the customer sees them: they can neither change nor decrypt anything. */
  readOnlyServices: Services;
  /** Net grosze above which money needs a second person. */
  secondPersonGrosze: number;
}

/** A visit of somebody who has signed in and proved it. */
export interface StaffVisit extends Visit {
  staff: StaffSession;
  settings: ConsoleSettings;
}

/** Who asks for commands. */
export function askerOf({ staff: { name } }: StaffVisit): Asker {
  return { actor: { kind: 'staff', name } };
}

/** A visit of anybody, or of who still owes the code of the authenticator app. */
export interface StrangerVisit extends Visit {
  owing: StaffSession | null;
}

export interface ConsoleRoute {
  /** Pattern with `:name` parameters. */
  path: string;
  /** `anybody`: to sign in. */
  access: 'anybody' | readonly StaffRole[];
  methods: readonly ('GET' | 'POST')[];
  handle(visit: StrangerVisit | StaffVisit): Promise<Answer> | Answer;
  /** Makes the page of a view; by default as everywhere in the console. */
  document?(visit: Visit, staff: StaffSession | null, shown: ShownAnswer): Rendered;
}

function route<Who extends Visit>(
  path: string,
  access: ConsoleRoute['access'],
  handlers: Handlers<Who>,
): ConsoleRoute {
  const { get, post } = handlers;
  return {
    ...{ path, access, methods: methodsOf(handlers) },
    // The mount admits those alone whom `access` names.
    handle: (visit) => (visit.method === 'POST' ? post : get)!(visit as Visit as Who),
  };
}

/** Declares a page for these roles. */
export function staffPage(
  path: string,
  roles: readonly StaffRole[],
  handlers: Handlers<StaffVisit>,
): ConsoleRoute {
  return route(path, roles, handlers);
}

/** Declares a page to sign in by. */
export function openPage(path: string, handlers: Handlers<StrangerVisit>): ConsoleRoute {
  return route(path, 'anybody', handlers);
}

// Of this host, so that no link leads elsewhere: `//` and `/\` are other hosts.
const OWN_PATH = /^\/console(?:\/[\w.-]+)*(?:\?[\w=&%+.:-]*)?$/;
const PATH_MAX = 500;

/** A path of the console to open after signing in; its front page for anything else. */
export function consolePath(given: string | null): string {
  return given !== null && given.length <= PATH_MAX && OWN_PATH.test(given) ? given : '/console';
}
