import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** A new secret that webhook calls are signed with. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}
