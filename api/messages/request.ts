import { z } from 'zod';
import { documented, exampleId } from '../documented.ts';
import type { Reason } from '../http/refusals.ts';
import {
  exactNumber,
  given,
  instant,
  issue,
  omissible,
  plainText,
  reference,
  sendWindow,
  senderName,
} from '../fields.ts';
import { priority } from './schema.ts';

const PARAM_MAX = 1000;
const PARAMS_MAX = 100;
const TEMPLATE_ID_MAX = 64;
const TOO_MANY_PARAMS = {
  reason: 'field_too_long',
  field: 'params',
  limit: PARAMS_MAX,
  unit: 'items',
} as const;

const param = z
  .union([plainText.max(PARAM_MAX), exactNumber])
  .nullable()
  .transform((value) => (value === null ? '' : String(value)));

// A number in one of the three formats, or `group:` and a group's id or name.
const recipient = plainText.meta({ format: 'recipient' });

/** The body of a send, and of its estimate (v2.3.0, Send). */
export const sendRequest = z
  .strictObject({
    to: z
      .union([recipient, z.array(recipient).meta({ minItems: 1 })])
      .describe(
        'One number, `group:<id or name>`, or an array of numbers and groups: at most 500 recipients, duplicates removed. A single text is answered with a Message, an array with a BatchResult.',
      ),
    text: documented(
      omissible(plainText.min(1)),
      'What to send; needed unless `template_id` is given. Placeholders: `{{imie}}`, `{{nazwisko}}`, `{{email}}` and custom fields from the contact book, `{{opt_out}}` or `{{wypisz}}` for the personal opt-out link, `{{link:<url>}}` for a tracked link (at most two addresses); at most four in all. A missing value becomes empty.',
      'Dzień dobry!',
    ),
    template_id: documented(
      omissible(plainText.min(1).max(TEMPLATE_ID_MAX)),
      'A template instead of `text`; its type must be `sms`.',
      exampleId('tpl'),
    ),
    params: documented(
      omissible(
        z
          .record(plainText, param)
          .refine((params) => Object.keys(params).length <= PARAMS_MAX, issue(TOO_MANY_PARAMS))
          .meta({ maxProperties: PARAMS_MAX }),
      ),
      'Values for the placeholders of the template, whatever the case of the keys. The rest is filled from the contact book.',
      { termin: '21 listopada' },
    ),
    from: documented(
      omissible(senderName),
      'An active sender of the account; its default when left out.',
      'SKLEP',
    ),
    send_at: documented(
      omissible(instant),
      'When to send, at most 90 days ahead; in the past means at once.',
      '2026-11-24T09:00:00+01:00',
    ),
    send_window: documented(
      omissible(sendWindow),
      'Sending hours of this message, `HH:MM-HH:MM` in Polish time, at least 15 minutes wide, the end exclusive. Outside of them it waits for their next start. Left out, the account decides.',
      '08:00-20:00',
    ),
    expires_at: documented(
      omissible(instant),
      'When delivery attempts end: 15 minutes to 72 hours after the send time.',
      '2026-11-24T12:00:00Z',
    ),
    reference: omissible(reference),
    // Not null either: "any value other than true/false gives 400".
    priority: priority.optional(),
  })
  .meta({
    anyOf: [given('text', 'string'), given('template_id', 'string')],
    // Params come with a template only.
    not: {
      required: ['params'],
      properties: { params: { type: 'object' }, template_id: { type: 'null' } },
    },
  });

export type SendRequest = z.output<typeof sendRequest>;

/** A body as an example. */
export const SEND_EXAMPLE = {
  to: '+48500100200',
  text: 'Dzień dobry {{imie}}, paczka czeka. {{link:https://example.com/paczka}}',
  reference: 'order-1042',
};

/**
 * In bytes: 10,000 numbers with quotes and comma (15 each) are 150 kB, the most that a list may name before duplicates are removed; 500 are 7.5 kB. The
 * longest text is 20 parts and two addresses, 7,000 characters or 42 kB written as escapes; what fills its places comes from
 * `params`, and has to fit into the same 20 parts.
 */
export const SEND_BODY_LIMIT = 256 * 1024;

/** Why what was asked for cannot be planned: a send refuses with these, and its estimate. */
export const PLAN_REFUSALS: readonly Reason[] = [
  ...(['recipients_empty', 'recipient_malformed', 'recipient_too_long', 'recipients_too_many'] as const),
  ...(['groups_too_many', 'group_unknown', 'group_empty', 'recipient_unverified', 'no_route'] as const),
  ...(['sender_inactive', 'template_unknown', 'template_not_sms', 'params_without_template'] as const),
  ...(['params_repeated', 'placeholder_malformed', 'link_malformed', 'placeholders_too_many'] as const),
  ...(['links_too_many', 'text_empty', 'text_blank', 'text_too_long'] as const),
  ...(['send_at_too_far', 'expires_at_out_of_range'] as const),
];

/** What the statuses of these refusals mean, where the general text says less. */
export const PLAN_STATUS_TEXTS = {
  400: 'A field is wrong; nothing was sent. An empty group is refused here too.',
  403: 'The key lacks the scope, the account is suspended or closed, a test account writes to a number that is not verified, or a test key is used on a live account, where it may only read.',
  404: 'A group in `to` (`param: groups`) or the template is unknown.',
  422: '`from` is not an active sender of the account, or no route leads to a number in `to`.',
};
