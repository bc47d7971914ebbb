import type { IncomingHttpHeaders } from 'node:http';
import type { ComponentChildren } from 'preact';
import type { CsvAnswer } from '../api/http/endpoint.ts';
import type { Services } from '../api/services.ts';
import type { SessionRow } from '../db/people/sessions.ts';
import { type PersonActor, type Role, SCOPES_OF } from '../domain/actor.ts';
import type { Caller } from '../operations/context.ts';
import type { Asset } from '../pages/assets.ts';
import type { Language } from './language.ts';
import type { Upload } from './upload.ts';

/** One request of the panel. */
export interface Visit {
  services: Services;
  method: string;
  path: string;
  params: Record<string, string>;
  query: URLSearchParams;
  /** Fields of a POST, each once; empty otherwise. */
  form: ReadonlyMap<string, string>;
  headers: IncomingHttpHeaders;
  /** The client's address. */
  address: string;
  /** As limits count it: of IPv6 the /64. */
  network: string;
  requestId: string;
  /** Epoch milliseconds of this process. */
  receivedAt: number;
  language: Language;
  session: SessionRow | null;
  /** By staff, who see the account as its customer does and change nothing. */
  readOnly: boolean;
  acquireHeavySlot: () => void;
  /** The file of a POST to a route with `uploadBytes`; null: none was chosen. @throws HttpRefused */
  readUpload: () => Promise<Upload | null>;
}

/** The code in a form, as people type it: without blanks and dashes. */
export function typedCode({ form }: Visit): string {
  return (form.get('code') ?? '').slice(0, 100).replace(/[\s-]/g, '');
}

/** A visit of somebody who has signed in. */
export interface PersonVisit extends Visit {
  session: SessionRow;
}

/** A visit to the account that the session shows. */
export interface MemberVisit extends PersonVisit {
  account: NonNullable<SessionRow['account']>;
  /** Who asks operations. */
  caller: Caller & { actor: PersonActor };
}

/** A file that is stored as it is. */
export interface FileAnswer {
  filename: string;
  bytes: Buffer;
}

/** A page. */
export interface ShownAnswer {
  status: number;
  title: string;
  view: ComponentChildren;
  /** Beside those of every page. */
  script?: Asset;
  headers?: Readonly<Record<string, string>>;
}

/** A page, a redirection, or a file; `cookies` are `Set-Cookie` headers. */
export type Answer = { cookies?: readonly string[] } & (
  ShownAnswer | { to: string } | CsvAnswer | FileAnswer
);

type Handler<Who extends Visit> = (visit: Who) => Answer | Promise<Answer>;
export interface Handlers<Who extends Visit> {
  get?: Handler<Who>;
  post?: Handler<Who>;
}

/** Who may open a page: anybody, who has signed in, or people of the account with one of these roles. */
export type Access = 'anybody' | 'people' | readonly Role[];

/** Bytes of a form: labels and addresses are short. */
const FORM_MAX = 16 * 1024;

interface Options {
  /** Bytes of a form. */
  formBytes?: number;
  /** Bytes of a file, whose form the handler reads by `readUpload`; 0: it takes none. */
  uploadBytes?: number;
  /** Its forms are about keys, secrets or members: only who has signed in or confirmed it lately may send them. */
  stepUp?: boolean;
  /** Open to who has signed in, but owes the second factor. */
  beforeSecondFactor?: boolean;
}

export interface Route extends Required<Options> {
  /** Pattern with `:name` parameters. It never names an account: the session does. */
  path: string;
  access: Access;
  methods: readonly ('GET' | 'POST')[];
  /** Null where access is denied. */
  handle(visit: Visit): Promise<Answer> | Answer | null;
}

function route<Who extends Visit>(
  path: string,
  access: Access,
  {
    get,
    post,
    formBytes = FORM_MAX,
    uploadBytes = 0,
    stepUp = false,
    beforeSecondFactor = false,
  }: Handlers<Who> & Options,
  admit: (visit: Visit) => Who | null,
): Route {
  return {
    ...{ path, access, formBytes, uploadBytes, stepUp, beforeSecondFactor },
    methods: methodsOf({ get, post }),
    handle(visit) {
      const admitted = admit(visit);
      const handler = visit.method === 'POST' ? post : get;
      return admitted === null || handler === undefined ? null : handler(admitted);
    },
  };
}

/** The methods that a page answers. */
export function methodsOf({ get, post }: { get?: unknown; post?: unknown }): ('GET' | 'POST')[] {
  return [
    ...(get === undefined ? [] : (['GET'] as const)),
    ...(post === undefined ? [] : (['POST'] as const)),
  ];
}

/** Declares a page for anybody. */
export function openPage(path: string, handlers: Handlers<Visit> & Options): Route {
  return route(path, 'anybody', handlers, (visit) => visit);
}

/** Declares a page for people who have signed in, whatever account they have. */
export function personPage(path: string, handlers: Handlers<PersonVisit> & Options): Route {
  return route(path, 'people', handlers, (visit) =>
    visit.session === null ? null : { ...visit, session: visit.session },
  );
}

/** Declares a page about the account that the session shows, for these roles. */
export function accountPage(
  path: string,
  roles: readonly Role[],
  handlers: Handlers<MemberVisit> & Options,
): Route {
  return route(path, roles, handlers, (visit) => {
    const { session, address, requestId, readOnly } = visit;
    const account = session?.account ?? null;
    if (session === null || account === null || !roles.includes(account.role)) return null;
    const { id: accountId, mode: accountMode, role } = account;
    const actor = { kind: 'person', id: session.personId, accountId, role } as const;
    const may = { scopes: SCOPES_OF[role], readOnly };
    return {
      ...visit,
      session,
      account,
      caller: { accountId, accountMode, actor, address, requestId, ...may },
    };
  });
}
