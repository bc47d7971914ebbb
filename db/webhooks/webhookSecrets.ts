import { type Requester, writeApiChange } from '../accounts/audit.ts';
import type { Database, Sql } from '../connection.ts';
import { transaction } from '../transaction.ts';

/** For this long after a change, receivers may know either secret. */
export const SECRET_GRACE = '24 hours';

/**
 * Sets the webhook's address. The stored secret (encrypted) is handed to `choose`, which answers the one to store:
 * the same, or a new one. Concurrent calls for one account wait for each other, so all see one secret. The secret before a
 * new one is kept for {@link SECRET_GRACE}. When the secret is changed again before any call was taken with the new one,
 * nobody is known to have that: the one before both stays, until its own time is over.
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
  return await transaction(sql, async (tx) => {
    const [account] = await tx<
      { webhook_url: string | null; webhook_secret: Buffer | null; waiting: boolean }[]
    >`
      select webhook_url, webhook_secret,
             webhook_secret_before is not null and not webhook_secret_in_use
               and webhook_secret_changed_at > now() - ${SECRET_GRACE}::interval as waiting
        from accounts where id = ${accountId} for no key update`;
    const stored = account?.webhook_secret ?? null;
    const secret = choose(stored);
    await tx`
      update accounts set webhook_url = ${url}, webhook_secret = ${secret}, updated_at = now() where id = ${accountId}`;
    if (stored !== null && !secret.equals(stored) && account?.waiting !== true) {
      await tx`
        update accounts
           set webhook_secret_before = ${stored}, webhook_secret_changed_at = now(), webhook_secret_in_use = false
         where id = ${accountId}`;
    }
    const isNew = stored === null || !secret.equals(stored);
    await writeApiChange(tx, by, {
      action: 'webhook',
      subject: null,
      changes: {
        url: addressChange(account?.webhook_url ?? null, url),
        // Which secret it was says no log.
        ...(isNew ? { secret: { from: stored === null ? null : 'former', to: 'new' } } : {}),
      },
    });
    return secret;
  });
}

/** Addresses without their query, which may hold what nobody else is to know; that it changed is seen all the same. */
function addressChange(from: string | null, to: string | null): { from: string | null; to: string | null } {
  const shown = { from: withoutQuery(from), to: withoutQuery(to) };
  return from !== to && shown.from === shown.to ? { ...shown, to: `${shown.to} (other query)` } : shown;
}

function withoutQuery(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  const url = new URL(address);
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;
}

/** Remembers which of two secrets the receiver took last: the next call is signed with that one first. */
export async function noteSecretInUse(sql: Sql, accountId: string, isNew: boolean): Promise<void> {
  await sql`
    update accounts set webhook_secret_in_use = ${isNew}
     where id = ${accountId} and webhook_secret_in_use <> ${isNew}`;
}

/** Forgets secrets whose time is over. */
export async function forgetOldSecrets(sql: Sql): Promise<void> {
  await sql`
    update accounts set webhook_secret_before = null, webhook_secret_in_use = true
     where webhook_secret_before is not null and webhook_secret_changed_at <= now() - ${SECRET_GRACE}::interval`;
}
