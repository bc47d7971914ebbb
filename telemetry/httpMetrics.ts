import type { ServerResponse } from 'node:http';
import { Gauge } from 'prom-client';
import { afterAnswer } from './afterAnswer.ts';
import { counter, histogram, registry } from './metrics.ts';

const requests = counter(
  'goniec_http_requests_total',
  'Requests by the pattern of their path; status "aborted" is a caller who left before the answer.',
  ['method', 'route', 'status'],
);
const duration = histogram(
  'goniec_http_request_duration_seconds',
  'From the request to the end of its answer.',
  ['method', 'route'],
);
const inFlight = new Gauge({
  name: 'goniec_http_requests_in_flight',
  help: 'Requests that have no whole answer yet.',
  registers: [registry],
});

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
// One label for all unknown paths, so that path scans do not create metrics.
const NO_ROUTE = 'none';
// Node knows some thirty more methods; none is used here.
const OTHER_METHOD = 'other';

/** Measures a request until its response is written or its caller has gone. @param routeOf called at the end: the path's pattern, if any */
export function measureRequest(
  method: string,
  response: ServerResponse,
  routeOf: () => string | undefined,
): void {
  const end = duration.startTimer();
  inFlight.inc();
  afterAnswer(response, () => {
    inFlight.dec();
    const labels = { method: methodLabel(method), route: routeOf() ?? NO_ROUTE };
    end(labels);
    requests.inc({ ...labels, status: response.writableFinished ? String(response.statusCode) : 'aborted' });
  });
}

/** Counts connections refused before a request was parsed: no HTTP, headers too long or too slow. */
export function countRefusal(status: number): void {
  requests.inc({ method: OTHER_METHOD, route: NO_ROUTE, status: String(status) });
}

export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : OTHER_METHOD;
}
