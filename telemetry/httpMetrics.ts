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
// For what is no path of ours: whoever guesses paths must not make metrics of them.
const NO_ROUTE = 'none';
// Node knows some thirty more, and none of them is of use here.
const OTHER_METHOD = 'other';

/**
 * Measures a request until its answer is written, or its caller has gone.
 * @param routeOf asked at the end: the pattern of the path, undefined when there is none
 */
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

/** Counts what was answered without being a request: no HTTP, headers too long or too slow. */
export function countRefusal(status: number): void {
  requests.inc({ method: OTHER_METHOD, route: NO_ROUTE, status: String(status) });
}

/** The method, where it is one of those in use here. */
export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : OTHER_METHOD;
}
