import { randomBytes } from 'node:crypto';
import { endSecretBefore, setLegacyWebhook, setWebhook } from '../../db/webhooks/webhooks.ts';
import { Refused, StaffRefused } from '../../domain/refusals.ts';
import { findAccount, holdOpenAccount } from '../accounts/accounts.ts';
import { recorded } from '../staff.ts';
import { decrypt, encrypt } from '../../db/installation.ts';
import { faultOfAddress } from '../../domain/addresses.ts';
import type { OperationContext } from '../context.ts';
import { changesRefusal } from '../settings.ts';

const SECRET_BYTES = 32;

/** A new secret that webhook calls are signed with. */
function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/**
 * Ends the secret that the last rotation replaced at once, instead of after a day.
 * @throws StaffRefused where there is none in force
 */
export const endPreviousSecret = recorded(
  'webhooks end-previous-secret',
  async (sql, { account }: { account: string }) => {
    await findAccount(sql, account);
    if (!(await endSecretBefore(sql, account))) {
      throw new StaffRefused({ reason: 'previous_secret_missing', account });
    }
    return { data: undefined, account };
  },
);

interface Input {
  /** Null turns webhooks off. */
  url: string | null;
  rotate_secret?: boolean | undefined;
}

/**
 * Sets the address of an account's webhook (v2.3.0, Account and senders; Events). The secret is made by the first call and
 * stays, also while webhooks are off, until a new one is asked for, which signs from then on; the one before signs a header of
 * its own for another day, see pipeline/webhookAttempts.ts. Nothing is looked up: the answer says nothing of our network.
 * @throws Refused with param `url`, and for too many changes in a day
 */
export async function configureWebhook({
  services: { sql, settings, secretsKey },
  caller,
  input: { url, rotate_secret: rotate },
}: OperationContext<Input>): Promise<{ secret: string }> {
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

interface LegacyInput {
  account: string;
  /** Null turns it off. */
  url: string | null;
  rotateSecret: boolean;
  /** As the setting of the service. */
  allowPrivate: boolean;
}

/**
 * Sets the address of an account's webhook of the earlier interface (v1.2.0, Events), for staff. Its secret is made by the first
 * call and stays until a new one is asked for, which signs from then on alone: the document knows one signature.
 * @throws Refused with param `url`; StaffRefused
 */
export const configureLegacyWebhook = recorded(
  'webhooks legacy',
  async (sql, { account, url, rotateSecret, allowPrivate }: LegacyInput, services) => {
    const fault = url === null ? null : faultOfAddress(url, allowPrivate);
    if (fault !== null) throw new Refused({ reason: fault }, 'url');
    await holdOpenAccount(sql, account);
    const key = await services.secretsKey();
    const { secret, changes } = await setLegacyWebhook(sql, account, url, (stored) =>
      stored === null || rotateSecret ? encrypt(key, account, newWebhookSecret()) : stored,
    );
    return { data: { url, secret: decrypt(key, account, secret) }, account, details: { changes } };
  },
);
