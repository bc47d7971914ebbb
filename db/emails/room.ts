import type { Quotas } from '../../domain/quotas.ts';
import { QuotaReachedError } from '../accounts/quotas.ts';
import type { Database, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { mayBeAccepted } from '../money/billing.ts';
import { transaction } from '../transaction.ts';
import { inTurn } from '../turns.ts';

const DAY_MS = 24 * 3_600_000;

/** How much of its account's quotas an e-mail may find taken. */
export type EmailLimits = Pick<Quotas, 'unpaid_messages' | 'email_file_bytes'>;

/** What of an e-mail its account's quotas bound. */
interface Bounded {
  accountId: string;
  costGrosze: number;
  recipients: readonly unknown[];
  attachments: readonly { bytes: number }[];
  createdAt: Date;
}

/**
 * Writes an e-mail in one transaction, where there is room for it: with files, or to nobody, in its turn among those of its account, so
 * that of many at once none gets past. Anything else waits for nobody.
 * @throws QuotaReachedError
 */
export async function withRoom(
  sql: Database,
  email: Bounded,
  limits: EmailLimits,
  write: (tx: Sql) => Promise<void>,
): Promise<void> {
  const fileBytes = fileBytesOf(email);
  const isUnpaid = email.costGrosze === 0;
  if (fileBytes === 0 && !isUnpaid) return await transaction(sql, write);
  await inTurn(sql, `bounded e-mails of ${email.accountId}`, async (tx) => {
    if (isUnpaid) await refuseUnpaid(tx, email, limits.unpaid_messages);
    if (fileBytes > 0) await refuseFiles(tx, email.accountId, fileBytes, limits.email_file_bytes);
    await write(tx);
  });
}

/** Octets of an e-mail's files. */
export function fileBytesOf({ attachments }: Pick<Bounded, 'attachments'>): number {
  return attachments.reduce((all, { bytes }) => all + bytes, 0);
}

/** Octets of the files of an account's e-mails that wait to be handed over, or are being accepted. */
export async function countWaitingFileBytes(sql: Sql, accountId: string): Promise<number> {
  const [counted] = await sql<{ bytes: number }[]>`
    select coalesce(sum(file_bytes), 0)::bigint as bytes from emails e
     where account_id = ${accountId} and file_bytes > 0 and status in ('draft', 'queued')
       and (status = 'queued' or ${mayBeAccepted(sql, sql`e.created_at`)})`;
  return counted!.bytes;
}

async function refuseFiles(tx: Sql, accountId: string, more: number, limit: number): Promise<void> {
  if ((await countWaitingFileBytes(tx, accountId)) + more > limit)
    throw new QuotaReachedError('email_file_bytes', limit);
}

/** Addresses of e-mails of the last 24 hours that went to nobody are rows that cost nothing; counted no further than their bound. */
async function refuseUnpaid(
  tx: Sql,
  { accountId, createdAt, recipients }: Bounded,
  limit: number,
): Promise<void> {
  const since = idFloor('em', createdAt.getTime() - DAY_MS);
  const [counted] = await tx<{ unpaid: number }[]>`
    select count(*)::int as unpaid from (
      (select from emails e join email_recipients r on r.email_id = e.id
        where e.account_id = ${accountId} and e.status = 'suppressed' and e.id > ${since} and e.status <> 'draft' limit ${limit})
      union all
      (select from emails e join email_recipients r on r.email_id = e.id
        where e.account_id = ${accountId} and e.status = 'draft' and e.cost_grosze = 0 and ${mayBeAccepted(tx, tx`e.created_at`)} limit ${limit})) counted`;
  if (counted!.unpaid + recipients.length > limit) throw new QuotaReachedError('unpaid_messages', limit);
}
