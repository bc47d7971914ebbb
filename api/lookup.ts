import { z } from 'zod';
import { numberProblem, parseMsisdn } from '../domain/msisdn.ts';
import { Refused } from '../domain/refusals.ts';
import { lookUp } from '../operations/lookUp.ts';
import { LOOKUP_STATUSES } from '../domain/submission.ts';
import { documented, EXAMPLE_INSTANT, grosze, pathNumber, timestamp } from './fields.ts';
import { endpoint } from './http/endpoint.ts';

const lookupSchema = z
  .strictObject({
    msisdn: documented(z.string(), 'A phone number.', '+48500100200'),
    status: documented(
      z.enum(LOOKUP_STATUSES),
      '`active`: in the network. `inactive`: unreachable or not existing. `invalid`: no such number. `unknown`: the operator gave no clear answer.',
      'active',
    ),
    network: documented(z.string().nullable(), 'The operator.', 'Plus'),
    mcc: documented(z.string().nullable(), 'Mobile country code.', '260'),
    mnc: documented(z.string().nullable(), 'Mobile network code.', '01'),
    ported: documented(
      z.boolean().nullable(),
      'Whether the number was taken along from another operator.',
      false,
    ),
    cost_grosze: documented(
      grosze.nonnegative(),
      'What this look-up cost, in grosze net; 0 when `cached` and on test accounts.',
      5,
    ),
    cached: documented(z.boolean(), 'Whether this was found within the last 24 hours.', false),
    checked_at: documented(timestamp, 'When the network was asked.', EXAMPLE_INSTANT),
  })
  .meta({ id: 'HlrResult', description: 'What the network says about a number.' });

const UNRESOLVED =
  'Where the message does not say so, it may have been charged: the same look-up again costs nothing more if the result has come in meanwhile.';

/** GET /v1/numbers/{msisdn}/lookup (v2.3.0, Number lookup). */
export const lookUpNumber = endpoint({
  method: 'GET',
  path: '/v1/numbers/:msisdn/lookup',
  scope: 'send',
  id: 'lookUpNumber',
  summary: 'Looks a number up in its network (HLR) without sending a message.',
  description:
    'Asks the network about a number without sending to it. Costs `price_per_hlr_grosze` of the account; a number asked about within the last 24 hours is answered from what was found then, at no cost.',
  statusTexts: {
    400: 'The number is malformed.',
    402: 'The balance is too low, or a monthly statement is overdue.',
    403: 'The key lacks the scope, the account is suspended or closed, or a test account asks about a number that is not verified (`param: msisdn`).',
    502: `The network answered with an error, or nobody could ask it; nothing was charged. ${UNRESOLVED}`,
    504: `The network did not answer in time; nothing was charged. ${UNRESOLVED}`,
  },
  errors: [402],
  params: z.strictObject({ msisdn: pathNumber }),
  sideEffects: true,
  responses: { 200: lookupSchema },
  async handle(call) {
    const given = call.params.msisdn;
    const number = parseMsisdn(given);
    if (number === null) throw new Refused({ field: 'msisdn', ...numberProblem(given) }, 'msisdn');
    const found = await lookUp({ ...call, input: { msisdn: number } });
    const { msisdn, status, network, mcc, mnc, ported, cached } = found;
    return {
      status: 200,
      body: {
        msisdn,
        status,
        network,
        mcc,
        mnc,
        ported,
        cached,
        cost_grosze: cached ? 0 : found.costGrosze,
        checked_at: found.checkedAt.toISOString(),
      },
    };
  },
});
