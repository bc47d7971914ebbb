import { giveUpEmail } from '../../db/emails/handOver.ts';
import { readEmailHead } from '../../db/emails/timeline.ts';
import { hasEndedBefore } from '../../db/maintenance/findings.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';

/**
 * Ends an e-mail as failed and refunds it that no provider took, or of which nobody knows whether one did: its recipients may have it.
 * Its workflow finds it so.
 * @throws StaffRefused email_missing, email_not_waiting
 */
export const giveUpEmailForStaff = recorded('emails give-up', async (tx, { id }: { id: string }) => {
  const before = await readEmailHead(tx, id);
  if (before === null) throw new StaffRefused({ reason: 'email_missing', email: id });
  const { accountId, submission } = before;
  const ended = await hasEndedBefore(tx, id);
  const status = before.status === 'queued' ? await giveUpEmail(tx, id, ended) : null;
  if (status !== 'failed')
    throw new StaffRefused({ reason: 'email_not_waiting', email: id, status: before.status, submission });
  return { data: { status }, account: accountId, subject: id, details: { submission } };
});
