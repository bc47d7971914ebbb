import Router from '@koa/router';
import Koa from 'koa';
import helmet from 'koa-helmet';
import { endpoints } from './endpoints.ts';
import { earlierEndpoints } from './v1_2/endpoints.ts';
import { assetPage } from './pages/assets.ts';
import { pages } from './pages.ts';
import { accessLog, errorEnvelope, httpRules, measure, requestId, traceRequests } from './http/middleware.ts';
import { hasSideEffects, fallbackInterface, routesOf } from './http/endpoint.ts';
import { type Context, serve, type State } from './http/serve.ts';
import { servePage } from './http/page.ts';
import type { Services } from './services.ts';
import { isTracing } from '../telemetry/tracing.ts';
import { HttpRefused } from './http/refusals.ts';

/** Routes beside the REST interfaces, with responses in a format of their own. */
export interface Mount {
  methods: readonly string[];
  paths: readonly string[];
  serve(services: Services, context: Context): Promise<void>;
}

const CLIENT_LEFT = 'ERR_STREAM_PREMATURE_CLOSE';

/** Creates the Koa application with all endpoints, pages and mounts; `isApi` false: with mounts and the files of pages alone. */
export function createApp(services: Services, mounts: readonly Mount[] = [], isApi = true): Koa<State> {
  const app = new Koa<State>();
  app.silent = true;
  // Trust only the last entry of X-Forwarded-For, which our proxy appended: clients can forge the others.
  app.proxy = services.settings.TRUST_PROXY;
  app.maxIpsCount = 1;
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === CLIENT_LEFT) services.log.info('the client left before the end of its answer');
    else services.log.error({ err: error }, 'response failed');
  });
  const router = createRouter(services, mounts, isApi);
  app.use(measure());
  app.use(requestId());
  if (isTracing()) app.use(traceRequests());
  app.use(accessLog(services.log));
  app.use(errorEnvelope(services.log));
  app.use(securityHeaders());
  app.use(httpRules());
  app.use(withoutLastSlash());
  app.use(router.routes());
  app.use((context) => refuseUnrouted(router, context));
  return app;
}

function createRouter(services: Services, mounts: readonly Mount[], isApi: boolean): Router<State> {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const route of isApi ? routes : []) {
    const layer = router.register(route.path, [route.method], (context, next) =>
      isOfAnother(route.path, context.path) ? next() : serve(route, services, context, context.params),
    );
    // The router adds HEAD to every GET.
    if (hasSideEffects(route)) layer.methods = layer.methods.filter((method) => method !== 'HEAD');
  }
  for (const page of isApi ? pages : [assetPage]) {
    router.register(page.path, [...page.methods], (context) => servePage(page, services, context));
  }
  for (const mount of mounts) {
    for (const path of mount.paths) {
      router.register(path, [...mount.methods], (context) => mount.serve(services, context));
    }
  }
  return router;
}

const routes = routesOf([...endpoints, ...earlierEndpoints]);
const declaredPaths = new Set(routes.map(({ path }) => path));

/** `/v1/messages/estimate` also matches `/v1/messages/:id`; the literal path wins. */
function isOfAnother(pattern: string, path: string): boolean {
  return pattern !== path && declaredPaths.has(path);
}

/** One slash at the end of an address is no other address. */
function withoutLastSlash(): Koa.Middleware<State> {
  return (context, next) => {
    context.path = context.path.replace(/(?<=.)\/$/, '');
    return next();
  };
}

// Responses are JSON for programs: browsers must not render or cache them.
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

/** 404 for an unknown path; 405 for an unsupported method, 204 for OPTIONS. */
function refuseUnrouted(router: Router<State>, context: Context): void {
  const layers = router
    .match(context.path, context.method)
    .path.filter(({ path }) => !isOfAnother(String(path), context.path));
  const allowed = [...new Set([...layers.flatMap(({ methods }) => methods), 'OPTIONS'])].sort();
  if (layers.length === 0) throw new HttpRefused({ reason: 'route_unknown' });
  context.state.route = String(layers[0]!.path);
  const owners = new Map(
    routes.filter(({ path }) => path === context.state.route).flatMap((route) => [...route.owners]),
  );
  context.state.requested ??= fallbackInterface({ owners });
  if (context.method !== 'OPTIONS') {
    const problem = { reason: 'method_not_allowed', method: context.method, allowed } as const;
    throw new HttpRefused(problem);
  }
  context.status = 204;
  context.set('Allow', allowed.join(', '));
}
