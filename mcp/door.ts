import { createMcpHandler } from '@modelcontextprotocol/server';
import { Readable } from 'node:stream';
import { type Context, noteIdentity, presentedIn, watchSize } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';
import type { Mount } from '../api/app.ts';
import type { Admitted } from '../api/http/admission.ts';
import { countBeside, countIn, type KeyHolder, keyHolder } from '../api/http/authentication.ts';
import { readBody } from '../api/http/body.ts';
import { errorBody } from '../api/http/middleware.ts';
import { beforeDeadline } from '../api/http/invoke.ts';
import { errorAnswer, HttpRefused } from '../api/http/refusals.ts';
import { problemText } from '../api/http/texts.ts';
import { Refused } from '../domain/refusals.ts';
import type { Caller } from '../operations/asked.ts';
import type { ConfirmAbove } from './call.ts';
import { createToolServer, type Session } from './server.ts';
import { SUBSETS } from './tool.ts';
import { toolsAt } from './tools.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a request is meant for this service: by its `Host`, and from a browser by its `Origin`. A page of others that a name of
 * theirs leads to this machine must not be able to use a server that trusts whoever is near (DNS rebinding).
 */
function isMeantForUs({ headers }: Context, { publicUrl, mcpUrl }: Services): boolean {
  const { host, origin } = headers;
  const hosts = [publicUrl, mcpUrl].filter((url) => url !== null).map((url) => new URL(url).hostname);
  return isOneOf(hosts, `http://${host ?? ''}`) && (origin === undefined || isOneOf(hosts, origin));
}

function isOneOf(hosts: readonly string[], address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return LOOPBACK.has(hostname) || hosts.includes(hostname);
}

/** Bytes of a body: the longest template with every character an escape, or 500 contacts of 2 kB. */
export const BODY_LIMIT = 1024 * 1024;
const [PARSE_ERROR, INVALID_REQUEST] = [-32700, -32600];
// What a library says of a request may quote it.
const FAULT_MAX = 200;
const REALM = 'Bearer realm="goniec"';
// They ask nothing of the account, and a client that starts anew asks for several.
const LISTS_A_MINUTE = 600;
const CALLS = new Set<unknown>(['tools/call', 'resources/read']);

/**
 * The assistant-tool server (v2.3.0, What the service does): `/mcp`, and the subsets below it.
 * @param createServer what serves a request once its sender is known; the service's tools unless given
 */
export function assistantTools(createServer = createToolServer): Mount {
  return {
    paths: ['/mcp', ...SUBSETS.map((subset) => `/mcp/${subset}`)],
    methods: ['GET', 'POST', 'DELETE'],
    serve: (services, context) => serve(services, context, createServer),
  };
}

async function serve(services: Services, context: Context, createServer: CreateServer): Promise<void> {
  context.state.route = context.path;
  if (!isMeantForUs(context, services)) {
    refuse(context, 403, INVALID_REQUEST, 'Host or Origin is not of this service');
    return;
  }
  const holder = await holderOf(services, context);
  if (holder === null) return;
  const { caller } = holder;
  const admitted = services.admission.enter(caller.accountId, context.res);
  const read = await bodyOf(services, context, caller, admitted);
  if (read === null) return;
  if (!isCall(read.body) && !(await mayList(services, context, caller))) return;
  const counted = isCall(read.body) ? countCall(services, context, holder) : Promise.resolve();
  // Whoever waits for it is a tool; what is no proper call of one comes to none.
  counted.catch(() => undefined);
  await answer(services, context, read.body, { holder, admitted, counted, createServer });
}

/** Whose key it is. A client without one is told how to bring one, and of nothing that it could sign in at. */
async function holderOf(services: Services, context: Context): Promise<KeyHolder | null> {
  try {
    const holder = await beforeDeadline(Date.now(), keyHolder(services.keyLookups, presentedIn(context)));
    noteIdentity(context, holder.caller);
    return holder;
  } catch (error) {
    if (!(error instanceof HttpRefused)) throw error;
    const refusal = errorAnswer(error);
    context.state.refusal = refusal.problem.reason;
    context.status = refusal.status;
    context.set('WWW-Authenticate', REALM);
    context.body = errorBody(refusal, context.state.requestId);
    return null;
  }
}

/** The body, undefined without one; null: it could not be read, and is refused in the form of the protocol. */
async function bodyOf(
  services: Services,
  context: Context,
  caller: Caller,
  admitted: Admitted,
): Promise<{ body: unknown } | null> {
  if (context.method !== 'POST') return { body: undefined };
  try {
    const body = await readBody(context.req, {
      limitBytes: BODY_LIMIT,
      watch: watchSize(services, context, caller, admitted),
    });
    // One message a request (2025-11-25, Transports): many in one would count as one.
    if (!Array.isArray(body)) return { body };
    refuse(context, 400, INVALID_REQUEST, 'Batches are not supported');
  } catch (error) {
    refuseAs(context, error);
  }
  return null;
}

/** What counts against the account's requests a minute, proper or not. */
function isCall(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && CALLS.has(body.method);
}

function countCall({ front }: Services, context: Context, holder: KeyHolder): Promise<void> {
  const setHeader = (name: string, value: string) => {
    if (!context.headerSent) context.set(name, value);
  };
  return beforeDeadline(Date.now(), countIn(front, holder, setHeader));
}

/** Counts all that is no call in a window of the account's own: it costs this process time. */
async function mayList({ front }: Services, context: Context, { accountId }: Caller): Promise<boolean> {
  try {
    await beforeDeadline(Date.now(), countBeside(front, `${accountId} lists`, LISTS_A_MINUTE));
    return true;
  } catch (error) {
    refuseAs(context, error);
    return false;
  }
}

/** A refusal in the form of the protocol. @throws what is none */
function refuseAs(context: Context, error: unknown): void {
  if (!(error instanceof HttpRefused) && !(error instanceof Refused)) throw error;
  const { status, problem, headers } = errorAnswer(error);
  context.state.refusal = problem.reason;
  context.set(headers);
  refuse(context, status, status === 400 ? PARSE_ERROR : INVALID_REQUEST, problemText(problem));
}

function refuse(context: Context, status: number, code: number, message: string): void {
  context.status = status;
  context.body = { jsonrpc: '2.0', id: null, error: { code, message } };
}

type CreateServer = typeof createToolServer;

/** Who asks, and what serves them. */
interface Asking {
  holder: KeyHolder;
  admitted: Admitted;
  /** Fulfilled when the call is counted, and let in. */
  counted: Promise<void>;
  createServer: CreateServer;
}

async function answer(
  services: Services,
  context: Context,
  body: unknown,
  { holder, admitted, counted, createServer }: Asking,
): Promise<void> {
  const session: Session = {
    caller: holder.caller,
    tools: toolsAt(context.path),
    call: {
      ...{ services, over: admitted.over, requestId: context.state.requestId },
      caller: holder.caller,
      confirmAbove: confirmAboveOf(holder, services),
      admit: () => counted,
      becomesHeavy: () => admitted.becomesHeavy(),
    },
  };
  const handler = createMcpHandler(({ era }) => createServer(session, era === 'modern'), {
    // Nothing that is listed changes while somebody listens.
    maxSubscriptions: 1,
    onerror: ({ name, message }) => {
      const fault = `${name}: ${message.slice(0, FAULT_MAX)}`;
      services.log.info({ requestId: context.state.requestId, fault }, 'no proper call of a tool');
    },
  });
  const response = await handler.fetch(requestOf(context, admitted.over), { parsedBody: body });
  write(context, response);
}

/** The installation's, or what the account has set below it. */
function confirmAboveOf(
  { toolConfirmRecipients, toolConfirmGrosze }: KeyHolder,
  { settings }: Services,
): ConfirmAbove {
  return {
    recipients: Math.min(toolConfirmRecipients ?? Infinity, settings.MCP_CONFIRM_RECIPIENTS),
    costGrosze: Math.min(toolConfirmGrosze ?? Infinity, settings.MCP_CONFIRM_GROSZE),
  };
}

/** The request as the protocol's library takes it; its body has been read. */
function requestOf({ method, path, req }: Context, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  return new Request(`http://localhost${path}`, { method, headers, signal });
}

function write(context: Context, response: Response): void {
  context.status = response.status;
  response.headers.forEach((value, name) => context.set(name, value));
  context.body = response.body === null ? null : Readable.fromWeb(response.body);
}
