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

/** Counts every request and its duration, by the pattern of its path. */
export function measure(): Middleware<State> {
  return async (context, next) => {
    measureRequest(context.method, context.res, () => context.state.route);
    await next();
  };
}

/** Gives every request its id (`req_…`), every response the header `X-Request-Id`, and the id to all it logs. */
export function requestId(): Middleware<State> {
  return async (context, next) => {
    context.state.requestId = newId('req');
    context.set('X-Request-Id', context.state.requestId);
    await withIds({ requestId: context.state.requestId }, next);
  };
}

/**
 * One line for each request: no bodies, no query, and the pattern instead of the path, as a path may hold a number. A change
 * and a refused key also have the client's address: who did it must be found later.
 */
export function accessLog(log: Logger): Middleware<State> {
  return async (context, next) => {
    const start = process.hrtime.bigint();
    await next();
    const { requestId: id, route = null, accountId = null, keyId, refusal } = context.state;
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
        ...(refusal === undefined ? {} : { reason: refusal }),
        ...(isTraced(context) ? { address: clientAddress(context) } : {}),
      },
      'request',
    );
  };
}

function isTraced({ method, status, state }: Context): boolean {
  if (status === 401) return true;
  return state.visitor !== true && (state.changes === true || !READS.has(method));
}

/** An error as an interface answers it. */
interface ErrorForm {
  status: number;
  body: object;
  headers?: Record<string, string>;
}

const errorForms: Readonly<Record<Interface, (error: ErrorAnswer, state: State) => ErrorForm>> = {
  v1: (error, { endpoint }) => earlierError(error, endpoint?.outageStatus),
  v2: (error, { requestId: id }) => ({ status: error.status, body: errorBody(error, id) }),
};

/** Turns whatever is thrown into the error envelope of the interface that was asked (v2.3.0 and v1.2.0, Errors). */
export function errorEnvelope(log: Logger): Middleware<State> {
  return async (context, next) => {
    // Known of whoever shows a key or a token, before anybody asks whether it is in force.
    const requested = interfaceOf(context.headers.authorization);
    if (requested !== null) context.state.requested = requested;
    try {
      await next();
    } catch (thrown) {
      const error = errorAnswer(thrown);
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

/** What HTTP/1.1 wants of every request (RFC 9110, 10.1.1; RFC 9112, 3.2), refused here so that it is in the envelope. */
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

/** The body of an error's answer. */
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

// Asked every few seconds by whatever watches the service: of no interest to anybody.
const UNTRACED = '/v1/health';

/**
 * A trace for every request, by the pattern of its path. The caller's own trace is linked to, not joined: strangers choose
 * neither our trace ids nor what is sampled.
 */
export function traceRequests(): Middleware<State> {
  return async (context, next) => {
    if (context.path === UNTRACED) {
      await next();
      return;
    }
    const method = methodLabel(context.method);
    const options = {
      ...{ kind: SpanKind.SERVER, root: true, attributes: { 'http.request.method': method } },
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
