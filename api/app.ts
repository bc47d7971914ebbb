import Router from '@koa/router';
import Koa from 'koa';
import helmet from 'koa-helmet';
import { endpoints } from './endpoints.ts';
import { ApiError, notFound } from './errors.ts';
import { accessLog, errorEnvelope, httpRules, requestId } from './middleware.ts';
import { type Context, serve, type State } from './serve.ts';
import type { Services } from './services.ts';

/** The whole API as a Koa application. */
export function createApp(services: Services): Koa<State> {
  const app = new Koa<State>();
  app.silent = true;
  app.on('error', (error: unknown) => services.log.error({ err: error }, 'response failed'));
  const router = createRouter(services);
  app.use(requestId());
  app.use(accessLog(services.log));
  app.use(errorEnvelope(services.log));
  app.use(securityHeaders());
  app.use(httpRules());
  app.use(router.routes());
  app.use((context) => refuseUnrouted(router, context));
  return app;
}

function createRouter(services: Services): Router<State> {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const endpoint of endpoints) {
    router.register(endpoint.path, [endpoint.method], (context) =>
      serve(endpoint, services, context, context.params),
    );
  }
  return router;
}

// Answers are JSON for programs: a browser is to do nothing with them, and nobody is to keep them.
function securityHeaders(): Koa.Middleware<State> {
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
  });
  return async (context, next) => {
    context.set('Cache-Control', 'no-store');
    await protect(context, next);
  };
}

/** No endpoint took the request: another method of the path would (405, or 204 to OPTIONS), or nothing is there (404). */
function refuseUnrouted(router: Router<State>, context: Context): void {
  const layers = router.match(context.path, context.method).path;
  const allowed = [...new Set([...layers.flatMap(({ methods }) => methods), 'OPTIONS'])].sort();
  if (layers.length === 0) throw notFound({ reason: 'route_unknown' });
  context.state.route = String(layers[0]!.path);
  const headers = { Allow: allowed.join(', ') };
  if (context.method !== 'OPTIONS') {
    const problem = { reason: 'method_not_allowed', method: context.method, allowed } as const;
    throw new ApiError(405, 'method_not_allowed', problem, { headers });
  }
  context.status = 204;
  context.set(headers);
}
