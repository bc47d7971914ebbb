import { z } from 'zod';
import { type LoggedClick, readClickLog, readLink, readLinks } from '../db/links/links.ts';
import {
  LINK_TOKEN_LENGTH,
  linkRecord,
  linkToken,
  LOGGED_CLICKS,
  type TrackedLinkRecord,
} from '../domain/links.ts';
import { endpoint } from './http/endpoint.ts';
import {
  createdAt,
  documented,
  EXAMPLE_INSTANT,
  exampleId,
  issue,
  queryBoolean,
  timestamp,
} from './fields.ts';
import { ABOUT_CURSOR, pageOf, pageSchema, pageSize } from './paging.ts';
import { isId } from '../domain/ids.ts';
import { Refused } from '../domain/refusals.ts';

const TOKEN_PATTERN = `^[0-9A-Za-z]{${LINK_TOKEN_LENGTH}}$`;
const TOKEN = ['The token of the short link.', 'k3Xr9QzA'] as const;

const isLinkToken = (text: string): boolean => linkToken(text, LINK_TOKEN_LENGTH) === text;

export const trackedLinkSchema = z
  .strictObject({
    token: documented(z.string().regex(/^[0-9A-Za-z]{8}$/), ...TOKEN),
    short_url: documented(
      z.string(),
      'The short address; in a text it stands without `https://`.',
      'https://example.com/l/k3Xr9QzA',
    ),
    url: documented(z.string(), 'Where it leads.', 'https://example.com/paczka'),
    message_id: documented(z.string().nullable(), 'The message that carries it.', exampleId('msg')),
    to: documented(z.string().nullable(), 'Who received it.', '+48500100200'),
    clicks: documented(z.int().nonnegative(), 'How often it was followed.', 1),
    first_click_at: documented(timestamp.nullable(), 'The first click.', EXAMPLE_INSTANT),
    last_click_at: documented(timestamp.nullable(), 'The latest click.', EXAMPLE_INSTANT),
    created_at: createdAt,
  })
  .meta({
    id: 'TrackedLink',
    description: 'A tracked short link of one recipient.',
  }) satisfies z.ZodType<TrackedLinkRecord>;

const clickSchema = z.strictObject({
  clicked_at: documented(timestamp, 'When.', EXAMPLE_INSTANT),
  user_agent: documented(z.string().nullable(), 'The program that followed it.', 'Mozilla/5.0'),
  robot: documented(z.boolean(), 'Whether it looks like a preview robot, not a person.', false),
});

const linkWithClicksSchema = trackedLinkSchema
  .extend({ click_log: z.array(clickSchema).max(LOGGED_CLICKS).describe('The latest clicks, at most 50.') })
  .meta({ id: 'TrackedLinkWithClicks', description: 'A tracked link with its latest clicks.' });

/** GET /v1/links (v2.3.0, Tracked links). */
export const listLinks = endpoint({
  method: 'GET',
  path: '/v1/links',
  scope: 'read',
  id: 'listLinks',
  summary: 'Lists tracked links, newest first, with totals of the page.',
  description: 'Tracked links, newest first; `totals` sum up the page.',
  query: z.strictObject({
    message_id: documented(z.string().optional(), 'Only links of this message.', exampleId('msg')),
    clicked: queryBoolean.optional().describe('`true`: only links that were followed.'),
    limit: pageSize,
    cursor: z
      .string()
      .refine(isLinkToken, issue({ reason: 'cursor_malformed' }))
      .meta({ pattern: TOKEN_PATTERN, description: ABOUT_CURSOR })
      .optional(),
  }),
  responses: {
    200: pageSchema(trackedLinkSchema).extend({
      totals: z
        .strictObject({
          links: documented(z.int().nonnegative(), 'Links.', 1),
          clicked: documented(z.int().nonnegative(), 'Links that were followed.', 1),
          clicks: documented(z.int().nonnegative(), 'Clicks.', 1),
        })
        .describe('Sums of this page.'),
    }),
  },
  async handle({ services, caller, query }) {
    const { message_id: messageId = null, clicked = false, cursor: before = null, limit } = query;
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

export const getLink = endpoint({
  method: 'GET',
  path: '/v1/links/:token',
  scope: 'read',
  id: 'getLink',
  summary: 'Shows one tracked link and its latest clicks.',
  description: 'One tracked link, with up to 50 of its latest clicks.',
  params: z.strictObject({
    token: documented(z.string().refine(isLinkToken).meta({ pattern: TOKEN_PATTERN }), ...TOKEN),
  }),
  responses: { 200: linkWithClicksSchema },
  async handle({ services, caller, params: { token } }) {
    const link = await readLink(services.sql, caller.accountId, token);
    if (link === null) throw new Refused({ reason: 'link_unknown' });
    const log = await readClickLog(services.sql, caller.accountId, token);
    return { status: 200, body: { ...linkRecord(link, services.shortUrl), click_log: log.map(clickRecord) } };
  },
});

function clickRecord({ clickedAt, userAgent, robot }: LoggedClick) {
  return { clicked_at: clickedAt.toISOString(), user_agent: userAgent, robot };
}
