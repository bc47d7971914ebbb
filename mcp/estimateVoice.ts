import { endpoint } from '../api/http/endpoint.ts';
import { estimateOf, estimateSchema } from '../api/messages/estimate.ts';
import { SEND_BODY_LIMIT, VOICE_EXAMPLE, voiceRequest } from '../api/messages/request.ts';
import { sendVoice } from '../api/messages/voice.ts';
import { planMessages } from '../operations/sending/plan.ts';

/** What a call would come to, for `send_voice`; the REST interface estimates SMS alone. */
export const estimateVoice = endpoint({
  method: 'POST',
  path: '/mcp',
  scope: 'send',
  readOnly: true,
  id: 'estimateVoice',
  summary: 'Shows what a call would cost, for each recipient.',
  description:
    'Takes what `POST /v1/voice` takes and answers what it would do. Nothing is sent, charged or kept.',
  refusals: sendVoice.refusals ?? [],
  body: voiceRequest,
  example: VOICE_EXAMPLE,
  bodyLimit: SEND_BODY_LIMIT,
  responses: { 200: estimateSchema },
  async handle(call) {
    const plan = await planMessages({ ...call, input: { ...call.body, channel: 'vms' } });
    return { status: 200, body: estimateOf(plan) };
  },
});
