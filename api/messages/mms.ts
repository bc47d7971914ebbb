import { endpoint } from '../http/endpoint.ts';
import { MMS_EXAMPLE, MMS_REFUSALS, MMS_STATUS_TEXTS, mmsRequest, SEND_BODY_LIMIT } from './request.ts';
import { ALL_OR_NOTHING, SEND_REFUSALS, sendAndAnswer, SENDING } from './sending.ts';

const PATH = '/v1/mms';

/** POST /v1/mms: fields in the manner of POST /v1/messages, as v2.3.0 shows no body (Send, rule 10). */
export const sendMms = endpoint({
  ...SENDING,
  method: 'POST',
  path: PATH,
  id: 'sendMms',
  summary: 'Sends an MMS to one number, to several, or to contact groups.',
  description: `Sends what a SMIL document shows, one part each at the account's price of an MMS; abroad only where the account has a price for it. ${ALL_OR_NOTHING}`,
  statusTexts: { ...SENDING.statusTexts, ...MMS_STATUS_TEXTS },
  refusals: [...SEND_REFUSALS, ...MMS_REFUSALS],
  body: mmsRequest,
  example: MMS_EXAMPLE,
  bodyLimit: SEND_BODY_LIMIT,
  handle: (call) => sendAndAnswer(call, PATH, { ...call.body, channel: 'mms' }),
});
