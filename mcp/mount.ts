import { createMcpHandler } from '@modelcontextprotocol/server';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { type Context, identify } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';
import type { Mount } from '../api/app.ts';
import type { Authenticated } from '../api/http/authentication.ts';
import { readBody } from '../api/http/body.ts';
import { errorAnswer, HttpRefused } from '../api/http/refusals.ts';
import { problemText } from '../api/http/texts.ts';
import { LOOPBACK_HOSTS } from '../domain/addresses.ts';
import { INTERFACE } from '../domain/ids.ts';
import { type Refusal, Refused } from '../domain/refusals.ts';
import type { SendSize } from '../operations/quotas.ts';
import { visible } from '../domain/text.ts';
import { createToolServer, type Session } from './server.ts';
import { SUBSETS } from './tool.ts';
import { toolsAt } from './tools.ts';

// Checks `Host`, and `Origin` if a browser sent one, against DNS rebinding: another site's page must not reach a server on its
// visitor's network.
function isTrustedHost({ headers }: Context, { publicUrl, mcpUrl }: Services): boolean {
  const { host, origin } = headers;
  const hosts = [publicUrl, mcpUrl].filter((url) => url !== null).map((url) => new URL(url).hostname);
  return isOneOf(hosts, `http://${host ?? ''}`) && (origin === undefined || isOneOf(hosts, origin));
}

function isOneOf(hosts: readonly string[], address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return LOOPBACK_HOSTS.has(hostname) || hosts.includes(hostname);
}

function strangerText({ headers: { host, origin } }: Context): string {
  const seen = (value = '') => JSON.stringify(visible(value).slice(0, FAULT_MAX));
  const from = origin === undefined ? '' : `, Origin ${seen(origin)}`;
  return `Not an address of this service: Host ${seen(host)}${from}. It has to be that of PUBLIC_URL or MCP_URL, which the operator sets.`;
}

/** Bytes: the longest template with every character escaped, or 500 contacts of 2 kB. */
export const BODY_LIMIT = 1024 * 1024;
const [PARSE_ERROR, INVALID_REQUEST] = [-32700, -32600];
// Messages of the library may quote the request.
const FAULT_MAX = 200;
const CALLS = new Set<unknown>(['tools/call', 'resources/read']);

/** The MCP server (v2.3.0, What the service does): `/mcp`, and the subsets below it. */
export function assistantTools(): Mount {
  return {
    paths: ['/mcp', ...SUBSETS.map((subset) => `/mcp/${subset}`)],
    methods: ['GET', 'POST', 'DELETE'],
    serve,
  };
}

async function serve(services: Services, context: Context): Promise<void> {
  context.state.route = context.path;
  // Errors have the form of the current interface, even for a token of the earlier one.
  context.state.requested = INTERFACE;
  if (!isTrustedHost(context, services)) return refuse(context, 403, INVALID_REQUEST, strangerText(context));
  const { caller, tools: rules, refusal } = await identify(services, context, Date.now());
  if (rules === null) throw new HttpRefused({ reason: 'key_invalid' });
  const admitted = admit(services, caller.accountId, context);
  const call = {
    services,
    refusal: refusal ?? admitted.refusal,
    closedSignal: admitted.closedSignal,
    requestId: context.state.requestId,
    caller: { ...caller, actor: { ...caller.actor, toolBudget: rules.hasToolBudget } },
    confirmAbove: confirmAboveOf(rules, services),
    acquireHeavySlot: () => admitted.acquireHeavySlot(),
  };
  try {
    const reading = { limitBytes: BODY_LIMIT, onLarge: call.acquireHeavySlot };
    const body = context.method === 'POST' ? await readBody(context.req, reading) : undefined;
    // One message per request (2025-11-25, Transports): a batch would count once against the rate limit.
    if (Array.isArray(body)) return refuse(context, 400, INVALID_REQUEST, 'Batches are not supported');
    if (isNotification(body)) return void Object.assign(context, { status: 202, body: '' });
    // Calls report the refusal in their result; suspended accounts may list tools.
    if (call.refusal !== null && 'seconds' in call.refusal && !isCall(body)) throw new Refused(call.refusal);
    await answer(call, context, withArguments(body));
  } catch (error) {
    refuseAs(context, error);
  }
}

/** As `enter`: beyond the account's limit only small requests are read, to be refused in a result. */
function admit({ admission }: Services, accountId: string, { res }: Context) {
  try {
    return { ...admission.enter(accountId, res), refusal: null };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { refusal }: { refusal: Refusal } = error;
    const acquireHeavySlot = () => {
      throw error;
    };
    return { refusal, acquireHeavySlot, closedSignal: new AbortController().signal };
  }
}

/** Notifications and answers: there is no session that they could belong to. */
function isNotification(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !('jsonrpc' in body)) return false;
  return 'method' in body ? !('id' in body) : 'result' in body || 'error' in body;
}

/** Some clients write null for no arguments. */
function withArguments(body: unknown): unknown {
  if (!isCall(body)) return body;
  const { params, ...request } = body as { params?: { arguments?: unknown } };
  if (params?.arguments !== null) return body;
  return { ...request, params: { ...params, arguments: {} } };
}

function isCall(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && CALLS.has(body.method);
}

/** Writes a refusal as a JSON-RPC error. @throws any other error */
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

type Call = Session['call'];

async function answer(call: Call, context: Context, body: unknown): Promise<void> {
  const session: Session = { tools: toolsAt(context.path), call };
  const { services, requestId, closedSignal } = call;
  const handler = createMcpHandler(({ era }) => createToolServer(session, era === 'modern'), {
    // Lists do not change while a client is subscribed.
    maxSubscriptions: 1,
    onerror: ({ name, message }) => {
      const fault = `${name}: ${message.slice(0, FAULT_MAX)}`;
      services.log.info({ requestId, fault }, 'invalid tool call');
    },
  });
  write(context, await handler.fetch(requestOf(context, closedSignal), { parsedBody: body }));
}

/** The account may only lower the installation's limits. */
function confirmAboveOf(
  { toolConfirmRecipients, toolConfirmGrosze }: NonNullable<Authenticated['tools']>,
  { settings }: Services,
): SendSize {
  return {
    recipients: Math.min(toolConfirmRecipients ?? Infinity, settings.MCP_CONFIRM_RECIPIENTS),
    costGrosze: Math.min(toolConfirmGrosze ?? Infinity, settings.MCP_CONFIRM_GROSZE),
  };
}

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
  context.body = response.body === null ? null : Readable.fromWeb(response.body as ReadableStream);
}
