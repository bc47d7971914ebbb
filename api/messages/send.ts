import { endpoint } from '../http/endpoint.ts';
import {
  MMS_EXAMPLE,
  MMS_STATUS_TEXTS,
  mmsRequest,
  SEND_BODY_LIMIT,
  SEND_EXAMPLE,
  sendRequest,
  VOICE_EXAMPLE,
  VOICE_STATUS_TEXTS,
  voiceRequest,
} from './request.ts';
import { ALL_OR_NOTHING, sendAndAnswer, SENDING } from './sending.ts';

/** POST /v1/messages (v2.3.0, Send). */
export const sendMessages = endpoint({
  ...SENDING,
  method: 'POST',
  path: '/v1/messages',
  id: 'sendMessages',
  summary: 'Sends an SMS to one number, to several, or to contact groups.',
  description: `Sends to one number, to a group, or to an array of both. ${ALL_OR_NOTHING}`,
  body: sendRequest,
  example: SEND_EXAMPLE,
  bodyLimit: SEND_BODY_LIMIT,
  handle: (call) => sendAndAnswer(call, call.body),
});

/** POST /v1/mms: v2.3.0 shows no body (Send, rule 10), so its fields follow POST /v1/messages. */
export const sendMms = endpoint({
  ...SENDING,
  method: 'POST',
  path: '/v1/mms',
  id: 'sendMms',
  summary: 'Sends an MMS to one number, to several, or to contact groups.',
  description: `Sends what a SMIL document shows, one part each at the account's price of an MMS; abroad only where the account has a price for it. ${ALL_OR_NOTHING}`,
  statusTexts: { ...SENDING.statusTexts, ...MMS_STATUS_TEXTS },
  body: mmsRequest,
  example: MMS_EXAMPLE,
  bodyLimit: SEND_BODY_LIMIT,
  handle: (call) => sendAndAnswer(call, { ...call.body, channel: 'mms' }),
});

/** POST /v1/voice: v2.3.0 shows no body (Send, rule 10), so its fields follow POST /v1/messages. */
export const sendVoice = endpoint({
  ...SENDING,
  method: 'POST',
  path: '/v1/voice',
  id: 'sendVoice',
  summary: 'Calls one number, several, or contact groups, and reads a text aloud.',
  description: `Orders a call in which a voice reads the text, one part each at the account's price of a call; abroad only where the account has a price for it. Where the network calls at certain hours only, repeats included, the call waits for them and \`send_at\` says so. ${ALL_OR_NOTHING}`,
  statusTexts: { ...SENDING.statusTexts, ...VOICE_STATUS_TEXTS },
  body: voiceRequest,
  example: VOICE_EXAMPLE,
  bodyLimit: SEND_BODY_LIMIT,
  handle: (call) => sendAndAnswer(call, { ...call.body, channel: 'vms' }),
});
