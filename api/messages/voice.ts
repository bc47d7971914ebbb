import { endpoint } from '../http/endpoint.ts';
import {
  SEND_BODY_LIMIT,
  VOICE_EXAMPLE,
  VOICE_REFUSALS,
  VOICE_STATUS_TEXTS,
  voiceRequest,
} from './request.ts';
import { ALL_OR_NOTHING, SEND_REFUSALS, sendAndAnswer, SENDING } from './sending.ts';

const PATH = '/v1/voice';

/** POST /v1/voice: fields in the manner of POST /v1/messages, as v2.3.0 shows no body (Send, rule 10). */
export const sendVoice = endpoint({
  ...SENDING,
  method: 'POST',
  path: PATH,
  id: 'sendVoice',
  summary: 'Calls one number, several, or contact groups, and reads a text aloud.',
  description: `Orders a call in which a voice reads the text, one part each at the account's price of a call; abroad only where the account has a price for it. Where the network calls at certain hours only, repeats included, the call waits for them and \`send_at\` says so. ${ALL_OR_NOTHING}`,
  statusTexts: { ...SENDING.statusTexts, ...VOICE_STATUS_TEXTS },
  refusals: [...SEND_REFUSALS, ...VOICE_REFUSALS],
  body: voiceRequest,
  example: VOICE_EXAMPLE,
  bodyLimit: SEND_BODY_LIMIT,
  handle: (call) => sendAndAnswer(call, PATH, { ...call.body, channel: 'vms' }),
});
