import { decrypt, encrypt } from '../../db/encryption.ts';
import { setLegacyWebhook } from '../../db/webhooks/webhookSecrets.ts';
import { Refused } from '../../domain/refusals.ts';
import { faultOfAddress } from '../../domain/webhookAddress.ts';
import { holdOpenAccount } from '../accounts/find.ts';
import { recorded } from '../staff.ts';
import { newWebhookSecret } from './newSecret.ts';

interface Input {
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
  async (sql, { account, url, rotateSecret, allowPrivate }: Input, services) => {
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
