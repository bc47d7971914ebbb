import { z } from 'zod';
import {
  documented,
  exactNumber,
  exampleId,
  filledLine,
  filledText,
  given,
  identifier,
  instant,
  issue,
  omissible,
  plainText,
  reference,
  senderName,
  sendWindow,
} from '../fields.ts';
import type { Channel } from '../../domain/channelDeclaration.ts';
import { SUBJECT_MAX } from '../../domain/channels/mms.ts';
import { TRIES_MAX, VOICE_TEXT_MAX, VOICES } from '../../domain/channels/vms.ts';
import { SMIL_MAX } from '../../domain/smil.ts';
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

const SMIL_EXAMPLE =
  '<smil><body><par dur="8s"><img src="https://cdn.example.com/wiosna.jpg"/><text>Dzień dobry {{imie}}!</text></par></body></smil>';

// A number, or `group:` and a group's id or name.
const recipient = identifier.meta({ format: 'recipient' });

const to = z
  .union([recipient, z.array(recipient).meta({ minItems: 1 })])
  .describe(
    'One number, `group:<id or name>`, or an array of numbers and groups: at most 500 recipients, duplicates removed.',
  );

const PLACEHOLDERS =
  'Placeholders: `{{imie}}`, `{{nazwisko}}`, `{{email}}` and custom fields from the contact book, `{{opt_out}}` or `{{wypisz}}` for the personal opt-out link, `{{link:<url>}}` for a tracked link (at most two addresses); at most four in all. A missing value becomes empty.';

/** @param instead the field that the template replaces */
const templateOf = (type: Channel, instead: string) =>
  documented(
    omissible(identifier.min(1).max(TEMPLATE_ID_MAX)),
    `A template instead of \`${instead}\`; its type must be \`${type}\`.`,
    exampleId('tpl'),
  );

const params = documented(
  omissible(
    z
      .record(plainText, param)
      .refine((given) => Object.keys(given).length <= PARAMS_MAX, issue(TOO_MANY_PARAMS))
      .meta({ maxProperties: PARAMS_MAX }),
  ),
  'Values for the placeholders of the template, whatever the case of the keys. The rest is filled from the contact book.',
  { termin: '21 listopada' },
);

const sendOptions = {
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
};

export const MMS_SENDER =
  'Not every network takes a sender of an MMS: the phone may be shown a number of the provider’s instead.';

/** Not nullable: "any value other than true/false gives 400". */
const sendPriority = priority.optional();
const ignoredPriority = documented(
  z.boolean().optional(),
  'Of SMS alone: taken, and ignored. The price stays, and the message has none.',
  false,
);

/** A body has content of its own or a template; `params` come with a template only. */
const textOrTemplate = (field: string) => ({
  anyOf: [given(field, 'string'), given('template_id', 'string')],
  not: { required: ['params'], properties: { params: { type: 'object' }, template_id: { type: 'null' } } },
});

/** Body of a send and of its estimate (v2.3.0, Send). */
export const sendRequest = z
  .strictObject({
    to,
    text: documented(
      omissible(filledText),
      `What to send; needed unless \`template_id\` is given. ${PLACEHOLDERS}`,
      'Dzień dobry!',
    ),
    template_id: templateOf('sms', 'text'),
    params,
    ...sendOptions,
    priority: sendPriority,
  })
  .meta(textOrTemplate('text'));

export const mmsRequest = z
  .strictObject({
    to,
    subject: documented(
      omissible(filledLine.max(SUBJECT_MAX)),
      `The subject, at most ${SUBJECT_MAX} characters; needed unless the template has one.`,
      'Wiosenna oferta',
    ),
    smil: documented(
      omissible(filledText.max(SMIL_MAX)),
      `What to show: a SMIL document of the elements \`smil\`, \`head\`, \`meta\`, \`layout\`, \`root-layout\`, \`region\`, \`body\`, \`par\`, \`seq\`, \`img\`, \`audio\`, \`video\` and \`text\`, its media by public https addresses; needed unless \`template_id\` is given. In the content of \`text\`, and only there, placeholders may stand; an address in them is XML as all else (\`&amp;\`). ${PLACEHOLDERS}`,
      SMIL_EXAMPLE,
    ),
    template_id: templateOf('mms', 'smil'),
    params,
    ...sendOptions,
    priority: ignoredPriority,
    from: documented(
      omissible(senderName),
      `An active sender of the account; its default when left out. Shown with the message, and its opt-out link is this sender’s. ${MMS_SENDER}`,
      'SKLEP',
    ),
  })
  .meta(textOrTemplate('smil'));

export const voiceRequest = z
  .strictObject({
    to,
    text: documented(
      omissible(filledText.max(VOICE_TEXT_MAX)),
      'What is read aloud; needed unless `template_id` is given. Placeholders: `{{imie}}`, `{{nazwisko}}`, `{{email}}` and custom fields from the contact book, at most four; no links.',
      'Dzień dobry {{imie}}, przypominamy o wizycie jutro o dziesiątej.',
    ),
    template_id: templateOf('vms', 'text'),
    params,
    voice: documented(omissible(z.enum(VOICES)), 'Who reads; `ewa` when left out.', 'maja'),
    tries: documented(
      omissible(z.int().min(1).max(TRIES_MAX)),
      'Call attempts in all while nobody answers; 1 when left out. None begins after `expires_at`.',
      3,
    ),
    ...sendOptions,
    priority: ignoredPriority,
    from: documented(
      omissible(senderName),
      'The number that is shown: an active sender of the account that is a number. Left out, the account’s default if it is one, else a number of the provider’s.',
      '48221234567',
    ),
  })
  .meta(textOrTemplate('text'));

export const SEND_EXAMPLE = {
  to: '+48500100200',
  text: 'Dzień dobry {{imie}}, paczka czeka. {{link:https://example.com/paczka}}',
  reference: 'order-1042',
};

export const MMS_EXAMPLE = { to: '+48500100200', subject: 'Wiosenna oferta', smil: SMIL_EXAMPLE };
export const VOICE_EXAMPLE = {
  to: '+48500100200',
  text: 'Dzień dobry {{imie}}, przypominamy o wizycie jutro o dziesiątej.',
  voice: 'maja' as const,
  tries: 3,
};

/**
 * Bytes: 10,000 numbers, the most before duplicates are removed, are 150 kB with quotes and comma. The longest text is a SMIL document
 * of 10,000 characters, 60 kB if escaped; `params` must fit into the same length.
 */
export const SEND_BODY_LIMIT = 256 * 1024;

/** Statuses of refusals when planning a send. */
export const PLAN_ERRORS = [404, 422] as const;

export const PLAN_STATUS_TEXTS = {
  400: 'A field is wrong; nothing was sent. An empty group is refused here too.',
  403: 'The key lacks the scope, the account is suspended or closed, a test account writes to a number that is not verified, or a test key is used on a live account, where it may only read.',
  404: 'A group in `to` (`param: groups`) or the template is unknown.',
  422: '`from` is not an active sender of the account, or no route leads to a number in `to`.',
};

export const MMS_STATUS_TEXTS = {
  422: '`from` is not an active sender of the account, no route leads to a number in `to`, or the account has no price for its country.',
};
export const VOICE_STATUS_TEXTS = {
  422: '`from` is not an active sender of the account or is no number, no route leads to a number in `to`, the account has no price for its country, or the calling hours of the network leave no time for the call and its repeats.',
};
