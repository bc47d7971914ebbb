import { CREATED, text, ULID, type FieldTexts, type OwnedTexts } from './text.ts';

const MESSAGE: FieldTexts = {
  id: text('The id.', `msg_${ULID}`),
  type: text('The kind of message.', 'sms'),
  status: text(
    '`scheduled`: waits for its time. `queued`: accepted. `sent`: handed to the network. `delivered`, `undelivered`: what the network reported. `failed`: refused by the network. `expired`: not delivered in time. `rejected`: not sent, as the number is on the blacklist. `cancelled`: cancelled in time, cost returned.',
    'queued',
  ),
  to: text('The recipient, E.164 with plus.', '+48500100200'),
  from: text('The sender.', 'SKLEP'),
  text: text('The text as the recipient gets it.', 'Dzień dobry!'),
  subject: text('The subject of an MMS.', null),
  cost_grosze: text('What the message cost, in grosze net; 0 when rejected.', 15),
  send_at: text('When it is sent, after any shift by the sending hours; null when at once.', null),
  expires_at: text('When delivery attempts end.', null),
  delivered_at: text('When it was delivered.', null),
  error: text('Why it failed or was rejected, in Polish.', null),
  links: text('The tracked links of the text.', []),
};

const SEND: FieldTexts = {
  to: text(
    'One number, `group:<id or name>`, or an array of numbers and groups: at most 500 recipients, duplicates removed. A single text is answered with a Message, an array with a BatchResult.',
  ),
  text: text(
    'What to send; needed unless `template_id` is given. Placeholders: `{{imie}}`, `{{nazwisko}}`, `{{email}}` and custom fields from the contact book, `{{opt_out}}` or `{{wypisz}}` for the personal opt-out link, `{{link:<url>}}` for a tracked link (at most two addresses); at most four in all. A missing value becomes empty.',
    'Dzień dobry!',
  ),
  template_id: text('A template instead of `text`; its type must be `sms`.', `tpl_${ULID}`),
  params: text(
    'Values for the placeholders of the template, whatever the case of the keys. The rest is filled from the contact book.',
    { termin: '21 listopada' },
  ),
  from: text('An active sender of the account; its default when left out.', 'SKLEP'),
  send_at: text(
    'When to send, at most 90 days ahead; in the past means at once.',
    '2026-11-24T09:00:00+01:00',
  ),
  send_window: text(
    'Sending hours of this message, `HH:MM-HH:MM` in Polish time, at least 15 minutes wide, the end exclusive. Outside of them it waits for their next start. Left out, the account decides.',
    '08:00-20:00',
  ),
  expires_at: text(
    'When delivery attempts end: 15 minutes to 72 hours after the send time.',
    '2026-11-24T12:00:00Z',
  ),
};

const TEMPLATE: FieldTexts = {
  id: text('The id.', `tpl_${ULID}`),
  name: text('The name.', 'Przypomnienie'),
  type: text('What it is for: the kind of message.', 'sms'),
  body: text('Text with `{{key}}` placeholders; a SMIL document for `mms`.', 'Dzień dobry {{imie}}!'),
  subject: text('Of an MMS.', null),
  placeholders: text('The names of the placeholders in `body`, in lower case.', ['imie']),
};

/** Fields of messages and templates. */
export const messageTexts: OwnedTexts = {
  Message: MESSAGE,
  MessageWithLinks: MESSAGE,
  BatchResult: {
    count: text('Recipients, after groups were expanded and duplicates removed.', 1),
    accepted: text('Recipients that the message is sent to: all but the rejected.', 1),
    total_cost_grosze: text('What all of them cost together, in grosze net.', 15),
    test_mode: text('On test accounts only: paid from the test credits.', true),
    messages: text('One message for each recipient.'),
  },
  Estimate: {
    count: text('Recipients, after groups were expanded and duplicates removed.', 1),
    accepted: text('Recipients that the message would be sent to: all but the rejected.', 1),
    total_parts: text('Parts of the accepted together.', 1),
    total_cost_grosze: text('What the accepted cost together, in grosze net.', 15),
    test_mode: text('On test accounts only: paid from the test credits.', true),
    sufficient_funds: text('Whether the balance, or the test credits, would do.', true),
    messages: text('What each recipient would get.'),
  },
  'Estimate.messages': {
    ...MESSAGE,
    status: text('What the message would begin as.', 'queued'),
    encoding: text(
      '`gsm7`, or `ucs2` where the text has other characters: then fewer fit into a part.',
      'ucs2',
    ),
    price_per_part_grosze: text('The price of a part, in grosze net.', 15),
    error: text('Why it would be rejected, in Polish.', null),
  },
  sendMessages: SEND,
  estimateMessages: SEND,
  MessageEvent: {
    at: text('When.', CREATED),
    type: text(
      '`accepted`, `charged`, `refunded`, `submitted` (a part was taken by the network), `reported` (the network reported on a part), `status` (the message came to a status), `webhook_attempt`, `webhook_resend` (asked for again), `reply`, `click`, `opt_out`.',
      'status',
    ),
    status: text(
      'Of `accepted` and `status`: the status; of `reported`: what the report says of the part, null as long as that is not final.',
      'delivered',
    ),
    part: text('Of `submitted` and `reported`: the part, from 1.', null),
    amount_grosze: text('Of `charged` (negative) and `refunded`, in grosze net.', null),
    event_id: text('Of `webhook_attempt` and `webhook_resend`: the event.', null),
    attempt: text('Of `webhook_attempt`: its number, from 1.', null),
    status_code: text('Of `webhook_attempt`: what the receiver answered; null: nothing.', null),
    inbound_id: text('Of `reply`: its id.', null),
  },
  listMessageEvents: { data: text('The steps, oldest first.') },
  listMessages: {
    status: text('Only messages in this status.'),
    to: text('Only to this number.', '+48500100200'),
    reference: text('Only with exactly this reference.', 'order-1042'),
  },
  Template: TEMPLATE,
  createTemplate: { ...TEMPLATE, type: text('What it is for; `sms` unless told.', 'sms') },
  changeTemplate: TEMPLATE,
};
