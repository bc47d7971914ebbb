import { z } from 'zod';
import { exactNumber, instant, issue, plainText, reference, sendWindow, senderName } from '../fields.ts';

const PARAM_MAX = 1000;
const PARAMS_MAX = 100;
const TEMPLATE_ID_MAX = 64;
const TOO_MANY_PARAMS = {
  reason: 'field_too_long',
  field: 'params',
  limit: PARAMS_MAX,
  unit: 'items',
} as const;

const param = z
  .union([plainText.max(PARAM_MAX), exactNumber])
  .nullable()
  .transform((value) => (value === null ? '' : String(value)));

// A number in one of the three formats, or `group:` and a group's id or name.
const recipient = plainText.meta({ format: 'recipient' });

/** The body of a send, and of its estimate (v2.3.0, Send). */
export const sendRequest = z
  .strictObject({
    to: z.union([recipient, z.array(recipient).meta({ minItems: 1 })]),
    text: plainText.min(1).optional(),
    template_id: plainText.min(1).max(TEMPLATE_ID_MAX).optional(),
    params: z
      .record(plainText, param)
      .refine((params) => Object.keys(params).length <= PARAMS_MAX, issue(TOO_MANY_PARAMS))
      .meta({ maxProperties: PARAMS_MAX })
      .optional(),
    from: senderName.optional(),
    send_at: instant.optional(),
    send_window: sendWindow.optional(),
    expires_at: instant.optional(),
    reference: reference.optional(),
    priority: z.boolean().optional(),
  })
  .meta({
    anyOf: [{ required: ['text'] }, { required: ['template_id'] }],
    dependentRequired: { params: ['template_id'] },
  });

export type SendRequest = z.output<typeof sendRequest>;

export const SEND_BODY_LIMIT = 1024 * 1024;
