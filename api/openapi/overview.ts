import { ATTEMPTS_AT_MS, PREVIOUS_SIGNATURE_HEADER, SIGNATURE_HEADER } from '../../domain/webhooks.ts';

/** The retry schedule of webhooks in words: `after 2 and after 10 seconds`. */
export const TRIED_AGAIN = `${ATTEMPTS_AT_MS.slice(1)
  .map((ms) => `after ${ms / 1000}`)
  .join(' and ')} seconds`;

export const ABOUT = {
  summary: 'Sends SMS in Poland and abroad, and reports what became of them.',
  license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
  description: `A REST interface in JSON.

**Keys.** Every request carries \`Authorization: Bearer <key>\`. A key has scopes: \`send\`, \`read\`, \`manage\`. A test key on a live account may read, and change nothing (403).

**Formats.** Instants are ISO 8601, in answers always UTC with milliseconds. Money is whole grosze (1 PLN = 100 grosze), net of VAT. Numbers are answered in E.164 with plus; taken are also E.164 without plus and nine digits, which are Polish. Unknown fields and query parameters are refused.

**Errors.** Every error has the envelope \`{"error": {"code", "message", "param"}, "request_id"}\`: \`code\` is for programs, \`message\` a Polish sentence for people, \`param\` names the field to blame. Every answer carries \`X-Request-Id\`. 405 answers a method that the path does not have, 408, 417 and 431 a request that breaks the rules of HTTP.

**Limits.** Requests are counted per account and minute (120 unless agreed otherwise); the headers \`RateLimit\` and \`RateLimit-Policy\` show where you stand, and 429 carries \`Retry-After\`.

**Pages.** Lists are cut into pages: \`next_cursor\` of one page is the \`cursor\` of the next, and null on the last. Nothing is skipped or shown twice while things are added.

**Webhooks.** Events are posted to the address set by \`PUT /v1/account/webhook\`, signed in \`${SIGNATURE_HEADER}: t=<unix seconds>,v1=<hex>\`, where \`v1\` is the HMAC-SHA256 of \`<t>.<raw body>\` with your secret. Refuse a call whose signature differs or whose \`t\` is more than 300 seconds off. Any 2xx answer will do; otherwise it is tried again ${TRIED_AGAIN}. The secret is the one that \`PUT /v1/account/webhook\` answered last; for 24 hours after \`rotate_secret\`, \`${PREVIOUS_SIGNATURE_HEADER}\` carries the same with the secret before.`,
};

export const TAGS = [
  { name: 'Messages', description: 'Sending SMS, MMS and calls, history, cancelling.' },
  { name: 'E-mail', description: 'Sending e-mail, what became of it, and who gets none.' },
  { name: 'Templates', description: 'Texts with placeholders, kept for sending.' },
  { name: 'Contacts', description: 'The contact book, for personal texts.' },
  { name: 'Groups', description: 'Groups of contacts, which can be sent to.' },
  { name: 'Blacklist', description: 'Numbers that get nothing from the account.' },
  { name: 'Replies', description: 'What phones wrote to the account.' },
  { name: 'Links', description: 'Tracked short links and their clicks.' },
  { name: 'Numbers', description: 'Looking a number up without sending to it.' },
  { name: 'Verifications', description: 'Codes by SMS, to see whether somebody has a phone.' },
  { name: 'Reports', description: 'What was sent, what it cost and what came of it.' },
  { name: 'Account', description: 'Balance, prices, settings, senders, the webhook.' },
  { name: 'Service', description: 'About this installation.' },
  { name: 'Webhooks', description: 'Calls that the service makes to your address.' },
];

export const TAG_BY_SEGMENT: Readonly<Record<string, string>> = {
  messages: 'Messages',
  mms: 'Messages',
  voice: 'Messages',
  email: 'E-mail',
  templates: 'Templates',
  contacts: 'Contacts',
  groups: 'Groups',
  blacklist: 'Blacklist',
  inbound: 'Replies',
  links: 'Links',
  numbers: 'Numbers',
  verifications: 'Verifications',
  reports: 'Reports',
  account: 'Account',
  senders: 'Account',
  health: 'Service',
  'openapi.json': 'Service',
};
