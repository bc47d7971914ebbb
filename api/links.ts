import { z } from 'zod';
import { readClickLog } from '../db/links/clicks.ts';
import { readLink, readLinks } from '../db/links/links.ts';
import { isToken } from '../db/links/tokens.ts';
import { LINK_TOKEN_LENGTH, linkRecord } from '../domain/links.ts';
import { endpoint } from './http/endpoint.ts';
import { issue, queryBoolean } from './fields.ts';
import { pageOf, pageSize } from './paging.ts';
import { isId } from '../domain/ids.ts';
import { clickSchema, trackedLinkSchema } from './schemas.ts';
import { Refused } from '../domain/refusals.ts';

const CLICK_LOG_MAX = 50;
const TOKEN_PATTERN = `^[0-9A-Za-z]{${LINK_TOKEN_LENGTH}}$`;

const isLinkToken = (text: string): boolean => isToken(text, LINK_TOKEN_LENGTH);

/** GET /v1/links (v2.3.0, Tracked links): newest first; the totals are those of the page. */
export const listLinks = endpoint({
  method: 'GET',
  path: '/v1/links',
  scope: 'read',
  id: 'listLinks',
  summary: 'Lists tracked links, newest first, with totals of the page.',
  description: 'Tracked links, newest first; `totals` sum up the page.',
  query: z.strictObject({
    message_id: z.string().optional(),
    clicked: queryBoolean.optional(),
    limit: pageSize,
    cursor: z
      .string()
      .refine(isLinkToken, issue({ reason: 'cursor_malformed' }))
      .meta({ pattern: TOKEN_PATTERN })
      .optional(),
  }),
  responses: {
    200: z.strictObject({
      data: z.array(trackedLinkSchema),
      next_cursor: z.string().nullable(),
      totals: z.strictObject({
        links: z.int().nonnegative(),
        clicked: z.int().nonnegative(),
        clicks: z.int().nonnegative(),
      }),
    }),
  },
  async handle({ services, caller, query }) {
    const { message_id: messageId = null, clicked = false, cursor: before = null, limit } = query;
    // What cannot be a message's id names none, and nothing carries a link then.
    const found =
      messageId === null || isId('msg', messageId)
        ? await readLinks(services.sql, caller.accountId, { messageId, clicked, before }, limit + 1)
        : [];
    const { page, last } = pageOf(found, limit);
    return {
      status: 200,
      body: {
        data: page.map((row) => linkRecord(row, services.shortUrl)),
        next_cursor: last?.token ?? null,
        totals: {
          links: page.length,
          clicked: page.filter(({ clicks }) => clicks > 0).length,
          clicks: page.reduce((sum, { clicks }) => sum + clicks, 0),
        },
      },
    };
  },
});

/** GET /v1/links/{token}: with its latest clicks; the visitors' addresses are not shown. */
export const getLink = endpoint({
  method: 'GET',
  path: '/v1/links/:token',
  scope: 'read',
  id: 'getLink',
  summary: 'Shows one tracked link and its latest clicks.',
  description: 'One tracked link, with up to 50 of its latest clicks.',
  refusals: ['link_unknown'],
  params: z.strictObject({ token: z.string().refine(isLinkToken).meta({ pattern: TOKEN_PATTERN }) }),
  responses: {
    200: trackedLinkSchema
      .extend({ click_log: z.array(clickSchema).max(CLICK_LOG_MAX) })
      .meta({ id: 'TrackedLinkWithClicks', description: 'A tracked link with its latest clicks.' }),
  },
  async handle({ services, caller, params: { token } }) {
    const link = await readLink(services.sql, caller.accountId, token);
    if (link === null) throw new Refused({ reason: 'link_unknown' });
    const log = await readClickLog(services.sql, caller.accountId, token, CLICK_LOG_MAX);
    return {
      status: 200,
      body: {
        ...linkRecord(link, services.shortUrl),
        click_log: log.map((click) => ({ ...click, clicked_at: click.clicked_at.toISOString() })),
      },
    };
  },
});
