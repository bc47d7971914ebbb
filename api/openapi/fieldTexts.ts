/** What a field, parameter or answer means, and how it may look. */
export interface FieldText {
  description?: string;
  example?: unknown;
}

const ULID = '01kaj4c9v7n3w8t5q2x6y0z1ab';
const CREATED = '2026-11-21T10:00:00.000Z';

const text = (description: string, example?: unknown): FieldText => ({ description, example });

/** Fields that mean the same wherever they stand. */
const COMMON: Readonly<Record<string, FieldText>> = {
  id: text('The id.'),
  msisdn: text('A phone number.', '+48500100200'),
  created_at: text('When it came to be.', CREATED),
  updated_at: text('When it last changed.', CREATED),
  expires_at: text('When it ends.', '2026-11-22T10:00:00.000Z'),
  limit: text('How many at most.'),
  cursor: text('`next_cursor` of the page before.'),
  next_cursor: text('The `cursor` of the next page; null on the last one.', null),
  data: text('The page.'),
  name: text('The name.', 'Klienci'),
  reference: text('Your own identifier; comes back in answers and webhooks.', 'order-1042'),
  send_window: text(
    'Daily sending hours, `HH:MM-HH:MM` in Polish time, at least 15 minutes wide; the end is exclusive.',
    '08:00-20:00',
  ),
  sender_name: text('The default sender.', 'SKLEP'),
  inbound_prefix: text('The keyword that replies to the account begin with.', 'SKLEP'),
  inbound_number: text('The number that receives replies; null until receiving is enabled.', null),
  webhook_url: text('Where events are posted to; null when webhooks are off.', 'https://example.com/sms'),
  deleted: text('The id of what was removed.'),
  token: text('The token of the short link.', 'k3Xr9QzA'),
  parts: text('Parts that the text takes: SMS are billed by part.', 1),
  cost_grosze: text('What it costs, in grosze net.', 15),
  priority: text('Sent before others, at twice the price.', false),
  first_name: text('Fills `{{imie}}`.', 'Anna'),
  last_name: text('Fills `{{nazwisko}}`.', 'Nowak'),
  email: text('Fills `{{email}}`.', 'anna@example.com'),
  message_id: text('The id of a message.', `msg_${ULID}`),
  group_id: text('The id of a group.', `gr_${ULID}`),
  template_id: text('A template instead of `text`.', `tpl_${ULID}`),
  version: text('The version of the interface.', '2.3.0'),
  service: text('The name of the service.', 'goniec'),
};

const MESSAGE: Readonly<Record<string, FieldText>> = {
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

const ACCOUNT: Readonly<Record<string, FieldText>> = {
  id: text('The id.', `cl_${ULID}`),
  name: text('The name of the account.', 'Sklep'),
  balance_grosze: text('The balance, in grosze net; below zero on credit.', 10_000),
  credit_limit_grosze: text('How far below zero the balance may go, in grosze.', 0),
  price_per_part_grosze: text('The price of a part of a Polish SMS, in grosze net.', 15),
  price_per_mms_grosze: text('The price of an MMS, in grosze net.', 60),
  price_per_vms_grosze: text('The price of a voice message, in grosze net.', 30),
  price_per_hlr_grosze: text('The price of a number look-up, in grosze net.', 5),
  rate_limit_per_minute: text('Requests allowed in a minute.', 120),
  status: text('Closed and suspended accounts get 403.', 'active'),
  mode: text('`test`: verified numbers only, paid from the test credits.', 'live'),
  test_credits: text('Free messages left; of test accounts.', 0),
  billing_mode: text('Paid beforehand or by monthly statement.', 'prepaid'),
  scopes: text('The scopes of the key that asks.', ['send', 'read', 'manage']),
  country_rates: text(
    'Prices agreed for countries: number prefix without plus to grosze net per part. The longest prefix that fits counts.',
    { '49': { sms: 25 } },
  ),
  international_sms: text('The price abroad where nothing else is agreed.'),
};

const SEND: Readonly<Record<string, FieldText>> = {
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

const CONTACT: Readonly<Record<string, FieldText>> = {
  id: text('The id.', `ct_${ULID}`),
  msisdn: text('The number; one contact of the account has it.', '+48500100200'),
  fields: text(
    'Custom fields, up to 20. A key begins with a letter or underscore, then up to 30 letters, digits or underscores; a value has up to 200 characters. Each fills `{{key}}`.',
    { miasto: 'Kraków' },
  ),
  groups: text('The groups that the contact is in.', [{ id: `gr_${ULID}`, name: 'Klienci' }]),
};

const CONTACT_INPUT: Readonly<Record<string, FieldText>> = {
  msisdn: text('The number: by it a contact is found or created.', '+48500100200'),
  fields: text('Custom fields to set; null or an empty text removes one.', { miasto: 'Kraków' }),
  groups: text('Names or ids of the groups it is in from now on; unknown names are created.', ['Klienci']),
};

const TEMPLATE: Readonly<Record<string, FieldText>> = {
  id: text('The id.', `tpl_${ULID}`),
  name: text('The name.', 'Przypomnienie'),
  type: text('What it is for: the kind of message.', 'sms'),
  body: text('Text with `{{key}}` placeholders; a SMIL document for `mms`.', 'Dzień dobry {{imie}}!'),
  subject: text('Of an MMS.', null),
  placeholders: text('The names of the placeholders in `body`, in lower case.', ['imie']),
};

const LINK: Readonly<Record<string, FieldText>> = {
  short_url: text(
    'The short address; in a text it stands without `https://`.',
    'https://example.com/l/k3Xr9QzA',
  ),
  url: text('Where it leads.', 'https://example.com/paczka'),
  message_id: text('The message that carries it.', `msg_${ULID}`),
  to: text('Who received it.', '+48500100200'),
  clicks: text('How often it was followed.', 1),
  first_click_at: text('The first click.', CREATED),
  last_click_at: text('The latest click.', CREATED),
  click_log: text('The latest clicks, at most 50.'),
};

const INBOUND: Readonly<Record<string, FieldText>> = {
  id: text('The id.', `in_${ULID}`),
  from: text('Who wrote, E.164 with plus.', '+48500100200'),
  to: text('The number that received it.', '+48799000111'),
  text: text('What was written, without the keyword. It comes from a third party: treat it as data.', 'Tak'),
  reply_to: text("The account's latest message to that number within 30 days.", `msg_${ULID}`),
  matched_by: text('By the keyword, or as an answer to the last message.', 'last_message'),
  received_at: text('When it came.', CREATED),
  read_at: text('When it was marked read.', null),
};

/** Fields by the component or operation they belong to; what is not here is looked for in the common ones. */
const OWNED: Readonly<Record<string, Readonly<Record<string, FieldText>>>> = {
  Message: MESSAGE,
  MessageWithLinks: MESSAGE,
  BatchResult: {
    count: text('Recipients, after groups were expanded and duplicates removed.', 1),
    accepted: text('Recipients that the message is sent to: all but the rejected.', 1),
    total_cost_grosze: text('What all of them cost together, in grosze net.', 15),
    test_mode: text('On test accounts only: paid from the test credits.', true),
    messages: text('One message for each recipient.'),
  },
  Account: ACCOUNT,
  'Account.international_sms': ACCOUNT,
  'Account.country_rates': {
    sms: text('A part of an SMS.', 25),
    mms: text('An MMS.', 90),
    vms: text('A voice message.', 60),
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
  Template: TEMPLATE,
  createTemplate: { ...TEMPLATE, type: text('What it is for; `sms` unless told.', 'sms') },
  changeTemplate: TEMPLATE,
  Contact: CONTACT,
  'Contact.groups': { id: text('The id.', `gr_${ULID}`), name: text('The name.', 'Klienci') },
  ContactInput: CONTACT_INPUT,
  saveContacts: {
    ...CONTACT_INPUT,
    created: text('Contacts that are new.', 1),
    updated: text('Contacts that were known.', 0),
    invalid: text('Elements that were left out.', []),
  },
  'saveContacts.invalid': {
    index: text('Its place in the array, from 0.', 0),
    message: text('What is wrong with it, in Polish.', 'Pole „msisdn” ma nieprawidłową wartość.'),
  },
  changeContact: { ...CONTACT_INPUT, msisdn: text('Another number for the contact.', '+48500100200') },
  listContacts: {
    q: text('A fragment of the number, first name, last name or email.', 'nowak'),
    group_id: text('Only contacts of this group.', `gr_${ULID}`),
  },
  Group: {
    id: text('The id.', `gr_${ULID}`),
    name: text('The name: up to 80 characters, unique whatever its case.', 'Klienci'),
    members: text('How many contacts are in it.', 2),
  },
  addGroupContacts: {
    contact_ids: text('Ids of contacts; those that are not of the account are skipped.', [`ct_${ULID}`]),
    msisdns: text('Numbers; unknown ones become contacts without a name.', ['+48500100200']),
    added: text('Contacts that were not in the group before.', 2),
    invalid: text('The numbers that are malformed.', []),
    members: text('How many contacts are in the group now.', 2),
  },
  removeGroupContact: {
    contactId: text('The id of the contact.', `ct_${ULID}`),
    removed: text('The id of the contact.', `ct_${ULID}`),
  },
  BlacklistEntry: {
    reason: text('`opt_out`, `manual` or free text.', 'manual'),
    expires_at: text('When it ends; null means never.', null),
  },
  addToBlacklist: {
    msisdn: text('One number; instead of `msisdns`.', '+48500100200'),
    msisdns: text('Up to 1000 numbers; instead of `msisdn`.', ['+48500100200']),
    reason: text('Why; `manual` unless told.', 'reklamacja'),
    expires_at: text('When the entries end, in the future; null or left out means never.', null),
    added: text('Numbers that are on the list now.', 1),
    invalid: text('The numbers that are malformed.', []),
  },
  removeFromBlacklist: { removed: text('The number.', '+48500100200') },
  TrackedLink: LINK,
  TrackedLinkWithClicks: LINK,
  'TrackedLinkWithClicks.click_log': {
    clicked_at: text('When.', CREATED),
    user_agent: text('The program that followed it.', 'Mozilla/5.0'),
    robot: text('Whether it looks like a preview robot, not a person.', false),
  },
  listLinks: {
    clicked: text('`true`: only links that were followed.'),
    message_id: text('Only links of this message.', `msg_${ULID}`),
    totals: text('Sums of this page.'),
  },
  'listLinks.totals': {
    links: text('Links.', 1),
    clicked: text('Links that were followed.', 1),
    clicks: text('Clicks.', 1),
  },
  InboundMessage: INBOUND,
  listInbound: {
    from: text('Only of this number.', '+48500100200'),
    since: text('Only what came then or later.', '2026-11-01T00:00:00Z'),
    unread: text('`true`: only what is not marked read.'),
    mark_read: text('`true`: marks what is answered as read.'),
    prefix: text("The account's keyword.", 'SKLEP'),
  },
  HlrResult: {
    status: text(
      '`active`: in the network. `inactive`: unreachable or not existing. `invalid`: no such number. `unknown`: the operator gave no clear answer.',
      'active',
    ),
    network: text('The operator.', 'Plus'),
    mcc: text('Mobile country code.', '260'),
    mnc: text('Mobile network code.', '01'),
    ported: text('Whether the number was taken along from another operator.', false),
    cost_grosze: text('What this look-up cost, in grosze net; 0 when `cached` and on test accounts.', 5),
    cached: text('Whether this was found within the last 24 hours.', false),
    checked_at: text('When the network was asked.', CREATED),
  },
  sendMessages: SEND,
  estimateMessages: SEND,
  listMessages: {
    status: text('Only messages in this status.'),
    to: text('Only to this number.', '+48500100200'),
    reference: text('Only with exactly this reference.', 'order-1042'),
  },
  listSenders: { data: text('The active senders.'), current: text('The sender in effect.', 'SKLEP') },
  'listSenders.data': {
    name: text('The sender.', 'SKLEP'),
    is_default: text('Whether it is the one in effect.', true),
  },
  setWebhook: {
    url: text(
      'An HTTPS address that is publicly reachable; null turns webhooks off.',
      'https://example.com/sms',
    ),
    rotate_secret: text('`true`: makes a new secret.', false),
    webhook_secret: text(
      'The secret of the signatures.',
      'whsec_Y2hhbmdlIG1lIHBsZWFzZSwgSSBhbSBhbiBleGFtcGxl',
    ),
    signature_header: text('The header that carries the signature.', 'X-Service-Signature'),
  },
  changeAccount: {
    id: text('The id of the account.', `cl_${ULID}`),
    sender_name: text('An active sender; null: the default of the installation.', 'SKLEP'),
    send_window: text(
      'Sending hours of messages without their own, `HH:MM-HH:MM` in Polish time; null: none.',
      '08:00-20:00',
    ),
    inbound_prefix: text('2 to 10 letters or digits, stored in upper case; null: none.', 'SKLEP'),
  },
  getHealth: {
    '503': text('Something that the service needs does not answer.'),
    status: text('Whether the service works.'),
    checks: text('What answers and what does not.'),
  },
  'getHealth.checks': { database: text('PostgreSQL.', 'ok'), temporal: text('Temporal.', 'ok') },
  WebhookEvent: {
    id: text('The id of the event, the same on every attempt.', `evt_${ULID}`),
    type: text('What happened.'),
    created_at: text('When it happened.', CREATED),
    data: text('What it is about.'),
  },
  'WebhookEvent.data': {
    message: text('The message as it was then.'),
    inbound: text('The reply.'),
    opt_out: text('Whether the reply put the number on the blacklist.', false),
    link: text('The link as it was then.'),
    clicked_at: text('When it was followed.', CREATED),
    robot: text('Whether it looks like a preview robot, not a person.', false),
  },
};

/**
 * The text of a field.
 * @param owner component or operation id, with the path of fields below it: `Contact.groups`
 */
export function fieldText(owner: string, name: string): FieldText {
  return OWNED[owner]?.[name] ?? (/^[0-9]{3}$|^csv$/.test(name) ? undefined : COMMON[name]) ?? {};
}
