import { SpanKind } from '@opentelemetry/api';
import type { Middleware } from 'koa';
import { methodLabel } from '../../telemetry/httpMetrics.ts';
import { inSpan, linksTo, markFailed } from '../../telemetry/tracing.ts';
import type { State } from './serve.ts';

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
