import { z } from 'zod';
import { documented, plainText, reference } from '../api/fields.ts';
import { endpoint } from '../api/http/endpoint.ts';
import { nonGsm7Of, nonGsm7Schema } from '../api/messages/estimate.ts';
import { splitIntoParts } from '../domain/sms.ts';
import { cancelByReference } from '../operations/cancel.ts';

const TEXT_MAX = 10_000;

/** Behind `count_sms_parts`; REST clients use the estimate instead. */
export const countParts = endpoint({
  method: 'POST',
  path: '/mcp',
  scope: 'read',
  readOnly: true,
  id: 'countSmsParts',
  summary: 'Counts the parts of a text.',
  description: 'Counts the parts of a text as it would be sent and billed.',
  body: z.strictObject({
    text: documented(
      plainText.min(1).max(TEXT_MAX),
      'The text as the recipient would get it.',
      'Dzień dobry!',
    ),
  }),
  responses: {
    200: z.strictObject({
      parts: documented(z.int().positive(), 'Parts that are sent and billed.', 1),
      encoding: documented(
        z.enum(['gsm7', 'ucs2']),
        '`gsm7`, or `ucs2` where the text has other characters: then fewer fit into a part.',
        'ucs2',
      ),
      characters: documented(z.int().positive(), 'Characters of the text.', 12),
      non_gsm7: nonGsm7Schema,
    }),
  },
  handle({ body: { text } }) {
    const { parts, encoding } = splitIntoParts(text);
    const characters = [...text].length;
    const body = { parts: parts.length, encoding, characters, non_gsm7: nonGsm7Of(text) };
    return Promise.resolve({ status: 200 as const, body });
  },
});

/** Behind `cancel_message` with a reference. */
export const cancelMessages = endpoint({
  method: 'POST',
  path: '/mcp',
  scope: 'send',
  id: 'cancelMessages',
  summary: 'Cancels the scheduled messages with a reference.',
  description: 'Cancels the scheduled messages with a reference.',
  body: z.strictObject({ reference }),
  responses: {
    200: z.strictObject({
      reference: z.string(),
      cancelled: z.int().nonnegative().describe('Messages that are cancelled now.'),
      refunded_grosze: z.int().nonnegative().describe('What they had cost.'),
      too_late: z.int().nonnegative().describe('Messages that were about to be sent.'),
      left: z.int().nonnegative().describe('Messages still scheduled: call again.'),
    }),
  },
  async handle(call) {
    const done = await cancelByReference({ ...call, input: call.body });
    return { status: 200 as const, body: { reference: call.body.reference, ...done } };
  },
});
