import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Services } from '../services.ts';
import { outageOf, within } from '../../operations/outages.ts';
import { clientAddress } from './admission.ts';
import { RESPONSE_TIMEOUT_MS } from './invoke.ts';
import { statusOf } from './refusals.ts';
import type { Context } from './serve.ts';

export interface Visit {
  method: string;
  params: Record<string, string>;
  /** Raw, without the question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  /** Its body is not read yet. */
  request: IncomingMessage;
  address: string;
  /** Epoch milliseconds of this process. */
  receivedAt: number;
  requestId: string;
  services: Services;
}

/** A page's response; its headers override the API's defaults. */
export interface PageAnswer {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

/** A public URL that people open or a provider calls: no key, no JSON, no rate limit. */
export interface Page {
  /** GET includes HEAD; `Visit.method` tells them apart. */
  methods: readonly ('GET' | 'POST')[];
  path: string;
  /** Whether people open it, whose addresses are not logged, and not a provider. */
  visitors: boolean;
  handle(visit: Visit): Promise<PageAnswer>;
  /** The response when the handler fails. */
  failed(status: number, visit: Visit): PageAnswer;
}

/** Serves a page; `failed` of the page renders its errors. */
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
    return await within(visit.receivedAt + RESPONSE_TIMEOUT_MS, page.handle(visit));
  } catch (error) {
    visit.services.log.error({ err: error, requestId: visit.requestId }, 'page failed');
    return page.failed(statusOf({ reason: outageOf(error) ?? 'internal' }), visit);
  }
}
