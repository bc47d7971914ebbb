import { z } from 'zod';
import { firstNonGsm7 } from '../../domain/gsm7.ts';
import { reasonText } from '../../domain/statuses.ts';
import { codePointName } from '../../domain/text.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented, grosze } from '../fields.ts';
import {
  isAffordable,
  type Plan,
  planMessages,
  type PlannedMessage,
  totalCost,
} from '../../operations/sending/plan.ts';
import {
  MMS_EXAMPLE,
  MMS_STATUS_TEXTS,
  mmsRequest,
  PLAN_ERRORS,
  PLAN_STATUS_TEXTS,
  SEND_BODY_LIMIT,
  SEND_EXAMPLE,
  sendRequest,
  VOICE_EXAMPLE,
  VOICE_STATUS_TEXTS,
  voiceRequest,
} from './request.ts';
import { messageSchema, recipientCount, testMode } from './schema.ts';

const message = messageSchema.shape;

export const nonGsm7Schema = documented(
  z
    .strictObject({
      character: z.string().describe('The character.'),
      code_point: z.string().describe('Its code point.'),
      position: z.int().positive().describe('Its place in the text, from 1.'),
    })
    .nullable(),
  'The first character that makes a text `ucs2`; null where there is none.',
  { character: 'ń', code_point: 'U+0144', position: 4 },
);

export function nonGsm7Of(text: string): z.output<typeof nonGsm7Schema> {
  const found = firstNonGsm7(text);
  return found === null ? null : { ...found, code_point: codePointName(found.character) };
}

export const estimateSchema = z
  .strictObject({
    count: recipientCount,
    accepted: documented(
      z.int().nonnegative(),
      'Recipients that the message would be sent to: all but the rejected.',
      1,
    ),
    total_parts: documented(z.int().nonnegative(), 'Parts of the accepted together.', 1),
    total_cost_grosze: documented(
      grosze.nonnegative(),
      'What the accepted cost together, in grosze net.',
      15,
    ),
    test_mode: testMode,
    sufficient_funds: documented(z.boolean(), 'Whether the balance, or the test credits, would do.', true),
    messages: z
      .array(
        z.strictObject({
          to: message.to,
          from: message.from,
          status: documented(
            z.enum(['queued', 'scheduled', 'rejected']),
            'What the message would begin as.',
            'queued',
          ),
          text: message.text,
          encoding: documented(
            z.enum(['gsm7', 'ucs2']),
            '`gsm7`, or `ucs2` where the text has other characters: then fewer fit into a part. Of an MMS or a call `ucs2`.',
            'ucs2',
          ),
          non_gsm7: nonGsm7Schema,
          parts: message.parts,
          price_per_part_grosze: documented(grosze.nonnegative(), 'The price of a part, in grosze net.', 15),
          cost_grosze: message.cost_grosze,
          priority: message.priority,
          send_at: message.send_at,
          expires_at: message.expires_at,
          error: documented(message.error, 'Why it would be rejected, in Polish.', null),
        }),
      )
      .describe('What each recipient would get.'),
  })
  .meta({ id: 'Estimate', description: 'What a send would come to; nothing is sent or charged.' });

export type Estimate = z.output<typeof estimateSchema>;

const OF_AN_ESTIMATE =
  'Nothing is sent, charged or kept. It refuses what the send would refuse, except for money and quotas: `sufficient_funds` says whether the charge would go through now.';

const ESTIMATING = {
  scope: 'send',
  readOnly: true,
  statusTexts: PLAN_STATUS_TEXTS,
  bodyLimit: SEND_BODY_LIMIT,
  responses: { 200: estimateSchema },
} as const;

/** POST /v1/messages/estimate (our addition). Nothing is sent, charged or stored; sample links have the length of real ones. */
export const estimateMessages = endpoint({
  ...ESTIMATING,
  method: 'POST',
  path: '/v1/messages/estimate',
  id: 'estimateMessages',
  summary: 'Shows what a send would cost: for each recipient the final text, its parts, cost and send time.',
  description: `Takes what \`POST /v1/messages\` takes and answers what it would do: for each recipient the final text, encoding, parts, cost and send time. ${OF_AN_ESTIMATE}`,
  errors: PLAN_ERRORS,
  body: sendRequest,
  example: SEND_EXAMPLE,
  async handle(call) {
    const plan = await planMessages({ ...call, input: call.body });
    return { status: 200, body: estimateOf(plan) };
  },
});

export const estimateMms = endpoint({
  ...ESTIMATING,
  method: 'POST',
  path: '/v1/mms/estimate',
  id: 'estimateMms',
  summary: 'Shows what an MMS would cost: for each recipient the final SMIL, its cost and send time.',
  description: `Takes what \`POST /v1/mms\` takes and answers what it would do: for each recipient the final SMIL (\`text\`), cost and send time. ${OF_AN_ESTIMATE}`,
  statusTexts: { ...PLAN_STATUS_TEXTS, ...MMS_STATUS_TEXTS },
  errors: PLAN_ERRORS,
  body: mmsRequest,
  example: MMS_EXAMPLE,
  async handle(call) {
    const plan = await planMessages({ ...call, input: { ...call.body, channel: 'mms' } });
    return { status: 200, body: estimateOf(plan) };
  },
});

export const estimateVoice = endpoint({
  ...ESTIMATING,
  method: 'POST',
  path: '/v1/voice/estimate',
  id: 'estimateVoice',
  summary: 'Shows what a call would cost: for each recipient the final text, its cost and when it is called.',
  description: `Takes what \`POST /v1/voice\` takes and answers what it would do: for each recipient the final text, cost and when it would be called, by the calling hours of the network too. ${OF_AN_ESTIMATE}`,
  statusTexts: { ...PLAN_STATUS_TEXTS, ...VOICE_STATUS_TEXTS },
  errors: PLAN_ERRORS,
  body: voiceRequest,
  example: VOICE_EXAMPLE,
  async handle(call) {
    const plan = await planMessages({ ...call, input: { ...call.body, channel: 'vms' } });
    return { status: 200, body: estimateOf(plan) };
  },
});

function estimateOf(plan: Plan): Estimate {
  const { messages, terms } = plan;
  const accepted = messages.filter(({ rejected }) => !rejected);
  return {
    count: messages.length,
    accepted: accepted.length,
    total_parts: accepted.reduce((sum, { parts }) => sum + parts, 0),
    total_cost_grosze: totalCost(messages),
    ...(terms.mode === 'test' ? { test_mode: true as const } : {}),
    sufficient_funds: !terms.overdue && isAffordable(plan),
    messages: messages.map((message) => estimateOfOne(plan, message)),
  };
}

function estimateOfOne(
  { channel, sender, priority }: Plan,
  message: PlannedMessage,
): Estimate['messages'][0] {
  const { rejected, timing } = message;
  return {
    to: message.recipient.msisdn,
    from: sender,
    status: rejected ? 'rejected' : timing.acceptedAs,
    text: message.text,
    encoding: message.encoding,
    non_gsm7: channel === 'sms' ? nonGsm7Of(message.text) : null,
    parts: message.parts,
    price_per_part_grosze: message.perPartGrosze,
    cost_grosze: message.costGrosze,
    priority,
    send_at: rejected ? null : (timing.sendAt?.toISOString() ?? null),
    expires_at: timing.expiresAt?.toISOString() ?? null,
    error: message.rejection === null ? null : reasonText(message.rejection),
  };
}
