import { outageOf, within } from '../../operations/outages.ts';
import { clientAddress } from './address.ts';
import { kindOf } from './refusals.ts';
import type { Page, PageAnswer, Visit } from './page.ts';
import type { Context } from './serve.ts';
import type { Services } from '../services.ts';

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
    return page.failed(kindOf({ reason: outageOf(error) ?? 'internal' }).status, visit);
  }
}
