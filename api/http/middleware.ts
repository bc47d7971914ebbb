import { unescape } from 'node:querystring';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import { SpanKind } from '@opentelemetry/api';
import { newId } from '../../db/ids.ts';
import { measureRequest, methodLabel } from '../../telemetry/httpMetrics.ts';
import { withIds } from '../../telemetry/ids.ts';
import { INTERFACE, type Interface } from '../../domain/ids.ts';
import { earlierError } from '../v1_2/errors.ts';
import { interfaceOf } from './authentication.ts';
import { type ErrorAnswer, errorAnswer, HttpRefused, isFault } from './refusals.ts';
import { clientAddress } from './admission.ts';
import type { Context, State } from './serve.ts';
import { problemText } from './texts.ts';
import { inSpan, linksTo, markFailed } from '../../telemetry/tracing.ts';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Counts requests and their duration by route. */
export function measure(): Middleware<State> {
  return async (context, next) => {
    measureRequest(context.method, context.res, () => context.state.route);
    await next();
  };
}

/** Assigns the request id (`req_…`), for logs and the header `X-Request-Id`. */
export function requestId(): Middleware<State> {
  return async (context, next) => {
    context.state.requestId = newId('req');
    context.set('X-Request-Id', context.state.requestId);
    await withIds({ requestId: context.state.requestId }, next);
  };
}

/**
 * Logs one line per request, without body and query, and with the route instead of the path, which may contain a phone number. Changes
 * and refused keys are logged with the client's address, so that they can be traced.
 */
export function accessLog(log: Logger): Middleware<State> {
  return async (context, next) => {
    const start = process.hrtime.bigint();
    await next();
    const { requestId: id, route = null, accountId = null, keyId, personId, refusal } = context.state;
    const ms = Number(process.hrtime.bigint() - start) / 1e6;
    log.info(
      {
        requestId: id,
        method: context.method,
        route,
        status: context.status,
        ms: Math.round(ms * 10) / 10,
        accountId,
        ...(keyId === undefined ? {} : { keyId }),
        ...(personId === undefined ? {} : { personId }),
        ...(refusal === undefined ? {} : { reason: refusal }),
        ...(isTraced(context) ? { address: clientAddress(context) } : {}),
      },
      'request',
    );
  };
}

function isTraced({ method, status, state }: Context): boolean {
  if (status === 401) return true;
  return state.visitor !== true && (state.sideEffects === true || !READS.has(method));
}

interface ErrorForm {
  status: number;
  body: object;
  headers?: Record<string, string>;
}

const errorForms: Readonly<Record<Interface, (error: ErrorAnswer, state: State) => ErrorForm>> = {
  v1: (error, { endpoint }) => earlierError(error, endpoint?.outageStatus),
  v2: (error, { requestId: id }) => ({ status: error.status, body: errorBody(error, id) }),
};

/** Converts thrown errors into the error envelope of the requested interface (v2.3.0 and v1.2.0, Errors). */
export function errorEnvelope(log: Logger): Middleware<State> {
  return async (context, next) => {
    // Set before the key is validated, so that its refusal has the right form.
    const requested = interfaceOf(context.headers.authorization);
    if (requested !== null) context.state.requested = requested;
    try {
      await next();
    } catch (thrown) {
      const error = withPath(errorAnswer(thrown), context.path);
      if (isFault(error.problem)) {
        log.error(
          { err: error.cause, requestId: context.state.requestId, code: error.code },
          'request failed',
        );
      }
      context.state.refusal = error.problem.reason;
      const form = errorForms[context.state.requested ?? INTERFACE](error, context.state);
      context.status = form.status;
      context.set({ ...error.headers, ...form.headers });
      context.body = form.body;
    }
  };
}

/** Of what is not found: the address may have been copied with what cannot be seen. */
function withPath(error: ErrorAnswer, path: string): ErrorAnswer {
  if (error.status !== 404) return error;
  return { ...error, problem: { given: unescape(path), ...error.problem } };
}

/** Rules of HTTP/1.1 (RFC 9110, 10.1.1; RFC 9112, 3.2) that Node would enforce without the error envelope. */
export function httpRules(): Middleware<State> {
  return async ({ req }, next) => {
    if (req.httpVersion === '1.1' && req.headers.host === undefined)
      throw new HttpRefused({ reason: 'host_missing' });
    const { expect } = req.headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue')
      throw new HttpRefused({ reason: 'expectation_unsupported' });
    await next();
  };
}

/** The JSON body of an error (v2.3.0, Errors). */
export function errorBody(error: Pick<ErrorAnswer, 'code' | 'problem' | 'param'>, requestIdOfIt: string) {
  return {
    error: {
      code: error.code,
      message: problemText(error.problem),
      ...(error.param === null ? {} : { param: error.param }),
    },
    request_id: requestIdOfIt,
  };
}

// Polled every few seconds by monitoring.
const UNTRACED = '/v1/health';

/** Traces every request by route. The caller's trace is linked, not joined: outsiders must not choose our trace ids or what is sampled. */
export function traceRequests(): Middleware<State> {
  return async (context, next) => {
    if (context.path === UNTRACED) {
      await next();
      return;
    }
    const method = methodLabel(context.method);
    const options = {
      kind: SpanKind.SERVER,
      root: true,
      attributes: { 'http.request.method': method },
      links: linksTo(context.req.headersDistinct['traceparent']?.[0]),
    };
    await inSpan(method, options, async (span) => {
      await next();
      const { route = 'none' } = context.state;
      span.updateName(`${method} ${route}`);
      span.setAttributes({ 'http.route': route, 'http.response.status_code': context.status });
      if (context.status >= 500) markFailed(span, String(context.status));
    });
  };
}
