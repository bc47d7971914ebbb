import { z } from 'zod';
import { documented, exampleId } from '../documented.ts';
import { grosze } from '../schemas.ts';

const pricePerPart = documented(grosze, 'The price of a part of a Polish SMS, in grosze net.', 15);

const countryRate = z.strictObject({
  sms: documented(grosze.optional(), 'A part of an SMS.', 25),
  mms: documented(grosze.optional(), 'An MMS.', 90),
  vms: documented(grosze.optional(), 'A voice message.', 60),
});

/** What 429 means where settings are changed. */
export const CHANGES_TEXT =
  'Too many requests, or settings and webhook were changed 1,000 times in the last 24 hours. `Retry-After` says when to come back.';

/** Account. */
export const accountSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('cl')),
    name: documented(z.string(), 'The name of the account.', 'Sklep'),
    sender_name: documented(z.string().nullable(), 'The default sender.', 'SKLEP'),
    balance_grosze: documented(grosze, 'The balance, in grosze net; below zero on credit.', 10_000),
    credit_limit_grosze: documented(grosze, 'How far below zero the balance may go, in grosze.', 0),
    price_per_part_grosze: pricePerPart,
    price_per_mms_grosze: documented(grosze, 'The price of an MMS, in grosze net.', 60),
    price_per_vms_grosze: documented(grosze, 'The price of a voice message, in grosze net.', 30),
    price_per_hlr_grosze: documented(grosze, 'The price of a number look-up, in grosze net.', 5),
    rate_limit_per_minute: documented(z.int().positive(), 'Requests allowed in a minute.', 120),
    webhook_url: documented(
      z.string().nullable(),
      'Where events are posted to; null when webhooks are off. Without path and query for a test key on a live account.',
      'https://example.com/sms',
    ),
    status: documented(
      z.enum(['active', 'suspended', 'closed']),
      'Closed and suspended accounts get 403.',
      'active',
    ),
    mode: documented(
      z.enum(['test', 'live']),
      '`test`: verified numbers only, paid from the test credits.',
      'live',
    ),
    test_credits: documented(z.int().nonnegative(), 'Free messages left; of test accounts.', 0),
    send_window: documented(
      z.string().nullable(),
      'Daily sending hours, `HH:MM-HH:MM` in Polish time, at least 15 minutes wide; the end is exclusive.',
      '08:00-20:00',
    ),
    billing_mode: documented(
      z.enum(['prepaid', 'postpaid']),
      'Paid beforehand or by monthly statement.',
      'prepaid',
    ),
    inbound_number: documented(
      z.string().nullable(),
      'The number that receives replies; null until receiving is enabled.',
      null,
    ),
    inbound_prefix: documented(
      z.string().nullable(),
      'The keyword that replies to the account begin with.',
      'SKLEP',
    ),
    scopes: documented(z.array(z.enum(['send', 'read', 'manage'])), 'The scopes of the key that asks.', [
      'send',
      'read',
      'manage',
    ]),
    country_rates: documented(
      z.record(z.string(), countryRate),
      'Prices agreed for countries: number prefix without plus to grosze net per part. The longest prefix that fits counts.',
      { '49': { sms: 25 } },
    ),
    international_sms: z
      .strictObject({ price_per_part_grosze: pricePerPart })
      .describe(
        'What a part of an SMS abroad costs by default, in grosze net; `country_rates` has the exceptions.',
      ),
  })
  .meta({ id: 'Account', description: 'The account of the key.' });
