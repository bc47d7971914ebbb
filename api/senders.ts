import { z } from 'zod';
import { listSenders as senderNames } from '../operations/settings.ts';
import { documented, exampleId } from './fields.ts';
import { endpoint } from './http/endpoint.ts';

/** GET /v1/senders (v2.3.0, Sender list item). */
export const listSenders = endpoint({
  method: 'GET',
  path: '/v1/senders',
  scope: 'read',
  id: 'listSenders',
  summary: 'Lists the active sender names.',
  description: 'Active sender names; `current` is the one used when a send names none.',
  responses: {
    200: z.strictObject({
      data: z
        .array(
          z.strictObject({
            name: documented(z.string(), 'The sender.', 'SKLEP'),
            is_default: documented(z.boolean(), 'Whether it is the default of the account.', true),
          }),
        )
        .describe('The active senders.'),
      current: documented(z.string(), 'The sender in effect.', 'SKLEP'),
    }),
  },
  async handle(call) {
    const { senders, current } = await senderNames(call);
    return { status: 200, body: { data: senders, current } };
  },
});

const recordSchema = z
  .strictObject({
    type: documented(z.enum(['TXT', 'MX', 'CNAME']), 'The type of the record.', 'TXT'),
    name: documented(z.string(), 'The whole name, without a dot at the end.', 'send.sklep.example'),
    value: documented(
      z.string(),
      'What is to be set there; of an `MX` or `CNAME` the host, without a dot at the end.',
      'v=spf1 a:mail.example.com ~all',
    ),
    priority: documented(z.int().nullable(), 'Of an `MX`; `null` of all else.', null),
    purpose: documented(
      z.enum(['dkim', 'spf', 'return_path']),
      '`dkim`: the key of the signature; `spf`: who may send; `return_path`: where bounces go.',
      'spf',
    ),
    seen: documented(z.boolean(), 'Whether it was there when it was looked for.', true),
  })
  .meta({ id: 'DnsRecord', description: 'A DNS record that the owner of a sender domain sets.' });

export const senderDomainSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('dom')),
    name: documented(z.string(), 'In ASCII (IDNA A-labels) and small letters.', 'sklep.example'),
    status: documented(
      z.enum(['pending', 'verified', 'lost']),
      '`pending`: not all of its records were seen yet; `verified`: e-mails are sent from it; `lost`: it was verified, and a record is gone.',
      'verified',
    ),
    is_default: documented(z.boolean(), 'Whether e-mails that name no sender come from it.', true),
    records: documented(z.array(recordSchema), 'What it needs in DNS.', []),
  })
  .meta({ id: 'SenderDomain', description: 'A domain that e-mails are sent from.' });
