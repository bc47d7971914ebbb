import { createMcpHandler } from '@modelcontextprotocol/server';
import { Readable } from 'node:stream';
import { type Context, identify, watchSize } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';
import type { Mount } from '../api/app.ts';
import type { Authenticated } from '../api/http/authentication.ts';
import { readBody } from '../api/http/body.ts';
import { errorAnswer, HttpRefused } from '../api/http/refusals.ts';
import { problemText } from '../api/http/texts.ts';
import { INTERFACE } from '../domain/ids.ts';
import { Refused } from '../domain/refusals.ts';
import type { Extent } from './call.ts';
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
  // A key or token of whatever kind is answered in its form.
  context.state.requested = INTERFACE;
  if (!isMeantForUs(context, services))
    return refuse(context, 403, INVALID_REQUEST, 'Host or Origin is not of this service');
  const { caller, tools: rules, refusal } = await identify(services, context, Date.now());
  if (rules === null) throw new HttpRefused({ reason: 'key_invalid' });
  const admitted = services.admission.enter(caller.accountId, context.res);
  const call = {
    ...{ services, refusal, over: admitted.over, requestId: context.state.requestId },
    caller: { ...caller, toolBudget: rules.hasToolBudget },
    confirmAbove: confirmAboveOf(rules, services),
    acquireHeavySlot: () => admitted.acquireHeavySlot(),
  };
  try {
    const watch = watchSize(services, context, caller, admitted);
    const reading = { limitBytes: BODY_LIMIT, watch };
    const body = context.method === 'POST' ? await readBody(context.req, reading) : undefined;
    // One message a request (2025-11-25, Transports): many in one would count as one.
    if (Array.isArray(body)) return refuse(context, 400, INVALID_REQUEST, 'Batches are not supported');
    // Whoever calls gets a result that says why not, and a suspended account may look.
    if (refusal?.reason === 'rate_limited' && !isCall(body)) throw new Refused(refusal);
    await answer(call, context, body, createServer);
  } catch (error) {
    refuseAs(context, error);
  }
}

/** What is answered with a result whatever becomes of it. */
function isCall(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && CALLS.has(body.method);
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
type Call = Session['call'];

async function answer(
  call: Call,
  context: Context,
  body: unknown,
  createServer: CreateServer,
): Promise<void> {
  const session: Session = { tools: toolsAt(context.path), call };
  const { services, requestId, over } = call;
  const handler = createMcpHandler(({ era }) => createServer(session, era === 'modern'), {
    // Nothing that is listed changes while somebody listens.
    maxSubscriptions: 1,
    onerror: ({ name, message }) => {
      const fault = `${name}: ${message.slice(0, FAULT_MAX)}`;
      services.log.info({ requestId, fault }, 'invalid tool call');
    },
  });
  write(context, await handler.fetch(requestOf(context, over), { parsedBody: body }));
}

/** The installation's, or what the account has set below it. */
function confirmAboveOf(
  { toolConfirmRecipients, toolConfirmGrosze }: NonNullable<Authenticated['tools']>,
  { settings }: Services,
): Extent {
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
