import { type Requester, writeApiChange } from '../accounts/audit.ts';
import type { Database, Sql } from '../connection.ts';
import { withoutPath } from '../../domain/webhooks.ts';
import { withNamedLock } from '../namedLocks.ts';

/** For this long after a change, calls are signed with the secret before as well. */
export const SECRET_GRACE = '24 hours';

/**
 * Sets the webhook's address. The stored secret (encrypted) is handed to `choose`, which answers the one to store:
 * the same, or a new one. Concurrent calls for one account wait for each other, so all see one secret. The secret before a
 * new one is kept for {@link SECRET_GRACE}, or until the next change: there are never three.
 *
 * @param url null turns webhooks off; the secret stays
 * @returns the secret now stored
 */
export async function setWebhook(
  sql: Database,
  by: Requester,
  url: string | null,
  choose: (stored: Buffer | null) => Buffer,
): Promise<Buffer> {
  const { accountId } = by;
  return await withNamedLock(sql, `settings of ${accountId}`, async (tx) => {
    const [account] = await tx<{ webhookUrl: string | null; webhookSecret: Buffer | null }[]>`
      select webhook_url, webhook_secret from accounts where id = ${accountId} for no key update`;
    const stored = account?.webhookSecret ?? null;
    const secret = choose(stored);
    const isNew = stored === null || !secret.equals(stored);
    await tx`
      update accounts set webhook_url = ${url}, webhook_secret = ${secret}, updated_at = now() where id = ${accountId}`;
    if (isNew && stored !== null) {
      await tx`
        update accounts
           set webhook_secret_before = ${stored}, webhook_secret_changed_at = now()
         where id = ${accountId}`;
    }
    await writeApiChange(tx, by, {
      action: 'webhook',
      subject: null,
      changes: {
        url: addressChange(account?.webhookUrl ?? null, url),
        ...secretChange(stored, secret),
      },
    });
    return secret;
  });
}

/** What staff have changed of an account's webhook of the earlier interface. */
export interface LegacyChange {
  /** Encrypted; now stored. */
  secret: Buffer;
  /** By field, for the audit log. */
  changes: Record<string, { from: unknown; to: unknown }>;
}

/**
 * Sets the address of the webhook of the earlier interface, as {@link setWebhook} does; its secret before is forgotten. The
 * account has to be held.
 */
export async function setLegacyWebhook(
  tx: Sql,
  accountId: string,
  url: string | null,
  choose: (stored: Buffer | null) => Buffer,
): Promise<LegacyChange> {
  const [before] = await tx<{ legacyWebhookUrl: string | null; legacyWebhookSecret: Buffer | null }[]>`
    select legacy_webhook_url, legacy_webhook_secret from accounts where id = ${accountId} for no key update`;
  const stored = before?.legacyWebhookSecret ?? null;
  const secret = choose(stored);
  await tx`
    update accounts set legacy_webhook_url = ${url}, legacy_webhook_secret = ${secret}, updated_at = now()
     where id = ${accountId}`;
  return {
    secret,
    changes: {
      url: addressChange(before?.legacyWebhookUrl ?? null, url),
      ...secretChange(stored, secret),
    },
  };
}

/** Ends the secret before the present one at once; false when there was none in force. */
export async function endSecretBefore(sql: Sql, accountId: string): Promise<boolean> {
  const [account] = await sql<{ inForce: boolean }[]>`
    update accounts set webhook_secret_before = null
      from (select id, webhook_secret_before is not null
                       and webhook_secret_changed_at > now() - ${SECRET_GRACE}::interval as in_force
              from accounts where id = ${accountId} for no key update) before
     where accounts.id = before.id returning before.in_force`;
  return account?.inForce ?? false;
}

// Which secret it was says no log.
function secretChange(stored: Buffer | null, secret: Buffer) {
  const isNew = stored === null || !secret.equals(stored);
  return isNew ? { secret: { from: stored === null ? null : 'former', to: 'new' } } : {};
}

/** Where webhooks go, without what may be a secret. That it changed is seen all the same. */
function addressChange(from: string | null, to: string | null): { from: string | null; to: string | null } {
  const shown = { from: withoutPath(from), to: withoutPath(to) };
  return from !== to && shown.from === shown.to ? { ...shown, to: `${shown.to} (other path)` } : shown;
}

/** Forgets secrets whose time is over. */
export async function forgetOldSecrets(sql: Sql): Promise<void> {
  await sql`
    update accounts set webhook_secret_before = null
     where webhook_secret_before is not null and webhook_secret_changed_at <= now() - ${SECRET_GRACE}::interval`;
}
