import { z } from 'zod';
import type { LookupStatus } from '../../domain/lookups.ts';
import { countryOf } from '../../domain/msisdn.ts';
import { lookUp } from '../../operations/lookUp.ts';
import { documented } from '../documented.ts';
import { queryMsisdn } from '../fields.ts';
import { endpoint } from '../http/endpoint.ts';
import { inTheirWords } from './fields.ts';
import { answered, answerOf } from './schema.ts';

const EARLIER_LOOKUP_STATUSES = ['ok', 'not_active', 'incorrect', 'unknown'] as const;
const STATUSES: Readonly<Record<LookupStatus, (typeof EARLIER_LOOKUP_STATUSES)[number]>> = {
  active: 'ok',
  inactive: 'not_active',
  invalid: 'incorrect',
  unknown: 'unknown',
};

/** GET /v1/hlr (v1.2.0). */
export const getHlr = endpoint({
  interface: 'v1',
  method: 'GET',
  path: '/v1/hlr',
  scope: 'send',
  changes: true,
  id: 'getHlr',
  summary: 'Looks a number up in its network (HLR).',
  description:
    'Asks the network about a number. One asked about within the last 24 hours is answered from what was found then, at no cost.',
  refusals: [
    ...(['number_malformed', 'polish_number_too_long', 'plus_not_encoded', 'lookup_unverified'] as const),
    ...(['statement_overdue', 'lookup_unpaid', 'lookup_no_route', 'lookup_failed'] as const),
    ...(['lookup_timed_out', 'lookup_abandoned', 'lookup_unresolved'] as const),
  ],
  query: z.strictObject({ number: queryMsisdn.describe('The number, with country prefix.') }),
  responses: {
    200: answered(
      z
        .strictObject({
          number: documented(z.string(), 'The number, E.164 with plus.', '+48500100200'),
          status: documented(z.enum(EARLIER_LOOKUP_STATUSES), 'What the network says.', 'ok'),
          ported: documented(z.boolean(), 'Whether it was taken along from another network.', false),
          network: documented(z.string().nullable(), 'The network.', 'Plus'),
          country: documented(z.string().nullable(), 'ISO 3166 alpha-2.', 'PL'),
          cost: documented(z.number().nonnegative(), 'In points: one is a grosz.', 5),
        })
        .nullable(),
    ),
  },
  async handle(call) {
    const asked = lookUp({ ...call, input: { msisdn: call.query.number } });
    const { msisdn, status, ported, network, cached, costGrosze } = await inTheirWords(
      { msisdn: 'number' },
      asked,
    );
    return answerOf({
      number: msisdn,
      status: STATUSES[status],
      ported: ported ?? false,
      network,
      country: countryOf(msisdn),
      cost: cached ? 0 : costGrosze,
    });
  },
});
