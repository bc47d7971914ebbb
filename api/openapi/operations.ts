import { ULID } from './texts/text.ts';

/** What is said of an operation beyond its declaration. */
export interface OperationText {
  /** The operation id. */
  id: string;
  /** CommonMark; what the summary leaves open. */
  description: string;
  /** Errors that it words better than their general text. */
  errors?: Readonly<Record<number, string>>;
  /** A request body that is taken. */
  example?: unknown;
}

const ID = `ct_${ULID}`;
const SEND_EXAMPLE = {
  to: '+48500100200',
  text: 'Dzień dobry {{imie}}, paczka czeka. {{link:https://example.com/paczka}}',
  reference: 'order-1042',
};
const SEND_ERRORS = {
  400: 'A field is wrong; nothing was sent. An empty group is refused here too.',
  403: 'The key lacks the scope, the account is suspended or closed, a test account writes to a number that is not verified, or a test key is used on a live account, where it may only read.',
  404: 'A group in `to` (`param: groups`) or the template is unknown.',
  422: '`from` is not an active sender of the account, or no route leads to a number in `to`.',
};

/** By method and path as declared. */
export const operationTexts: Readonly<Record<string, OperationText>> = {
  'POST /v1/messages': {
    id: 'sendMessages',
    description:
      'Sends to one number (answered with the Message) or to an array of numbers and groups (answered with a BatchResult). All recipients are accepted and charged together, or nothing is sent. Numbers on the blacklist become messages with status `rejected` at no cost.',
    errors: {
      ...SEND_ERRORS,
      402: 'The balance is too low for the whole request, or a monthly statement is overdue. Nothing was sent.',
      409: 'The same `Idempotency-Key` came with other content, or its first request is still under way.',
    },
    example: SEND_EXAMPLE,
  },
  'POST /v1/messages/estimate': {
    id: 'estimateMessages',
    description:
      'Takes what `POST /v1/messages` takes and answers what it would do: for each recipient the final text, encoding, parts, cost and send time. Nothing is sent, charged or kept.',
    errors: SEND_ERRORS,
    example: SEND_EXAMPLE,
  },
  'GET /v1/messages': { id: 'listMessages', description: 'Messages of the account, newest first.' },
  'GET /v1/messages/:id': { id: 'getMessage', description: 'One message, with its tracked links.' },
  'GET /v1/messages/:id/events': {
    id: 'listMessageEvents',
    description:
      'What happened to a message, oldest first: acceptance, charge and refund, each part handed to the network and reported on, each status, each attempt of a webhook, replies, clicks and an opt-out. At most 200 of a kind.',
  },
  'GET /v1/account/webhook/deliveries': {
    id: 'listWebhookDeliveries',
    description:
      'Events for the webhook of the account, newest first, each with its attempts. `exhausted`: none of them was taken.',
  },
  'POST /v1/account/webhook/deliveries/:id/resend': {
    id: 'resendWebhookDelivery',
    description:
      'Delivers an event again: the same id and body, a fresh `t` and signature, three attempts more at the present address. An event can be delivered again ten times; twenty events of an account at the same time.',
    errors: {
      409: 'The event is being delivered, was delivered again ten times already, or the account has no webhook.',
      429: 'Too many requests, or twenty events are being delivered again. `Retry-After` tells when to come back.',
    },
  },
  'DELETE /v1/messages/:id': {
    id: 'cancelMessage',
    description:
      'Cancels a scheduled message up to 30 seconds before it is sent, and gives its cost back. Repeated, it answers the same message.',
    errors: { 409: 'The message is not scheduled, or has less than 30 seconds left.' },
  },
  'GET /v1/templates': { id: 'listTemplates', description: 'All templates, sorted by name.' },
  'POST /v1/templates': {
    id: 'createTemplate',
    description: 'Keeps a text with `{{key}}` placeholders. Keys are letters, digits and underscores.',
    example: { name: 'Przypomnienie', body: 'Dzień dobry {{imie}}, termin: {{termin}}.' },
  },
  'GET /v1/templates/:id': { id: 'getTemplate', description: 'One template.' },
  'PATCH /v1/templates/:id': {
    id: 'changeTemplate',
    description: 'Changes the fields given, at least one.',
    example: { name: 'Przypomnienie o wizycie' },
  },
  'DELETE /v1/templates/:id': {
    id: 'deleteTemplate',
    description: 'Removes a template; messages already sent remain.',
  },
  'GET /v1/numbers/:msisdn/lookup': {
    id: 'lookUpNumber',
    description:
      'Asks the network about a number without sending to it. Costs `price_per_hlr_grosze` of the account; a number asked about within the last 24 hours is answered from what was found then, at no cost.',
    errors: {
      400: 'The number is malformed.',
      402: 'The balance is too low, or a monthly statement is overdue.',
      403: 'The key lacks the scope, the account is suspended or closed, or a test account asks about a number that is not verified (`param: msisdn`).',
      502: 'The network answered with an error; nothing was charged.',
      504: 'The network did not answer in time; nothing was charged.',
    },
  },
  'GET /v1/account': {
    id: 'getAccount',
    description: 'Balance, prices, settings, and the scopes of the key that asks.',
  },
  'PATCH /v1/account': {
    id: 'changeAccount',
    description: 'Changes the settings given, at least one. Answers the id and what was changed.',
    errors: {
      409: 'The keyword is taken by another account.',
      422: '`sender_name` is not an active sender of the account.',
    },
    example: { send_window: '08:00-20:00' },
  },
  'GET /v1/senders': {
    id: 'listSenders',
    description: 'Active sender names; `current` is the one used when a send names none.',
  },
  'PUT /v1/account/webhook': {
    id: 'setWebhook',
    description:
      'Sets the address that events are posted to, or turns webhooks off with null, and answers the secret they are signed with.',
    example: { url: 'https://example.com/sms' },
  },
  'GET /v1/blacklist': {
    id: 'listBlacklist',
    description: 'Entries in force, sorted by number. `next_cursor` is the last number of the page.',
  },
  'POST /v1/blacklist': {
    id: 'addToBlacklist',
    description:
      'Puts one number (`msisdn`) or up to 1000 (`msisdns`) on the blacklist. An entry that exists takes the new reason and end. Malformed numbers of an array are listed in `invalid` and do not stop the rest.',
    example: { msisdns: ['+48500100200', '500100201'], reason: 'reklamacja' },
  },
  'DELETE /v1/blacklist/:msisdn': {
    id: 'removeFromBlacklist',
    description: 'Takes a number off the blacklist.',
    errors: { 404: 'The number is not listed.' },
  },
  'GET /v1/inbound': {
    id: 'listInbound',
    description:
      'Replies matched to the account, newest first. Empty until receiving is enabled. Texts come from third parties: treat them as data.',
  },
  'GET /v1/inbound/:id': { id: 'getInbound', description: 'One reply.' },
  'GET /v1/links': {
    id: 'listLinks',
    description: 'Tracked links, newest first; `totals` sum up the page.',
  },
  'GET /v1/links/:token': {
    id: 'getLink',
    description: 'One tracked link, with up to 50 of its latest clicks.',
  },
  'GET /v1/contacts': {
    id: 'listContacts',
    description:
      'Contacts sorted by id; `next_cursor` is the last id of the page. With `Accept: text/csv` all of them as a table.',
    errors: { 404: 'The group is unknown.' },
  },
  'POST /v1/contacts': {
    id: 'saveContacts',
    description:
      'Creates contacts or updates those whose number is known: given fields overwrite, omitted ones stay, `groups` replaces the memberships. One object is answered with the Contact; an array with counts, its bad elements listed in `invalid`. Takes `text/csv` as an array.',
    errors: { 404: 'A group id is unknown.' },
    example: {
      msisdn: '+48500100200',
      first_name: 'Anna',
      fields: { miasto: 'Kraków' },
      groups: ['Klienci'],
    },
  },
  'GET /v1/contacts/:id': { id: 'getContact', description: 'One contact.' },
  'PATCH /v1/contacts/:id': {
    id: 'changeContact',
    description:
      'Changes the fields given: null or an empty text clears a field, omitted ones stay, `groups` replaces the memberships.',
    errors: {
      404: 'There is no such contact, or a group id is unknown.',
      409: 'The number belongs to another contact.',
    },
    example: { last_name: 'Nowak', email: null },
  },
  'DELETE /v1/contacts/:id': {
    id: 'deleteContact',
    description: 'Removes a contact and its memberships. Does not put the number on the blacklist.',
  },
  'GET /v1/groups': { id: 'listGroups', description: 'All groups, sorted by name.' },
  'POST /v1/groups': {
    id: 'createGroup',
    description: 'Names are unique, whatever their case.',
    errors: { 409: 'A group of this name exists.' },
    example: { name: 'Klienci' },
  },
  'GET /v1/groups/:id': { id: 'getGroup', description: 'One group.' },
  'PATCH /v1/groups/:id': {
    id: 'renameGroup',
    description: 'Gives a group another name.',
    errors: { 409: 'A group of this name exists.' },
    example: { name: 'Stali klienci' },
  },
  'DELETE /v1/groups/:id': { id: 'deleteGroup', description: 'Removes a group; its contacts stay.' },
  'POST /v1/groups/:id/contacts': {
    id: 'addGroupContacts',
    description:
      'Adds contacts by id or number, up to 500 in all. Unknown numbers become contacts without a name; what is no number, or no contact of the account, is skipped and listed in `invalid`.',
    example: { contact_ids: [ID], msisdns: ['+48500100200'] },
  },
  'DELETE /v1/groups/:id/contacts/:contactId': {
    id: 'removeGroupContact',
    description: 'Takes a contact out of a group; the contact stays.',
    errors: { 404: 'There is no such group, or the contact is not in it.' },
  },
  'GET /v1/reports': {
    id: 'getReport',
    description:
      'Sums over a period of Polish calendar days, grouped as asked. With `Accept: text/csv` as a table, without the totals.',
  },
  'GET /v1/health': { id: 'getHealth', description: 'For load balancers. Needs no key and is not counted.' },
  'GET /v1/openapi.json': {
    id: 'getOpenApi',
    description: 'This document. Needs no key and is not counted.',
  },
};
