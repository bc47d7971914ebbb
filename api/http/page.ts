import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Services } from '../services.ts';
import { outageOf, within } from '../../operations/outages.ts';
import { clientAddress } from './admission.ts';
import { statusOf } from './refusals.ts';
import type { Context } from './serve.ts';

/** A visit to a public page. */
export interface Visit {
  method: string;
  params: Record<string, string>;
  /** As it came, without the question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  /** For pages that read a body; it is not read yet. */
  request: IncomingMessage;
  /** The visitor's address; the proxy's word for it where `TRUST_PROXY` says so. */
  address: string;
  /** When the visit came, epoch milliseconds of this process. */
  receivedAt: number;
  /** `req_…`, as in `X-Request-Id`. */
  requestId: string;
  services: Services;
}

/** What a page answers; its headers replace the API's own where they have the same name. */
export interface PageAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A public address that people open, or a provider calls: no key, no JSON, no limit on requests. */
export interface Page {
  /** GET stands for HEAD as well; the visit says which it was. */
  methods: readonly ('GET' | 'POST')[];
  /** Pattern with `:name` parameters. */
  path: string;
  /** Whether people open it, whose addresses are nobody's business, and not a provider's server. */
  visitors: boolean;
  handle(visit: Visit): Promise<PageAnswer>;
  /** What the visitor sees when something behind the page does not work. */
  failed(status: number, visit: Visit): PageAnswer;
}

// As for endpoints: nothing hangs.
const ANSWER_MS = 10_000;

/** Answers a visit to a page, in the page's own words whatever happens. */
export async function servePage(page: Page, services: Services, context: Context): Promise<void> {
  context.state.route = page.path;
  context.state.visitor = page.visitors;
  const visit: Visit = {
    method: context.method,
    params: context.params as Record<string, string>,
    query: context.querystring,
    headers: context.headers,
    request: context.req,
    address: clientAddress(context),
    receivedAt: Date.now(),
    requestId: context.state.requestId,
    services,
  };
  const answer = await answerTo(page, visit);
  context.status = answer.status;
  context.set(answer.headers);
  context.body = answer.body;
}

async function answerTo(page: Page, visit: Visit): Promise<PageAnswer> {
  try {
    return await within(visit.receivedAt + ANSWER_MS, page.handle(visit));
  } catch (error) {
    visit.services.log.error({ err: error, requestId: visit.requestId }, 'page failed');
    return page.failed(statusOf({ reason: outageOf(error) ?? 'internal' }), visit);
  }
}
