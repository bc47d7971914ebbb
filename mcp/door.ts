import { createMcpHandler } from '@modelcontextprotocol/server';
import { Readable } from 'node:stream';
import type { Mount } from '../api/app.ts';
import type { Admitted } from '../api/http/admission.ts';
import { authenticate, keyHolder, type Presented } from '../api/http/authentication.ts';
import { readBody } from '../api/http/body.ts';
import { errorBody } from '../api/http/middleware.ts';
import { beforeDeadline } from '../api/http/invoke.ts';
import { errorAnswer, HttpRefused } from '../api/http/refusals.ts';
import { type Context, noteIdentity, presentedIn, watchSize } from '../api/http/serve.ts';
import { problemText } from '../api/http/texts.ts';
import type { Services } from '../api/services.ts';
import { Refused } from '../domain/refusals.ts';
import type { Caller } from '../operations/asked.ts';
import { isMeantForUs } from './gate.ts';
import type { ConfirmAbove } from './sending.ts';
import { createToolServer, type Session } from './server.ts';
import { SUBSETS } from './tool.ts';
import { toolsAt } from './tools.ts';

// The longest template with every character an escape, or 500 contacts of 2 kB.
const BODY_LIMIT = 1024 * 1024;
const [PARSE_ERROR, INVALID_REQUEST] = [-32700, -32600];
// What a library says of a request may quote it.
const FAULT_MAX = 200;
const REALM = 'Bearer realm="goniec"';

/**
 * The assistant-tool server (v2.3.0, What the service does): `/mcp`, and the subsets below it.
 * @param confirmAbove how much a send may reach and cost before somebody has to agree to it
 * @param createServer what serves a request once its sender is known; the service's tools unless given
 */
export function assistantTools(confirmAbove: ConfirmAbove, createServer = createToolServer): Mount {
  return {
    paths: ['/mcp', ...SUBSETS.map((subset) => `/mcp/${subset}`)],
    methods: ['GET', 'POST', 'DELETE'],
    serve: (services, context) => serve(services, context, { confirmAbove, createServer }),
  };
}

async function serve(services: Services, context: Context, served: Served): Promise<void> {
  context.state.route = context.path;
  if (!isMeantForUs(context, services)) {
    refuse(context, 403, INVALID_REQUEST, 'Host or Origin is not of this service');
    return;
  }
  const presented = presentedIn(context);
  const caller = await holder(services, context, presented);
  if (caller === null) return;
  const admitted = services.admission.enter(caller.accountId, context.res);
  const read = await bodyOf(services, context, caller, admitted);
  if (read === null) return;
  await answer(services, context, read.body, { caller, admitted, presented, ...served });
}

/** Whose key it is. A client without one is told how to bring one, and of nothing that it could sign in at. */
async function holder(services: Services, context: Context, presented: Presented): Promise<Caller | null> {
  try {
    const caller = await beforeDeadline(Date.now(), keyHolder(services.front, presented));
    noteIdentity(context, caller);
    return caller;
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
    if (!(error instanceof HttpRefused) && !(error instanceof Refused)) throw error;
    const { status, problem, headers } = errorAnswer(error);
    context.set(headers);
    refuse(context, status, status === 400 ? PARSE_ERROR : INVALID_REQUEST, problemText(problem));
  }
  return null;
}

function refuse(context: Context, status: number, code: number, message: string): void {
  context.status = status;
  context.body = { jsonrpc: '2.0', id: null, error: { code, message } };
}

interface Served {
  confirmAbove: ConfirmAbove;
  createServer: typeof createToolServer;
}

/** Who asks, and what holds for them. */
interface Asking extends Served {
  caller: Caller;
  admitted: Admitted;
  presented: Presented;
}

async function answer(
  services: Services,
  context: Context,
  body: unknown,
  { caller, admitted, presented, confirmAbove, createServer }: Asking,
): Promise<void> {
  const setHeader = (name: string, value: string) => {
    if (!context.headerSent) context.set(name, value);
  };
  const admit = async () => {
    const who = authenticate(services.front, presented, setHeader, () => undefined);
    return (await beforeDeadline(Date.now(), who)).caller;
  };
  const session: Session = {
    caller,
    tools: toolsAt(context.path),
    call: {
      ...{ services, admit, confirmAbove, over: admitted.over, requestId: context.state.requestId },
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
