import { decrypt, encrypt } from '../../db/encryption.ts';
import { setWebhook } from '../../db/webhooks/webhookSecrets.ts';
import { Refused } from '../../domain/refusals.ts';
import { faultOfAddress } from '../../domain/webhookAddress.ts';
import type { Asked } from '../asked.ts';
import { changesRefusal } from '../changesRefusal.ts';
import { newWebhookSecret } from './newSecret.ts';

interface Input {
  /** Null turns webhooks off. */
  url: string | null;
  rotate_secret?: boolean | undefined;
}

/**
 * Sets the address of an account's webhook (v2.3.0, Account and senders; Events). The secret is made by the first call and
 * stays, also while webhooks are off, until a new one is asked for, which signs from then on; the one before signs a header of
 * its own for another day, see pipeline/signatures.ts. Nothing is looked up: the answer says nothing of our network.
 * @throws Refused with param `url`, and for too many changes in a day
 */
export async function configureWebhook({
  services: { sql, settings, secretsKey },
  caller,
  input: { url, rotate_secret: rotate },
}: Asked<Input>): Promise<{ secret: string }> {
  const fault = url === null ? null : faultOfAddress(url, settings.WEBHOOK_ALLOW_PRIVATE);
  if (fault !== null) throw new Refused({ reason: fault }, 'url');
  const { accountId } = caller;
  const stored = await setWebhook(sql, caller, url, (current) =>
    current === null || rotate ? encrypt(secretsKey, accountId, newWebhookSecret()) : current,
  ).catch((error: unknown) => {
    throw changesRefusal(error) ?? error;
  });
  return { secret: decrypt(secretsKey, accountId, stored) };
}
