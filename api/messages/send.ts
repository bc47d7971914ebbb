import { endpoint } from '../http/endpoint.ts';
import { SEND_BODY_LIMIT, SEND_EXAMPLE, sendRequest } from './request.ts';
import { ALL_OR_NOTHING, SEND_REFUSALS, sendAndAnswer, SENDING } from './sending.ts';

const PATH = '/v1/messages';

/** POST /v1/messages (v2.3.0, Send). */
export const sendMessages = endpoint({
  ...SENDING,
  method: 'POST',
  path: PATH,
  id: 'sendMessages',
  summary: 'Sends an SMS to one number, to several, or to contact groups.',
  description: `Sends to one number, to a group, or to an array of both. ${ALL_OR_NOTHING}`,
  refusals: SEND_REFUSALS,
  body: sendRequest,
  example: SEND_EXAMPLE,
  bodyLimit: SEND_BODY_LIMIT,
  handle: (call) => sendAndAnswer(call, PATH, call.body),
});
