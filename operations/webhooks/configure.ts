import { randomBytes } from 'node:crypto';
import {
  readWebhookSettings,
  revokeFormerSecret,
  setLegacyWebhook,
  setWebhook,
  type WebhookSettings,
} from '../../db/webhooks/webhooks.ts';
import { Refused, StaffRefused } from '../../domain/refusals.ts';
import { findAccount, findOpenAccountForUpdate } from '../accounts/accounts.ts';
import { type By, mayManage } from '../accounts/keys.ts';
import { recorded } from '../staff.ts';
import { decrypt, encrypt } from '../../db/installation.ts';
import { WEBHOOK_URL_MAX, withoutPath } from '../../domain/webhooks.ts';
import { faultOfAddress } from '../../domain/addresses.ts';
import type { Caller, OperationContext } from '../context.ts';
import { changesRefusal } from '../settings.ts';
import type { StaffServices } from '../staff.ts';

const SECRET_BYTES = 32;

function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** Ends the former signing secret immediately instead of a day after the rotation. @throws StaffRefused if none is in force */
export const endPreviousSecret = recorded(
  'webhooks end-previous-secret',
  async (sql, { account }: { account: string }) => {
    await findAccount(sql, account);
    if (!(await revokeFormerSecret(sql, account))) {
      throw new StaffRefused({ reason: 'previous_secret_missing', account });
    }
    return { data: undefined, account };
  },
);

interface Input {
  /** Null turns webhooks off; undefined leaves it as it is. */
  url?: string | null;
  rotate_secret?: boolean | undefined;
}

/**
 * Sets an account's webhook URL (v2.3.0, Account and senders; Events). The first call creates the signing secret, which stays, also while
 * webhooks are off, until rotated. A former secret signs a second header for another day (see pipeline/webhookAttempts.ts). The host is not
 * resolved, so that the response reveals nothing about our network.
 * @throws Refused with param `url`, and for too many changes in a day
 */
export async function configureWebhook({
  services: { sql, settings, secretsKey },
  caller,
  input: { url, rotate_secret: rotate },
}: OperationContext<Input>): Promise<{ secret: string }> {
  const fault = typeof url !== 'string' ? null : faultOfAddress(url, settings.WEBHOOK_ALLOW_PRIVATE);
  if (fault !== null) throw new Refused({ reason: fault }, 'url');
  const { accountId } = caller;
  const stored = await setWebhook(sql, caller, url, (current) =>
    current === null || rotate ? encrypt(secretsKey, accountId, newWebhookSecret()) : current,
  ).catch((error: unknown) => {
    throw changesRefusal(error) ?? error;
  });
  return { secret: decrypt(secretsKey, accountId, stored) };
}

interface Described extends Omit<WebhookSettings, 'secret' | 'legacySecret'> {
  /** The end of each secret; null: none was made yet. */
  hint: string | null;
  legacyHint: string | null;
}

const HINT_LENGTH = 4;

/** Where an account is notified; of the secrets only what tells them apart. Who only reads sees neither that nor paths, which may be secret. */
export async function describeWebhooks({
  services: { sql, secretsKey },
  caller: { accountId, readOnly },
}: {
  services: Pick<OperationContext<unknown>['services'], 'sql' | 'secretsKey'>;
  caller: Caller;
}): Promise<Described> {
  const { secret, legacySecret, ...settings } = await readWebhookSettings(sql, accountId);
  const endOf = (stored: Buffer) =>
    readOnly ? '' : decrypt(secretsKey, accountId, stored).slice(-HINT_LENGTH);
  const hintOf = (stored: Buffer | null) => (stored === null ? null : `whsec_…${endOf(stored)}`);
  const { url, legacyUrl } = settings;
  const shown = readOnly ? { url: withoutPath(url), legacyUrl: withoutPath(legacyUrl) } : {};
  return { ...settings, ...shown, hint: hintOf(secret), legacyHint: hintOf(legacySecret) };
}

interface LegacyInput {
  account: string;
  /** Null turns it off; undefined leaves it as it is. */
  url?: string | null;
  rotateSecret: boolean;
  allowPrivate: boolean;
}

/**
 * Sets an account's webhook URL in the earlier interface (v1.2.0, Events), for staff and people who manage keys. The first call creates the
 * signing secret; a rotation replaces it immediately, as that interface has only one signature.
 * @throws Refused with param `url`; StaffRefused
 */
export const configureLegacyWebhook = recorded(
  'webhooks legacy',
  async (
    sql,
    { account, url, rotateSecret, allowPrivate }: LegacyInput,
    { services, actor }: By & { services: StaffServices },
  ) => {
    if (!mayManage(actor, account)) throw new StaffRefused({ reason: 'account_missing', account });
    const limit = WEBHOOK_URL_MAX;
    if ((url ?? '').length > limit)
      throw new Refused({ reason: 'field_too_long', field: 'url', limit, unit: 'characters' }, 'url');
    const fault = typeof url !== 'string' ? null : faultOfAddress(url, allowPrivate);
    if (fault !== null) throw new Refused({ reason: fault }, 'url');
    await findOpenAccountForUpdate(sql, account);
    const key = await services.secretsKey();
    const { secret, changes, ...stored } = await setLegacyWebhook(sql, account, url, (stored) =>
      stored === null || rotateSecret ? encrypt(key, account, newWebhookSecret()) : stored,
    );
    const data = { legacyWebhookUrl: stored.url, legacyWebhookSecret: decrypt(key, account, secret) };
    return { data, account, details: { changes } };
  },
);
