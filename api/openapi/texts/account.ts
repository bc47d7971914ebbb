import { PREVIOUS_SIGNATURE_HEADER, SIGNATURE_HEADER } from '../../../domain/webhooks.ts';
import { CREATED, text, ULID, type FieldTexts, type OwnedTexts } from './text.ts';

const ACCOUNT: FieldTexts = {
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

/** Fields of the account, its settings, health and webhooks. */
export const accountTexts: OwnedTexts = {
  Account: ACCOUNT,
  'Account.international_sms': ACCOUNT,
  'Account.country_rates': {
    sms: text('A part of an SMS.', 25),
    mms: text('An MMS.', 90),
    vms: text('A voice message.', 60),
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
    rotate_secret: text(
      `\`true\`: makes a new secret, which signs from then on. The one before signs \`${PREVIOUS_SIGNATURE_HEADER}\` for 24 hours, or until the next change.`,
      false,
    ),
    webhook_secret: text(
      'The secret of the signature.',
      'whsec_Y2hhbmdlIG1lIHBsZWFzZSwgSSBhbSBhbiBleGFtcGxl',
    ),
    signature_header: text('The header that carries the signature.', SIGNATURE_HEADER),
  },
  WebhookDelivery: {
    id: text('The id of the event, the same on every attempt.', `evt_${ULID}`),
    type: text('What happened.', 'message.delivered'),
    state: text(
      '`pending`: on its way, also again. `delivered`: an attempt was taken. `exhausted`: none was.',
      'delivered',
    ),
    message_id: text('The message it is about; null for replies and clicks.', `msg_${ULID}`),
    resends: text('How often it was delivered again.', 0),
    attempts: text('Every attempt, the first one first.'),
  },
  'WebhookDelivery.attempts': {
    attempt: text('Its number, from 1; those of further deliveries count on.', 1),
    at: text('When it ended.', CREATED),
    url: text('Where it went.', 'https://example.com/sms'),
    status_code: text('What the receiver answered; null: nothing.', 200),
    error: text('`unreachable` where there was no answer, for whatever reason; else null.', null),
    duration_ms: text('How long it took.', 85),
  },
  listWebhookDeliveries: {
    state: text('Only events in this state.'),
    type: text('Only events of this type.'),
    message_id: text('Only events of this message.', `msg_${ULID}`),
    since: text('Only what happened then or later.', '2026-11-01T00:00:00Z'),
  },
  getHealth: {
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
