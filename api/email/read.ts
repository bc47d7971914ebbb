import { z } from 'zod';
import {
  type EmailRow,
  type EmailWithEvents,
  readEmail,
  listEmails as readEmails,
} from '../../db/emails/reads.ts';
import {
  EMAIL_EVENT_KINDS,
  EMAIL_STATUSES,
  SHOWN_RECIPIENT_STATES,
  shownState,
} from '../../domain/email/statuses.ts';
import { EMAIL_IDX_MAX } from '../../domain/email/address.ts';
import { type Interface, isId } from '../../domain/ids.ts';
import { Refused } from '../../domain/refusals.ts';
import {
  createdAt,
  documented,
  EXAMPLE_INSTANT,
  exampleId,
  identifier,
  lenientPathId,
  timestamp,
  updatedAt,
} from '../fields.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { cursorAfter, idCursor, pageOf, pageSize } from '../paging.ts';
import { successSchema, successResponse } from '../v1_2/fields.ts';
import { address } from './fields.ts';
import { sendEmail } from './send.ts';
import { addSuppressions, listSuppressions, removeSuppression } from './suppressions.ts';

const EVENT_KINDS = [...EMAIL_EVENT_KINDS, 'failed', 'suppressed', 'unsubscribed'] as const;

const recipient = z
  .strictObject({
    kind: documented(z.enum(['to', 'cc', 'bcc']), 'Where it stood.', 'to'),
    address: documented(z.string(), 'The address.', 'jan@sklep.example'),
    state: documented(z.enum(SHOWN_RECIPIENT_STATES), 'The last that is known of it.', 'delivered'),
  })
  .meta({ id: 'EmailRecipient', description: 'An address of an e-mail.' });

export const emailSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('em')),
    status: documented(
      z.enum(EMAIL_STATUSES),
      '`queued`, `sent` (a provider has it), `delivered` (to all), `bounced` or `complained` (at least one address), `failed` (never handed over, refunded), `suppressed` (nobody to send it to), `unknown` (handed over without an answer).',
      'delivered',
    ),
    from: documented(z.string(), "The sender's address.", 'zamowienia@sklep.example'),
    from_name: documented(z.string().nullable(), "The sender's name.", 'Sklep Przykład'),
    reply_to: documented(z.string().nullable(), 'Where answers go.', null),
    subject: documented(z.string(), 'The subject.', 'Potwierdzenie zamówienia 1042'),
    recipients: z.array(recipient).describe('Its addresses.'),
    idx: documented(z.string().nullable(), 'Your own identifier.', 'zam-1042'),
    cost: documented(z.number().nonnegative(), 'What it cost, in points: one is a grosz.', 1),
    error: documented(z.string().nullable(), 'Why it failed, in one word; null unless it did.', null),
    sent_at: documented(
      timestamp.nullable(),
      'When a provider took it; null as long as none has.',
      EXAMPLE_INSTANT,
    ),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Email', description: 'An e-mail.' });

const event = z
  .strictObject({
    kind: documented(z.enum(EVENT_KINDS), 'What happened.', 'delivered'),
    address: documented(
      z.string().nullable(),
      'Whom it concerns; null where it is not one address, or nobody knows which.',
      'jan@sklep.example',
    ),
    at: documented(timestamp, 'When.', EXAMPLE_INSTANT),
    permanent: documented(
      z.boolean().nullable(),
      'Of `bounced`: whether the address will never take e-mail; null of all else.',
      null,
    ),
  })
  .meta({ id: 'EmailEvent', description: 'Something that happened to an e-mail.' });

export const emailWithEventsSchema = emailSchema
  .extend({
    events: z.array(event).describe('What happened, the oldest first; the last 200.'),
    events_left_out: documented(
      z.int().nonnegative(),
      'How many more happened that are neither kept nor notified: beyond 1,000 opens, 1,000 clicks and 100 reports that came by e-mail.',
      0,
    ),
  })
  .meta({ id: 'EmailWithEvents', description: 'An e-mail with what happened to it.' });

export function listEmails(owner: Interface) {
  return endpoint({
    interface: owner,
    method: 'GET',
    path: '/v1/email',
    scope: 'read',
    id: 'listEmails',
    summary: 'Lists e-mails, newest first.',
    description: 'E-mails of the account, newest first, by whichever interface they were sent.',
    query: z.strictObject({
      limit: pageSize,
      status: z.enum(EMAIL_STATUSES).optional().describe('Only e-mails in this status.'),
      idx: identifier.min(1).max(EMAIL_IDX_MAX).optional().describe('Only with exactly this identifier.'),
      to: address.optional().describe('Only to this address, in `to`, `cc` or `bcc`.'),
      cursor: idCursor('em', 'email-cursor').optional(),
    }),
    responses: {
      200: successSchema(
        z.strictObject({
          count: documented(z.int().nonnegative(), 'E-mails on this page.', 1),
          next_cursor: documented(
            z.string().nullable(),
            'The `cursor` of the next page; null on the last.',
            null,
          ),
          emails: z.array(emailSchema).describe('The e-mails.'),
        }),
      ),
    },
    async handle({ services, caller, query }) {
      const { limit, status = null, idx = null, to = null, cursor = null } = query;
      const filter = { status, idx, address: to, before: cursor };
      const found = await readEmails(services.sql, caller.accountId, filter, limit + 1);
      const { page, last } = pageOf(found, limit);
      const emails = page.map(emailRecord);
      const next = last === undefined ? null : cursorAfter(last.id);
      return successResponse({ count: emails.length, next_cursor: next, emails });
    },
  });
}

export function getEmail(owner: Interface) {
  return endpoint({
    interface: owner,
    method: 'GET',
    path: '/v1/email/:id',
    scope: 'read',
    id: 'getEmail',
    summary: 'Shows one e-mail.',
    description: 'One e-mail, with what happened to it.',
    params: z.strictObject({ id: lenientPathId('em') }),
    responses: { 200: successSchema(emailWithEventsSchema) },
    async handle({ services, caller, params }) {
      const found = isId('em', params.id) ? await readEmail(services.sql, caller.accountId, params.id) : null;
      if (found === null) throw new Refused({ reason: 'email_unknown' });
      const { events, eventsLeftOut } = found;
      return successResponse({
        ...emailRecord(found),
        events: events.map(shown),
        events_left_out: eventsLeftOut,
      });
    },
  });
}

function emailRecord(row: EmailRow): z.output<typeof emailSchema> {
  return {
    id: row.id,
    status: row.status,
    from: row.fromAddress,
    from_name: row.fromName,
    reply_to: row.replyTo,
    subject: row.subject,
    recipients: row.recipients.map((one) => ({ ...one, state: shownState(row.status, one.state) })),
    idx: row.idx,
    cost: row.costGrosze,
    error: row.status === 'failed' ? row.errorCode : null,
    sent_at: row.sentAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function shown({
  kind,
  address: whom,
  at,
  details,
}: EmailWithEvents['events'][number]): z.output<typeof event> {
  const { permanent } = details;
  return {
    kind: EVENT_KINDS.find((one) => one === kind)!,
    address: whom,
    at: at.toISOString(),
    permanent: typeof permanent === 'boolean' ? permanent : null,
  };
}

/**
 * E-mail endpoints (v1.2.0, POST /v1/email; the others are our addition). Keys of both interfaces may call them and get the same
 * responses; errors have the form of the interface `owner`.
 */
export function emailEndpoints(owner: Interface): Endpoint[] {
  return [
    sendEmail(owner),
    listEmails(owner),
    listSuppressions(owner),
    addSuppressions(owner),
    removeSuppression(owner),
    getEmail(owner),
  ];
}
