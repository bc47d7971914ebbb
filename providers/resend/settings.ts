import { z } from 'zod';
import { providerUrl } from '../http.ts';

/** Tag with our id, by which an event is matched to its e-mail. */
export const ID_TAG = 'goniec_id';

const WINDOW_MAX = 100;

export const resendSettings = z.strictObject({
  url: providerUrl.default('https://api.resend.com'),
  /** Where the provider stores new sender domains, and sends their e-mails from. */
  region: z.enum(['eu-west-1', 'us-east-1', 'sa-east-1', 'ap-northeast-1']).default('eu-west-1'),
  window: z.int().min(1).max(WINDOW_MAX).default(5),
  /** From the end of writing; later an e-mail counts as unanswered. */
  responseSeconds: z.int().min(1).max(120).default(30),
});

export type ResendSettings = z.infer<typeof resendSettings>;

const SECRET_BYTES = { min: 16, max: 128 };

const signingSecret = z
  .string()
  .regex(/^(whsec_)?([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, {
    message: 'must be whsec_ and base64',
    abort: true,
  })
  .refine((secret) => {
    const { length } = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return length >= SECRET_BYTES.min && length <= SECRET_BYTES.max;
  }, `must stand for ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes`);

export const resendCredentials = z.strictObject({
  /** With full access: a key that may only send can neither add nor check sender domains. */
  apiKey: z.string().regex(/^[\x21-\x7e]{8,512}$/, 'must be 8 to 512 visible ASCII characters'),
  /** Signing secret of our webhook, from the provider's panel. Without it all webhooks are refused. */
  webhookSecret: signingSecret.optional(),
});

export type ResendCredentials = z.infer<typeof resendCredentials>;
