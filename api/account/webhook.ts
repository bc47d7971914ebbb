import { z } from 'zod';
import { PREVIOUS_SIGNATURE_HEADER, SIGNATURE_HEADER } from '../../domain/webhooks.ts';
import { configureWebhook } from '../../operations/webhooks/configure.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented } from '../documented.ts';
import { omissible, plainText } from '../fields.ts';
import { accountSchema, CHANGES_TEXT } from './schema.ts';

const URL_MAX = 2048;

/** PUT /v1/account/webhook (v2.3.0, Account and senders; Events). */
export const changeWebhook = endpoint({
  method: 'PUT',
  path: '/v1/account/webhook',
  scope: 'manage',
  id: 'setWebhook',
  summary: "Sets the webhook's address and shows its secret.",
  description:
    'Sets the address that events are posted to, or turns webhooks off with null, and answers the secret they are signed with.',
  statusTexts: { 429: CHANGES_TEXT },
  refusals: [
    ...([
      'url_malformed',
      'url_scheme',
      'url_credentials',
      'url_fragment',
      'url_port',
      'url_private',
    ] as const),
    'changes_too_many',
  ],
  body: z.strictObject({
    url: documented(
      plainText.min(1).max(URL_MAX).meta({ format: 'uri' }).nullable(),
      'An HTTPS address that is publicly reachable; null turns webhooks off.',
      'https://example.com/sms',
    ),
    rotate_secret: documented(
      omissible(z.boolean()),
      `\`true\`: makes a new secret, which signs from then on. The one before signs \`${PREVIOUS_SIGNATURE_HEADER}\` for 24 hours, or until the next change.`,
      false,
    ),
  }),
  example: { url: 'https://example.com/sms' },
  responses: {
    200: z.strictObject({
      webhook_url: accountSchema.shape.webhook_url,
      webhook_secret: documented(
        z.string(),
        'The secret of the signature.',
        'whsec_Y2hhbmdlIG1lIHBsZWFzZSwgSSBhbSBhbiBleGFtcGxl',
      ),
      signature_header: documented(
        z.literal(SIGNATURE_HEADER),
        'The header that carries the signature.',
        SIGNATURE_HEADER,
      ),
    }),
  },
  async handle(call) {
    const { secret } = await configureWebhook({ ...call, input: call.body });
    return {
      status: 200,
      body: { webhook_url: call.body.url, webhook_secret: secret, signature_header: SIGNATURE_HEADER },
    };
  },
});
