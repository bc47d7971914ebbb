import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { decrypt, encrypt } from '../../db/encryption.ts';
import { setWebhook } from '../../db/webhooks/webhookSecrets.ts';
import { endpoint } from '../http/endpoint.ts';
import { omissible, plainText } from '../fields.ts';
import { checkWebhookUrl } from './webhookUrl.ts';

const URL_MAX = 2048;
const SECRET_BYTES = 32;
const SIGNATURE_HEADER = 'X-Service-Signature' as const;

/**
 * PUT /v1/account/webhook (v2.3.0, Account and senders; Events). The secret is made by the first call and stays,
 * also while webhooks are off, until `rotate_secret` asks for a new one, which signs from
 * then on; the one before signs a header of its own for another day, see activities/signatures.ts.
 */
export const changeWebhook = endpoint({
  method: 'PUT',
  path: '/v1/account/webhook',
  scope: 'manage',
  summary: "Sets the webhook's address and shows its secret.",
  body: z.strictObject({
    url: plainText.min(1).max(URL_MAX).meta({ format: 'uri' }).nullable(),
    rotate_secret: omissible(z.boolean()),
  }),
  responses: {
    200: z.strictObject({
      webhook_url: z.string().nullable(),
      webhook_secret: z.string(),
      signature_header: z.literal(SIGNATURE_HEADER),
    }),
  },
  async handle({ services: { sql, settings, secretsKey }, caller, body }) {
    const { accountId } = caller;
    if (body.url !== null) checkWebhookUrl(body.url, settings.WEBHOOK_ALLOW_PRIVATE);
    const stored = await setWebhook(sql, caller, body.url, (current) =>
      current === null || body.rotate_secret ? encrypt(secretsKey, accountId, newSecret()) : current,
    );
    return {
      status: 200,
      body: {
        webhook_url: body.url,
        webhook_secret: decrypt(secretsKey, accountId, stored),
        signature_header: SIGNATURE_HEADER,
      },
    };
  },
});

function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}
