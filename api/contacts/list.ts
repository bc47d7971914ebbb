import { z } from 'zod';
import { type ContactFilter, readContacts } from '../../db/contacts/contacts.ts';
import { hasGroup } from '../../db/contacts/groups.ts';
import { composed } from '../../domain/composed.ts';
import { idPattern, isId } from '../../domain/ids.ts';
import { SEARCH_TERMS_MAX, searchTerms } from '../../domain/contactSearch.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented, exampleId } from '../documented.ts';
import { issue, lineText } from '../fields.ts';
import { ABOUT_CURSOR, ABOUT_LIMIT, PAGE_MAX, PAGE_STANDARD, pageOf, pageSchema } from '../paging.ts';
import { exportContacts } from './export.ts';
import { contactRecord, contactSchema } from './record.ts';
import { type Refusal, Refused } from '../../domain/refusals.ts';

const SEARCH_MAX = 254;
const LIMIT = /^[0-9]{1,3}$/;

// Without a standard: a table is whole unless a limit is asked for.
const limit = z
  .string()
  .transform((value, context) => {
    const count = LIMIT.test(value) ? Number(value) : 0;
    if (count >= 1 && count <= PAGE_MAX) return count;
    const problem: Refusal = { reason: 'number_out_of_range', field: 'limit', min: 1, max: PAGE_MAX };
    context.addIssue({ code: 'custom', ...issue(problem) });
    return z.NEVER;
  })
  .meta({ type: 'integer', minimum: 1, maximum: PAGE_MAX, description: ABOUT_LIMIT });

// Spaces around are nobody's fragment, and an empty search box searches for nothing.
const search = lineText
  .max(SEARCH_MAX)
  .transform((value, context) => {
    const terms = searchTerms(composed(value));
    if (terms.length <= SEARCH_TERMS_MAX) return terms;
    context.addIssue({ code: 'custom', ...issue({ reason: 'search_too_long', limit: SEARCH_TERMS_MAX }) });
    return z.NEVER;
  })
  .meta({ maxLength: SEARCH_MAX });

/** GET /v1/contacts (v2.3.0, Contacts): sorted by id; as `text/csv` the whole list. */
export const listContacts = endpoint({
  method: 'GET',
  path: '/v1/contacts',
  scope: 'read',
  id: 'listContacts',
  summary: 'Lists or searches contacts.',
  description:
    'Contacts sorted by id; `next_cursor` is the last id of the page. With `Accept: text/csv` all of them as a table.',
  statusTexts: { 404: 'The group is unknown.' },
  refusals: ['group_unknown', 'csv_columns_too_many'],
  query: z.strictObject({
    q: documented(
      search.optional(),
      'Words, at most 10, in any order: each is looked for as a fragment of the number, first name, last name or email. Groups of digits side by side are one number.',
      'jan kowalski',
    ),
    group_id: documented(z.string().optional(), 'Only contacts of this group.', exampleId('gr')),
    limit: limit.optional(),
    cursor: z
      .string()
      .refine((id) => isId('ct', id), issue({ reason: 'cursor_malformed' }))
      .meta({ pattern: idPattern('ct').source, description: ABOUT_CURSOR })
      .optional(),
  }),
  csv: true,
  responses: { 200: pageSchema(contactSchema) },
  async handle({ services: { sql }, caller: { accountId }, query, csv }) {
    const { group_id: groupId = null, cursor: after = null } = query;
    if (groupId !== null && !(isId('gr', groupId) && (await hasGroup(sql, accountId, groupId)))) {
      throw new Refused({ reason: 'group_unknown', group: groupId }, 'group_id');
    }
    const filter: ContactFilter = { terms: query.q ?? [], groupId, after };
    if (csv) {
      const table = await exportContacts(sql, accountId, filter, query.limit ?? Infinity);
      return { status: 200, filename: 'contacts.csv', csv: table };
    }
    const pageSize = query.limit ?? PAGE_STANDARD;
    const found = await readContacts(sql, accountId, filter, pageSize + 1);
    const { page, last } = pageOf(found, pageSize);
    return { status: 200, body: { data: page.map(contactRecord), next_cursor: last?.id ?? null } };
  },
});
