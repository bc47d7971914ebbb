import { z } from 'zod';
import { instant, plainText, reference, sendWindow, senderName } from '../fields.ts';

const PARAM_MAX = 1000;
const PARAMS_MAX = 100;
const TEMPLATE_ID_MAX = 64;

const param = z
  .union([plainText.max(PARAM_MAX), z.number()])
  .nullable()
  .transform((value) => (value === null ? '' : String(value)));

/** The body of a send, and of its estimate (v2.3.0, Send). */
export const sendRequest = z.strictObject({
  to: z.union([z.string(), z.array(z.string())]),
  text: plainText.min(1).optional(),
  template_id: plainText.min(1).max(TEMPLATE_ID_MAX).optional(),
  params: z
    .record(plainText, param)
    .refine((params) => Object.keys(params).length <= PARAMS_MAX)
    .optional(),
  from: senderName.optional(),
  send_at: instant.optional(),
  send_window: sendWindow.optional(),
  expires_at: instant.optional(),
  reference: reference.optional(),
  priority: z.boolean().optional(),
});

export type SendRequest = z.output<typeof sendRequest>;

export const SEND_BODY_LIMIT = 1024 * 1024;
